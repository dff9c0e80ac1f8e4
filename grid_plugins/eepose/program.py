"""Poses, geometric Jacobians and their derivatives over symbolic scalars.

The derivatives are written out: column by column with cross products in the world's axes, and
the angles' second derivatives as two products each (`grid_core.program.angles`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.program.angles import RollPitchYaw
from grid_core.program.kinematics import Pose, WorldTree
from grid_core.program.linalg import ZERO3, Vec3
from grid_core.program.quaternion import frame_pose
from grid_core.program.regions import visit
from grid_core.program.scalar import absolute, maximum
from grid_core.program.tree import KinematicTree
from grid_core.targets import chosen_frame, first_leaf

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from grid_core.algorithm import Context
    from grid_core.model.types import Frame
    from grid_core.program.angles import AngleRates
    from grid_core.program.kinematics import Column
    from grid_core.program.scalar import Value


def _world(ctx: Context[Any]) -> WorldTree:
    tree = KinematicTree.of(ctx.model, regroup=False)
    return WorldTree(tree, ctx["q"], world_base=ctx.options.output_convention == "mujoco")


def _targets(ctx: Context[Any]) -> list[Frame]:
    return [ctx.model.frames[target] for target in ctx.options.targets]


def _each(ctx: Context[Any], world: WorldTree) -> Iterator[Frame]:
    """Yield each target; what is traced until the next one belongs to the limb it is on."""
    return visit((frame, world.region(frame.body)) for frame in _targets(ctx))


def end_effector_pose(ctx: Context[Any]) -> Mapping[str, Any]:
    """[x y z roll pitch yaw] of each target."""
    world = _world(ctx)
    return {"pose": [x for frame in _each(ctx, world) for x in _six(world.frame(frame))]}


def _six(pose: Pose) -> list[Value]:
    return [*pose.p, *RollPitchYaw(pose.rows).angles()]


def end_effector_pose_gradient(ctx: Context[Any]) -> Mapping[str, Any]:
    """First derivatives of the pose along the tangent coordinates."""
    world, nv = _world(ctx), ctx.model.nv
    blocks = []
    for frame in _each(ctx, world):
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
    for frame in _each(ctx, world):
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


def end_effector_pose_quaternion(ctx: Context[Any]) -> Mapping[str, Any]:
    """[x y z qx qy qz qw] of each target, qw ≥ 0."""
    tree = KinematicTree.of(ctx.model, regroup=False)
    poses = [frame_pose(tree, ctx["q"], frame) for frame in _targets(ctx)]
    turns = [pose.turn.upright() for pose in poses]
    return {
        "pose": [x for p, turn in zip(poses, turns, strict=True) for x in (*p.p, *turn.v, turn.w)]
    }


def fk_batched(ctx: Context[Any]) -> Mapping[str, Any]:
    """[tx ty tz qw qx qy qz] of the first leaf joint."""
    tree = KinematicTree.of(ctx.model, regroup=False)
    pose = frame_pose(tree, ctx["q"], first_leaf(ctx.model))
    turn = pose.turn.upright()
    return {"pose": [*pose.p, turn.w, *turn.v]}


def end_effector_pose_runtime(ctx: Context[Any]) -> Mapping[str, Any]:
    """[x y z roll pitch yaw] of targets that are data."""
    world = _world(ctx)
    chosen = _Chosen.all(world, ctx)
    return {"pose": _stack([_six(target.pose) for target in chosen], (6,))}


def end_effector_pose_gradient_runtime(ctx: Context[Any]) -> Mapping[str, Any]:
    """First derivatives of the pose of targets that are data."""
    world, nv = _world(ctx), ctx.model.nv
    blocks = []
    for target in _Chosen.all(world, ctx):
        columns = world.columns(world.tree.nodes, target.pose.p, target.moving())
        blocks.append(_pose_gradient(columns, target.pose, nv))
    return {"J": _stack(blocks, (6, nv))}


class _Chosen:
    """A target that is data: the ID of its body and its placement in it.

    The pose is the sum of all bodies' poses, each times 1 or 0: the same arithmetic for every
    target, and little of it beside what finds the poses.
    """

    def __init__(self, world: WorldTree, ctx: Context[Any], e: int) -> None:
        self.world = world
        self.weights = [_is(ctx["body"][e], body) for body in range(ctx.model.nb)]
        self._placement = ctx["placement"][e]
        root = _is(ctx["body"][e], -1)
        self._rows = [Vec3(*(root if i == j else 0.0 for j in range(3))) for i in range(3)]
        self._p = ZERO3

    @classmethod
    def all(cls, world: WorldTree, ctx: Context[Any]) -> list[_Chosen]:
        """Return every target; each body's pose is taken into all as it is found."""
        chosen = [cls(world, ctx, e) for e in range(len(ctx.options.targets))]
        for body in range(ctx.model.nb if chosen else 0):
            pose = world.attached(body, np.eye(4))
            for target in chosen:
                target.take_in(target.weights[body], pose)
        return chosen

    def take_in(self, weight: Value, pose: Pose) -> None:
        """Add a body's pose, weighed."""
        self._rows = [row + own * weight for row, own in zip(self._rows, pose.rows, strict=True)]
        self._p = self._p + pose.p * weight

    @property
    def pose(self) -> Pose:
        """Where the target is, once every body is taken in."""
        rows = [Vec3(*row[:3]) for row in self._placement]
        body = Pose((self._rows[0], self._rows[1], self._rows[2]), self._p)
        return body.compose(rows, Vec3(*self._placement[:, 3]))

    def moving(self) -> list[Value]:
        """For each node, 1 where the target hangs from it, else 0."""
        tree = self.world.tree
        result: list[Value] = [0.0] * len(tree.nodes)
        for weight, at in zip(self.weights, tree.attachments, strict=True):
            if at.node >= 0:
                result[at.node] = result[at.node] + weight
        for node in reversed(tree.nodes):
            if node.parent >= 0:
                result[node.parent] = result[node.parent] + result[node.index]
        return result


def _is(number: Value, known: int) -> Value:
    """1 where a whole number is the known one, else 0."""
    return maximum(0.0, 1.0 - absolute(number - float(known)))


def _stack(blocks: Sequence[Any], dims: tuple[int, ...]) -> Any:
    return np.array(blocks, dtype=object) if blocks else np.empty((0, *dims), dtype=object)


def frame_placement(ctx: Context[Any]) -> Mapping[str, Any]:
    """Homogeneous matrix of a frame."""
    return {"T": _world(ctx).frame(chosen_frame(ctx.model, ctx.options)).matrix()}


def forward_kinematics(ctx: Context[Any]) -> Mapping[str, Any]:
    """Homogeneous matrix of every body's joint frame."""
    world = _world(ctx)
    poses = [world.attached(body, np.eye(4)) for body in range(ctx.model.nb)]
    return {"T": _stack([pose.matrix() for pose in poses], (4, 4))}


def frame_jacobian(ctx: Context[Any]) -> Mapping[str, Any]:
    """Geometric Jacobian of a frame, linear rows first."""
    world, frame = _world(ctx), chosen_frame(ctx.model, ctx.options)
    pose = world.frame(frame)
    kind = ctx.options.reference_frame
    columns = world.columns(world.chain(frame.body), ZERO3 if kind == "world" else pose.p)
    entries = [(column.linear, column.angular) for column in columns]
    return {"J": _rows(columns, entries, pose if kind == "local" else None, ctx.model.nv)}


def frame_jacobian_dot(ctx: Context[Any]) -> Mapping[str, Any]:
    """Time derivative of `frame_jacobian` along q̇."""
    world, frame, qd = _world(ctx), chosen_frame(ctx.model, ctx.options), ctx["qd"]
    pose = world.frame(frame)
    kind = ctx.options.reference_frame
    columns = world.columns(world.chain(frame.body), ZERO3 if kind == "world" else pose.p)
    rates = [column.factor * qd[column.coordinate] for column in columns]
    turning = _sum([(c.angular, r) for c, r in zip(columns, rates, strict=True)])
    entries = []
    for column in columns:
        before = [(c, r) for c, r in zip(columns, rates, strict=True) if c.rank <= column.rank]
        after = [(c, r) for c, r in zip(columns, rates, strict=True) if c.rank > column.rank]
        after.reverse()  # so that each sum goes on from the next column's
        spin = _sum([(c.angular, r) for c, r in before])
        angular, linear = spin.cross(column.angular), spin.cross(column.linear)
        if kind == "world":  # the point of the body that is at the world's origin now
            linear = linear + _sum([(c.linear, r) for c, r in before]).cross(column.angular)
        else:
            linear = linear + column.angular.cross(_sum([(c.linear, r) for c, r in after]))
        if kind == "local":  # its axes turn as well
            angular = angular - turning.cross(column.angular)
            linear = linear - turning.cross(column.linear)
        entries.append((linear, angular))
    return {"dJ": _rows(columns, entries, pose if kind == "local" else None, ctx.model.nv)}


def _rows(
    columns: Sequence[Column], entries: Sequence[tuple[Vec3, Vec3]], local: Pose | None, nv: int
) -> Any:
    """Fold columns [linear; angular] into the coordinates, in a frame's axes or the world's."""
    J = np.full((6, nv), 0.0, dtype=object)
    for column, (linear, angular) in zip(columns, entries, strict=True):
        if local is not None:
            linear, angular = local.turn_back(linear), local.turn_back(angular)  # noqa: PLW2901
        J[:, column.coordinate] += [column.factor * x for x in (*linear, *angular)]
    return J


def _sum(terms: Sequence[tuple[Vec3, Value]]) -> Vec3:
    total = ZERO3
    for vector, factor in terms:
        total = total + vector * factor
    return total
