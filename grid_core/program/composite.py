"""Composite rigid bodies: what hangs from each node, moved as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.model.types import JointKind
from grid_core.program.linalg import ZERO3, Symmetric, Vec3, outer_symmetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.program.motion import Posture
    from grid_core.program.newton_euler import Wrench
    from grid_core.program.scalar import Value
    from grid_core.program.tree import KinematicTree, Node

__all__ = ["AXES", "Composite", "Screw", "composites", "momenta", "subspace", "to_parent"]

AXES = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))


@frozen(eq=False)
class Composite:
    """m, h and Σ of a rigid body about its node's origin (see `grid_core.program.mass`)."""

    m: Value
    h: Vec3
    second: Symmetric

    def __add__(self, o: Composite) -> Composite:
        return Composite(self.m + o.m, self.h + o.h, self.second + o.second)

    def seen_from_parent(self, own: Posture) -> Composite:
        """The same body about the parent's origin."""
        R, p = own.R, own.p
        turned = R.apply(self.h)
        # Σ + p hᵀ + h pᵀ + m p pᵀ, with the last term halved into both middle ones.
        moved = R.sandwich(self.second) + outer_symmetric(p, turned + p * (0.5 * self.m))
        return Composite(self.m, turned + p * self.m, moved)

    def rotational(self) -> tuple[Vec3, Vec3, Vec3]:
        """The rotational inertia about the origin, (tr Σ) 1 - Σ, as columns."""
        s = self.second
        return (
            Vec3(s.yy + s.zz, -s.xy, -s.xz),
            Vec3(-s.xy, s.xx + s.zz, -s.yz),
            Vec3(-s.xz, -s.yz, s.xx + s.yy),
        )

    def force(self, angular: Vec3, linear: Vec3) -> Wrench:
        """Force and moment that accelerate the body so; the moment is about the origin."""
        x, y, z = self.rotational()
        turning = x * angular.x + y * angular.y + z * angular.z
        return linear * self.m + angular.cross(self.h), turning + self.h.cross(linear)


@frozen(eq=False)
class Screw:
    """A rigid motion about a node's origin, in the node's axes."""

    angular: Vec3
    linear: Vec3


def composites(tree: KinematicTree, pose: Sequence[Posture]) -> list[Composite]:
    """Each node with all that hangs from it."""
    arriving: list[list[Composite]] = [[] for _ in tree.nodes]
    total = [Composite(n.m, n.h, n.second) for n in tree.nodes]
    for node in tree.inward():
        for more in arriving[node.index]:
            total[node.index] = total[node.index] + more
        if node.parent >= 0:
            moved = total[node.index].seen_from_parent(pose[node.index])
            arriving[node.parent].append(moved)
    return total


def subspace(node: Node) -> list[Screw]:
    """Columns of S: what a unit rate of each of the joint's coordinates is."""
    kind = node.joint.kind
    turning = [Screw(e, ZERO3) for e in AXES]
    if kind is JointKind.SPHERICAL:
        return turning
    if kind is JointKind.FLOATING:
        return [*(Screw(ZERO3, e) for e in AXES), *turning]
    if kind is JointKind.PRISMATIC:
        return [Screw(ZERO3, node.axis)]
    return [Screw(AXES[2], AXES[2] * node.joint.pitch)]


def momenta(node: Node, body: Composite) -> list[Wrench]:
    """Columns of I S as (force, moment): what a unit rate of each coordinate carries."""
    return [body.force(s.angular, s.linear) for s in subspace(node)]


def to_parent(own: Posture, wrench: Wrench) -> Wrench:
    """Carry a force and a moment from a node to its parent."""
    force, moment = wrench
    carried = own.R.apply(force)
    return carried, own.R.apply(moment) + own.p.cross(carried)
