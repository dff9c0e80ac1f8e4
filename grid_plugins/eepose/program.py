"""Poses, geometric Jacobians and their derivatives over symbolic scalars.

The derivatives are written out: column by column with cross products in the world's axes, and
the angles' second derivatives as two products each (`grid_core.program.angles`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.program.angles import RollPitchYaw
from grid_core.program.kinematics import WorldTree
from grid_core.program.tree import KinematicTree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grid_core.algorithm import Context
    from grid_core.model.types import Frame
    from grid_core.program.angles import AngleRates
    from grid_core.program.kinematics import Column, Pose
    from grid_core.program.scalar import Value


def _world(ctx: Context[Any]) -> WorldTree:
    tree = KinematicTree.of(ctx.model, regroup=False)
    return WorldTree(tree, ctx["q"], world_base=ctx.options.output_convention == "mujoco")


def _targets(ctx: Context[Any]) -> list[Frame]:
    return [ctx.model.frames[target] for target in ctx.options.targets]


def end_effector_pose(ctx: Context[Any]) -> Mapping[str, Any]:
    """[x y z roll pitch yaw] of each target."""
    world = _world(ctx)
    return {"pose": [x for frame in _targets(ctx) for x in _six(world.frame(frame))]}


def _six(pose: Pose) -> list[Value]:
    return [*pose.p, *RollPitchYaw(pose.rows).angles()]


def end_effector_pose_gradient(ctx: Context[Any]) -> Mapping[str, Any]:
    """First derivatives of the pose along the tangent coordinates."""
    world, nv = _world(ctx), ctx.model.nv
    blocks = []
    for frame in _targets(ctx):
        pose = world.frame(frame)
        columns = world.columns(world.chain(frame.body), pose.p)
        blocks.append(_pose_gradient(columns, pose, nv))
    return {"J": np.concatenate(blocks) if blocks else np.empty((0, nv), dtype=object)}


def _pose_gradient(columns: Sequence[Column], pose: Pose, nv: int) -> Any:
    angles = RollPitchYaw(pose.rows)
    J = np.full((6, nv), 0.0, dtype=object)
    for column in columns:
        rates = angles.rates(column.angular)
        entries = [*column.linear, rates.roll, rates.pitch, rates.yaw]
        J[:, column.coordinate] += [column.factor * x for x in entries]
    return J


def end_effector_pose_hessian(ctx: Context[Any]) -> Mapping[str, Any]:
    """Second derivatives of the pose along the tangent coordinates."""
    world, nv = _world(ctx), ctx.model.nv
    blocks = []
    for frame in _targets(ctx):
        pose = world.frame(frame)
        columns = world.columns(world.chain(frame.body), pose.p)
        blocks.append(_pose_hessian(columns, pose, nv))
    return {"H": np.concatenate(blocks) if blocks else np.empty((0, nv, nv), dtype=object)}


def _pose_hessian(columns: Sequence[Column], pose: Pose, nv: int) -> Any:
    angles = RollPitchYaw(pose.rows)
    moved = [(column, angles.rates(column.angular)) for column in columns]
    H = np.full((6, nv, nv), 0.0, dtype=object)
    for k, first in enumerate(moved):
        for later in moved[k:]:
            entries = _second(first, later)
            if first[0].rank == later[0].rank and first is not later:
                # Inside a ball or a free base: along the exponential both orders count alike.
                entries = [
                    0.5 * (a + b) for a, b in zip(entries, _second(later, first), strict=True)
                ]
            one, other = first[0], later[0]
            values = [one.factor * other.factor * x for x in entries]
            H[:, one.coordinate, other.coordinate] += values
            if first is not later:
                H[:, other.coordinate, one.coordinate] += values
    return H


def _second(first: tuple[Column, AngleRates], later: tuple[Column, AngleRates]) -> list[Value]:
    """Change of the later joint's column as the first one, nearer to the root, moves."""
    return [*first[0].angular.cross(later[0].linear), *first[1].then(later[1])]
