"""Inverse dynamics and the mass matrix over symbolic scalars.

Newton and Euler in the form of Khalil and Kleinfinger ("Minimum operations and minimum
parameters of the dynamic models of tree structure robots", 1987): with U = [ω̇]× + [ω]×[ω]×
a point at x of a body accelerates by a + U x, so force and moment are linear in the body's
m, h and Σ. Gravity enters as the root's upward acceleration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.model.types import JointKind
from grid_core.program.linalg import ZERO3, Symmetric, Vec3, outer_symmetric
from grid_core.program.motion import (
    Posture,
    columns,
    fold_forces,
    joint_dynamics,
    postures,
    project,
    rates,
)
from grid_core.program.tree import KinematicTree, Node

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grid_core.algorithm import Context
    from grid_core.program.scalar import Value

Rows = tuple[Vec3, Vec3, Vec3]


def inverse_dynamics(ctx: Context[Any]) -> Mapping[str, Any]:
    """τ = M q̈ + h (recursive Newton-Euler)."""
    qdd = ctx.get("qdd")
    return {"tau": _rnea(ctx, ctx["qd"], qdd)}


def nonlinear_effects(ctx: Context[Any]) -> Mapping[str, Any]:
    """h: what inverse dynamics gives without acceleration."""
    return {"h": _rnea(ctx, ctx["qd"], None)}


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
    forces = _accelerate(tree, pose, velocity, acceleration, ctx["gravity"])
    if f_ext is not None:
        _subtract_external(tree, forces, f_ext)
    joint_forces = _gather(tree, pose, forces)
    if moving and ctx.options.use_joint_dynamics:
        for own, drag in zip(joint_forces, joint_dynamics(tree, velocity), strict=True):
            own[:] = [a + b for a, b in zip(own, drag, strict=True)]
    return fold_forces(tree, joint_forces)


def _accelerate(
    tree: KinematicTree,
    pose: Sequence[Posture],
    qd: Sequence[Value],
    qdd: Sequence[Value],
    gravity: Value,
) -> list[tuple[Vec3, Vec3]]:
    """Root to leaves: the force and the moment about its origin that each node needs."""
    ground = (ZERO3, ZERO3, Vec3(0.0, 0.0, -gravity), _turning(ZERO3, ZERO3))
    states: list[tuple[Vec3, Vec3, Vec3, Rows]] = []
    forces = []
    for node, own, rate, change in zip(
        tree.nodes, pose, rates(tree, qd), rates(tree, qdd), strict=True
    ):
        w0, dw0, a0, U0 = states[node.parent] if node.parent >= 0 else ground
        w = own.R.apply_t(w0)
        dw = own.R.apply_t(dw0) + w.cross(rate.angular) + change.angular
        a = own.R.apply_t(a0 + _times(U0, own.p)) + change.linear
        if node.joint.kind is JointKind.FLOATING:
            # Its acceleration coordinates are spatial: the origin's own is v̇ + ω × v.
            a = a + rate.angular.cross(rate.linear)
        else:
            a = a + (w.cross(rate.linear)) * 2.0
        w = w + rate.angular
        U = _turning(w, dw)
        states.append((w, dw, a, U))
        forces.append(_inertial(node, a, U))
    return forces


def _turning(w: Vec3, dw: Vec3) -> Rows:
    """U = [ω̇]× + [ω]×[ω]×, as rows."""
    xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
    xy, xz, yz = w.x * w.y, w.x * w.z, w.y * w.z
    return (
        Vec3(-(yy + zz), xy - dw.z, xz + dw.y),
        Vec3(xy + dw.z, -(xx + zz), yz - dw.x),
        Vec3(xz - dw.y, yz + dw.x, -(xx + yy)),
    )


def _times(U: Rows, p: Vec3) -> Vec3:
    return Vec3(U[0].dot(p), U[1].dot(p), U[2].dot(p))


def _inertial(node: Node, a: Vec3, U: Rows) -> tuple[Vec3, Vec3]:
    """Force m a + U h, and moment h × a + ∫ x × U x dm about the node's origin."""
    s = node.second.rows()
    force = a * node.m + _times(U, node.h)
    moment = Vec3(
        U[2].dot(s[1]) - U[1].dot(s[2]),
        U[0].dot(s[2]) - U[2].dot(s[0]),
        U[1].dot(s[0]) - U[0].dot(s[1]),
    )
    return force, moment + node.h.cross(a)


def _subtract_external(tree: KinematicTree, forces: list[tuple[Vec3, Vec3]], f_ext: Any) -> None:
    """Carry each body's force [linear; angular] from its joint frame to its node."""
    for body, at in enumerate(tree.attachments):
        if at.node < 0:
            continue
        linear, angular = (
            Vec3(*(row.dot(v) for row in at.rotation))
            for v in (Vec3(*f_ext[body, :3]), Vec3(*f_ext[body, 3:]))
        )
        force, moment = forces[at.node]
        forces[at.node] = (force - linear, moment - (angular + at.position.cross(linear)))


def _gather(
    tree: KinematicTree, pose: Sequence[Posture], forces: list[tuple[Vec3, Vec3]]
) -> list[list[Value]]:
    """Leaves to root: pass each node's force on and keep its joint's share."""
    total = list(forces)
    result: list[list[Value]] = [[] for _ in tree.nodes]
    for node in reversed(tree.nodes):
        force, moment = total[node.index]
        result[node.index] = project(node, force, moment)
        if node.parent >= 0:
            R, p = pose[node.index].R, pose[node.index].p
            above_force, above_moment = total[node.parent]
            carried = R.apply(force)
            turned = R.apply(moment) + p.cross(carried)
            total[node.parent] = (above_force + carried, above_moment + turned)
    return result


def crba(ctx: Context[Any]) -> Mapping[str, Any]:
    """M by composite rigid bodies (Featherstone 2008, Table 6.2), folded over mimic joints."""
    tree = KinematicTree.of(ctx.model, regroup=True)
    pose = postures(tree, ctx["q"])
    composite = _composite(tree, pose)
    M = np.full((ctx.model.nv, ctx.model.nv), 0.0, dtype=object)
    for node in tree.nodes:
        for k, wrench in enumerate(_momenta(node, *composite[node.index])):
            _fill(tree, pose, M, (node, k), wrench)
    return {"M": M}


def _composite(tree: KinematicTree, pose: Sequence[Posture]) -> list[tuple[Value, Vec3, Symmetric]]:
    """m, h and Σ of each node with all that hangs from it, about the node's origin."""
    total: list[tuple[Value, Vec3, Symmetric]] = [(n.m, n.h, n.second) for n in tree.nodes]
    for node in reversed(tree.nodes):
        if node.parent < 0:
            continue
        m, h, second = total[node.index]
        R, p = pose[node.index].R, pose[node.index].p
        above = total[node.parent]
        turned = R.apply(h)
        # Σ + p hᵀ + h pᵀ + m p pᵀ, with the last term halved into both middle ones.
        moved = R.sandwich(second) + outer_symmetric(p, turned + p * (0.5 * m))
        total[node.parent] = (above[0] + m, above[1] + turned + p * m, above[2] + moved)
    return total


def _momenta(node: Node, m: Value, h: Vec3, s: Symmetric) -> list[tuple[Vec3, Vec3]]:
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
