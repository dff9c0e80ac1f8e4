"""Inverse dynamics and the mass matrix over symbolic scalars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.model.types import JointKind
from grid_core.program.linalg import Symmetric, Vec3, outer_symmetric
from grid_core.program.motion import (
    Posture,
    columns,
    fold_forces,
    joint_dynamics,
    postures,
    project,
)
from grid_core.program.newton_euler import Wrench, inertial_forces, subtract_external
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
            R, p = pose[node.index].R, pose[node.index].p
            carried = R.apply(force)
            arriving[node.parent].append((carried, R.apply(moment) + p.cross(carried)))
    return result


def crba(ctx: Context[Any]) -> Mapping[str, Any]:
    """M by composite rigid bodies (Featherstone 2008, Table 6.2), folded over mimic joints."""
    tree = KinematicTree.of(ctx.model, regroup=True)
    pose = postures(tree, ctx["q"])
    composite = _composite(tree, pose)
    M = np.full((ctx.model.nv, ctx.model.nv), 0.0, dtype=object)
    for node in tree.outward():
        for k, wrench in enumerate(_momenta(node, *composite[node.index])):
            _fill(tree, pose, M, (node, k), wrench)
    return {"M": M}


def _composite(tree: KinematicTree, pose: Sequence[Posture]) -> list[tuple[Value, Vec3, Symmetric]]:
    """m, h and Σ of each node with all that hangs from it, about the node's origin."""
    arriving: list[list[tuple[Value, Vec3, Symmetric]]] = [[] for _ in tree.nodes]
    total: list[tuple[Value, Vec3, Symmetric]] = [(n.m, n.h, n.second) for n in tree.nodes]
    for node in tree.inward():
        m, h, second = total[node.index]
        for more_m, more_h, more_second in arriving[node.index]:
            m, h, second = m + more_m, h + more_h, second + more_second
        total[node.index] = (m, h, second)
        if node.parent >= 0:
            R, p = pose[node.index].R, pose[node.index].p
            turned = R.apply(h)
            # Σ + p hᵀ + h pᵀ + m p pᵀ, with the last term halved into both middle ones.
            moved = R.sandwich(second) + outer_symmetric(p, turned + p * (0.5 * m))
            arriving[node.parent].append((m, turned + p * m, moved))
    return total


def _momenta(node: Node, m: Value, h: Vec3, s: Symmetric) -> list[Wrench]:
    """Columns of I S as (force, moment): what a unit rate of each coordinate carries."""
    x, y, z = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)
    inertia = [
        Vec3(s.yy + s.zz, -s.xy, -s.xz),
        Vec3(-s.xy, s.xx + s.zz, -s.yz),
        Vec3(-s.xz, -s.yz, s.xx + s.yy),
    ]
    turning = [(e.cross(h), column) for e, column in zip((x, y, z), inertia, strict=True)]
    sliding = [(e * m, h.cross(e)) for e in (x, y, z)]
    kind = node.joint.kind
    if kind is JointKind.SPHERICAL:
        return turning
    if kind is JointKind.FLOATING:
        return sliding + turning
    if kind is JointKind.PRISMATIC:
        return [(node.axis * m, h.cross(node.axis))]
    force, moment = turning[2]
    pitch = node.joint.pitch
    return [(force + z * (m * pitch), moment + h.cross(z) * pitch)]


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
    (node, k), (force, moment) = coordinate, wrench
    column, multiplier = columns(node)[k]
    at: Node | None = node
    while at is not None:
        for i, own in enumerate(project(at, force, moment)):
            row, factor = columns(at)[i]
            if at is node and i > k:
                continue  # the mirror of a pair already met
            value = (multiplier * factor) * own
            M[row, column] = M[row, column] + value
            if at is not node or i != k:
                M[column, row] = M[column, row] + value
        R, p = pose[at.index].R, pose[at.index].p
        carried = R.apply(force)
        force, moment = carried, R.apply(moment) + p.cross(carried)
        at = tree.nodes[at.parent] if at.parent >= 0 else None
