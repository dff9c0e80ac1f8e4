"""Newton and Euler over symbolic values: accelerations, and the forces they need.

In the form of Khalil and Kleinfinger ("Minimum operations and minimum parameters of the
dynamic models of tree structure robots", 1987): with U = [ω̇]× + [ω]×[ω]× a point at x of a
body accelerates by a + U x, so force and moment are linear in the body's m, h and Σ. Gravity
enters as the root's upward acceleration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from grid_core.model.types import JointKind
from grid_core.program.linalg import ZERO3, Rows, Vec3
from grid_core.program.motion import rates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grid_core.program.motion import Posture
    from grid_core.program.scalar import Value
    from grid_core.program.tree import KinematicTree, Node

__all__ = [
    "Motion",
    "Wrench",
    "inertial_force",
    "inertial_forces",
    "motions",
    "subtract_external",
    "times",
    "turning",
]

Wrench = tuple[Vec3, Vec3]
"""Force and moment about a node's origin, in its axes."""


@frozen(eq=False)
class Motion:
    """How a node moves, in its own axes, and how its parent does there."""

    parent_w: Vec3
    """Angular velocity of the parent, in the node's axes."""
    parent_dw: Vec3
    """Its angular acceleration."""
    parent_a: Vec3
    """Acceleration of the parent's point at the node's origin."""
    w: Vec3
    dw: Vec3
    a: Vec3
    """Acceleration of the origin."""
    U: Rows
    """[ω̇]× + [ω]×[ω]×."""


def motions(
    tree: KinematicTree,
    pose: Sequence[Posture],
    qd: Sequence[Value],
    qdd: Sequence[Value],
    gravity: Value,
) -> Iterator[tuple[Node, Motion]]:
    """Walk from the root to the leaves and say how each node moves."""
    result: list[Motion] = []
    for node, own, rate, change in zip(
        tree.outward(), pose, rates(tree, qd), rates(tree, qdd), strict=True
    ):
        if node.parent >= 0:
            above = result[node.parent]
            w0, dw0, a0, U0 = above.w, above.dw, above.a, above.U
        else:
            w0, dw0, a0, U0 = ZERO3, ZERO3, Vec3(0.0, 0.0, -gravity), turning(ZERO3, ZERO3)
        w0, dw0 = own.R.apply_t(w0), own.R.apply_t(dw0)
        a0 = own.R.apply_t(a0 + times(U0, own.p))
        a = a0 + change.linear
        if node.joint.kind is JointKind.FLOATING:
            # Its acceleration coordinates are spatial: the origin's own is v̇ + ω × v.
            a = a + rate.angular.cross(rate.linear)
        else:
            a = a + (w0.cross(rate.linear)) * 2.0
        w = w0 + rate.angular
        dw = dw0 + w0.cross(rate.angular) + change.angular
        result.append(Motion(w0, dw0, a0, w, dw, a, turning(w, dw)))
        yield node, result[-1]


def inertial_forces(
    tree: KinematicTree,
    pose: Sequence[Posture],
    qd: Sequence[Value],
    qdd: Sequence[Value],
    gravity: Value,
) -> list[Wrench]:
    """Root to leaves: the force and the moment about its origin that each node needs."""
    return [inertial_force(node, moving) for node, moving in motions(tree, pose, qd, qdd, gravity)]


def turning(w: Vec3, dw: Vec3) -> Rows:
    """U = [ω̇]× + [ω]×[ω]×, as rows."""
    xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
    xy, xz, yz = w.x * w.y, w.x * w.z, w.y * w.z
    return (
        Vec3(-(yy + zz), xy - dw.z, xz + dw.y),
        Vec3(xy + dw.z, -(xx + zz), yz - dw.x),
        Vec3(xz - dw.y, yz + dw.x, -(xx + yy)),
    )


def times(U: Rows, p: Vec3) -> Vec3:
    """U p."""
    return Vec3(U[0].dot(p), U[1].dot(p), U[2].dot(p))


def inertial_force(node: Node, moving: Motion) -> Wrench:
    """Force m a + U h, and moment h × a + ∫ x × U x dm about the node's origin."""
    a, U = moving.a, moving.U
    s = node.second.rows()
    force = a * node.m + times(U, node.h)
    moment = Vec3(
        U[2].dot(s[1]) - U[1].dot(s[2]),
        U[0].dot(s[2]) - U[2].dot(s[0]),
        U[1].dot(s[0]) - U[0].dot(s[1]),
    )
    return force, moment + node.h.cross(a)


def subtract_external(tree: KinematicTree, forces: list[Wrench], f_ext: Any) -> None:
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
