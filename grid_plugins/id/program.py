"""Inverse dynamics and the mass matrix over symbolic scalars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.model.types import JointKind
from grid_core.program.composite import AXES, composites, momenta, to_parent
from grid_core.program.linalg import Vec3
from grid_core.program.motion import (
    Posture,
    columns,
    fold_forces,
    joint_dynamics,
    postures,
    project,
)
from grid_core.program.newton_euler import Wrench, inertial_forces, subtract_external
from grid_core.program.scalar import sign
from grid_core.program.sensitivity import force_sensitivity
from grid_core.program.tree import KinematicTree, Node

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grid_core.algorithm import Context
    from grid_core.program.scalar import Value


def inverse_dynamics(ctx: Context[Any]) -> Mapping[str, Any]:
    """τ = M q̈ + h (recursive Newton-Euler)."""
    qdd = ctx.get("qdd")
    return {"tau": _rnea(ctx, ctx["qd"], qdd)}


def nonlinear_effects(ctx: Context[Any]) -> Mapping[str, Any]:
    """h: what inverse dynamics gives without acceleration."""
    return {"h": _rnea(ctx, ctx["qd"], ctx.rest)}


def generalized_gravity(ctx: Context[Any]) -> Mapping[str, Any]:
    """g: what inverse dynamics gives at rest."""
    return {"g": _rnea(ctx, None, None)}


def _rnea(ctx: Context[Any], qd: Any, qdd: Any) -> list[Value]:
    tree = KinematicTree.of(ctx.model, regroup=True)
    zeros = [0.0] * ctx.model.nv
    moving = qd is not None
    pose = postures(tree, ctx["q"])
    velocity = zeros if qd is None else list(qd)
    acceleration = zeros if qdd is None else list(qdd)
    f_ext = ctx.get("f_ext") if "f_ext" in ctx.inputs else None
    forces = inertial_forces(tree, pose, velocity, acceleration, ctx["gravity"])
    if f_ext is not None:
        subtract_external(tree, forces, f_ext)
    joint_forces = _gather(tree, pose, forces)
    if moving and ctx.options.use_joint_dynamics:
        for own, drag in zip(joint_forces, joint_dynamics(tree, velocity), strict=True):
            own[:] = [a + b for a, b in zip(own, drag, strict=True)]
    return fold_forces(tree, joint_forces)


def _gather(
    tree: KinematicTree, pose: Sequence[Posture], forces: list[Wrench]
) -> list[list[Value]]:
    """Leaves to root: pass each node's force on and keep its joint's share."""
    # What arrives from the children is added where their parent stands: limbs do not meet.
    arriving: list[list[Wrench]] = [[] for _ in tree.nodes]
    result: list[list[Value]] = [[] for _ in tree.nodes]
    for node in tree.inward():
        force, moment = forces[node.index]
        for more_force, more_moment in arriving[node.index]:
            force, moment = force + more_force, moment + more_moment
        result[node.index] = project(node, force, moment)
        if node.parent >= 0:
            arriving[node.parent].append(to_parent(pose[node.index], (force, moment)))
    return result


def crba(ctx: Context[Any]) -> Mapping[str, Any]:
    """M by composite rigid bodies (Featherstone 2008, Table 6.2), folded over mimic joints."""
    tree = KinematicTree.of(ctx.model, regroup=True)
    pose = postures(tree, ctx["q"])
    bodies = composites(tree, pose)
    M = np.full((ctx.model.nv, ctx.model.nv), 0.0, dtype=object)
    for node in tree.outward():
        for k, wrench in enumerate(momenta(node, bodies[node.index])):
            _fill(tree, pose, M, (node, k), wrench)
    return {"M": M}


def inverse_dynamics_gradient(ctx: Context[Any]) -> Mapping[str, Any]:
    """[∂τ/∂q | ∂τ/∂q̇] by tangent coordinates (`grid_core.program.sensitivity`)."""
    tree = KinematicTree.of(ctx.model, regroup=True)
    qdd = ctx.get("qdd")
    rate = list(ctx["qd"]), [0.0] * ctx.model.nv if qdd is None else list(qdd)
    pose = postures(tree, ctx["q"])
    world = ctx.options.output_convention == "mujoco"
    dq, dqd = force_sensitivity(
        tree, pose, rate, ctx["gravity"], ctx.get("f_ext"), world_base=world
    )
    if ctx.options.use_joint_dynamics:
        if world:
            _turn_friction(tree, rate[0], dq)
        for node in tree.outward():
            for column, multiplier in columns(node):
                damping = multiplier * multiplier * node.joint.damping
                dqd[column, column] = dqd[column, column] + damping
    return {"dtau": np.concatenate([dq, dqd], axis=1)}


def _turn_friction(tree: KinematicTree, qd: Sequence[Value], dq: Any) -> None:
    """Add the turn of a floating base's friction, which its own axes decide, in the world's.

    Damping along all axes alike is the same in both.
    """
    root = tree.nodes[0] if tree.nodes else None
    if root is None or root.joint.kind is not JointKind.FLOATING:
        return
    force = Vec3(*(root.joint.friction * sign(rate) for rate in qd[:3]))
    for k, axis in enumerate(AXES):
        dq[:3, 3 + k] = dq[:3, 3 + k] + np.array([*axis.cross(force)], dtype=object)


def _fill(
    tree: KinematicTree,
    pose: Sequence[Posture],
    M: Any,
    coordinate: tuple[Node, int],
    wrench: tuple[Vec3, Vec3],
) -> None:
    """Carry one column up to the root, filling M's entries on the way.

    Every unordered pair of joint coordinates is met once; G folds it onto M.
    """
    node, k = coordinate
    column, multiplier = columns(node)[k]
    at: Node | None = node
    while at is not None:
        for i, own in enumerate(project(at, *wrench)):
            row, factor = columns(at)[i]
            if at is node and i > k:
                continue  # the mirror of a pair already met
            value = (multiplier * factor) * own
            M[row, column] = M[row, column] + value
            if at is not node or i != k:
                M[column, row] = M[column, row] + value
        wrench = to_parent(pose[at.index], wrench)
        at = tree.nodes[at.parent] if at.parent >= 0 else None
