"""Derivatives of Newton and Euler's recursion, column by column, over symbolic values.

Let S = (α, u) be one coordinate of a joint, its parent's point at x accelerating by a + U x and
turning at ω. Turning that coordinate carries everything beyond the joint along rigidly; seen
from there, only the parent's motion has changed, by a velocity Ψ̇ with angular part ψ = ω × α
and an acceleration Ψ̈. (In the terms of Singh, Russell & Wensing, "Efficient analytical
derivatives of rigid-body dynamics using spatial vector algebra", 2022, whose formulas these
are.) A body beyond the joint, at its own velocity ẋ(x), then needs the force of the rigid
acceleration Ψ̈, and that of 2 ψ × ẋ. A rate q̇ of the coordinate likewise adds the
acceleration V = Ψ̇ + Ṡ, and 2 α × ẋ.

What 2 α × ẋ comes to is the sums P = 2 ∫ ẋ dm and N = 2 ∫ ẋ xᵀ dm over all that hangs from the
joint: a force α × P and a moment (tr N - N) α. Twelve numbers, where a general matrix of
Coriolis forces has 36; its transpose gives a mere couple. A column costs four forces, carried
from its joint to the root. The dynamics do not feel a constant velocity of the whole robot, so
ẋ is taken from a floating base's.

In MuJoCo's coordinates (``world_base``) turning a floating base leaves its velocity and its
acceleration a along the world's axes as they are, and its force is counted along these. All that
turns against the robot is then a less gravity, which takes the place of the parent's acceleration;
a rate of the base brings no v × α; and the force itself is carried along before the base, as it
is before every other joint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, frozen

from grid_core.model.types import JointKind
from grid_core.program.composite import AXES, Composite, Screw, subspace, to_parent
from grid_core.program.linalg import ZERO3, Rows, Vec3
from grid_core.program.motion import columns, project, rates
from grid_core.program.newton_euler import (
    inertial_force,
    motions,
    subtract_external,
    times,
    turning,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grid_core.program.motion import Posture, Rate
    from grid_core.program.newton_euler import Motion, Wrench
    from grid_core.program.scalar import Value
    from grid_core.program.tree import KinematicTree, Node

__all__ = ["Sensitivity", "force_sensitivity"]

Sensitivity = tuple[Any, Any]
"""∂τ/∂q and ∂τ/∂q̇, object arrays (nv, nv)."""


@frozen(eq=False)
class Flow:
    """P = 2 ∫ ẋ dm and N = 2 ∫ ẋ xᵀ dm about a node's origin."""

    P: Vec3
    N: Rows

    @classmethod
    def of(cls, node: Node, w2: Vec3, v2: Vec3) -> Flow:
        """Return a node's own, for twice its angular velocity and its origin's velocity."""
        h, s = node.h, node.second.rows()  # symmetric: rows are columns
        x, y, z = (v2 * h[c] + w2.cross(s[c]) for c in range(3))
        return cls(v2 * node.m + w2.cross(h), _transposed((x, y, z)))

    def __add__(self, o: Flow) -> Flow:
        a, b, c = (x + y for x, y in zip(self.N, o.N, strict=True))
        return Flow(self.P + o.P, (a, b, c))

    def seen_from_parent(self, own: Posture) -> Flow:
        """The same about the parent's origin."""
        P = own.R.apply(self.P)
        a, b, c = own.R.conjugate(self.N)
        p = own.p
        return Flow(P, (a + p * P.x, b + p * P.y, c + p * P.z))

    def force(self, turn: Vec3) -> Wrench:
        """Force and moment that accelerate every point by 2 α × ẋ."""
        return turn.cross(self.P), _coriolis(self.N, turn)

    def couple(self, motion: Screw) -> Vec3:
        """The moment c with c · α the power of `force(α)` in a motion."""
        return self.P.cross(motion.linear) + _coriolis(_transposed(self.N), motion.angular)


def _transposed(m: Rows) -> Rows:
    a, b, c = m
    return Vec3(a.x, b.x, c.x), Vec3(a.y, b.y, c.y), Vec3(a.z, b.z, c.z)


def _coriolis(N: Rows, turn: Vec3) -> Vec3:
    """(tr N - N) α."""
    a, b, c = N
    return Vec3(
        (b.y + c.z) * turn.x - a.y * turn.y - a.z * turn.z,
        (a.x + c.z) * turn.y - b.x * turn.x - b.z * turn.z,
        (a.x + b.y) * turn.z - c.x * turn.x - c.y * turn.y,
    )


@frozen(eq=False)
class Direction:
    """What one coordinate of a joint changes beyond it."""

    column: int
    """Entry of v."""
    multiplier: float
    """Rate of the joint for a unit of it."""
    S: Screw
    psi: Vec3
    """Angular part of Ψ̇."""
    second: Screw
    """Ψ̈."""
    rate: Screw
    """V = Ψ̇ + Ṡ."""


def force_sensitivity(
    tree: KinematicTree,
    pose: Sequence[Posture],
    rate: tuple[Sequence[Value], Sequence[Value]],
    gravity: Value,
    f_ext: Any = None,
    *,
    world_base: bool = False,
) -> Sensitivity:
    """∂τ/∂q and ∂τ/∂q̇ of inverse dynamics, without the joints' own damping.

    Args:
        tree: the robot.
        pose: of every node in its parent.
        rate: q̇ and q̈ (nv).
        gravity: along the world's z [m/s²].
        f_ext: force on each body (nb, 6), or None; it stays as it is in the body's frame.
        world_base: whether a floating base's linear velocity, acceleration and force along the
            world's axes are what stays; rows and columns are along the base's own all the same.
    """
    qd, qdd = rate
    forces: list[Wrench] = []
    flows: list[Flow] = []
    directions: list[list[Direction]] = []
    twice: list[tuple[Vec3, Vec3]] = []  # 2 ω and 2 v of each node
    joint_rates = rates(tree, qd)
    for node, moving in motions(tree, pose, qd, qdd, gravity):
        own = joint_rates[node.index]
        w2 = moving.w + moving.w
        before, v2 = _velocities(node, pose[node.index], own, twice)
        twice.append((w2, v2))
        forces.append(inertial_force(node, moving))
        flows.append(Flow.of(node, w2, v2))
        fixed = world_base and node.joint.kind is JointKind.FLOATING
        directions.append(
            list(_of_free_base(moving) if fixed else _directions(node, moving, before, own))
        )
    if f_ext is not None:
        subtract_external(tree, forces, f_ext)
    return _inward(tree, pose, (forces, flows, directions), world_base=world_base)


def _velocities(
    node: Node, own: Posture, rate: Rate, twice: Sequence[tuple[Vec3, Vec3]]
) -> tuple[Vec3, Vec3]:
    """Twice the velocity at the origin, of the parent and of the node, in the node's axes."""
    if node.joint.kind is JointKind.FLOATING:
        return rate.linear * -2.0, ZERO3
    if node.parent < 0:
        before = ZERO3
    else:
        w2, v2 = twice[node.parent]
        before = own.R.apply_t(v2 + w2.cross(own.p))
    return before, before + rate.linear + rate.linear


def _directions(node: Node, moving: Motion, before: Vec3, rate: Rate) -> Iterator[Direction]:
    # A joint of one coordinate turns about an axis that U does not tell parent and node apart by.
    single = node.joint.nv == 1
    U = moving.U if single else turning(moving.parent_w, moving.parent_dw)
    w, v = moving.parent_w + moving.w, before + rate.linear
    for (column, multiplier), S in zip(columns(node), subspace(node), strict=True):
        turn, slide = S.angular, S.linear
        psi = moving.parent_w.cross(turn)
        yield Direction(
            column,
            multiplier,
            S,
            psi,
            Screw(
                times(U, turn),
                times(U, slide) - turn.cross(moving.parent_a) - psi.cross(before),
            ),
            Screw(w.cross(turn), w.cross(slide) + v.cross(turn)),
        )


def _of_free_base(moving: Motion) -> Iterator[Direction]:
    """Directions of a floating base whose motion along the world's axes stays as it is."""
    for k, e in enumerate(AXES):
        yield Direction(k, 1.0, Screw(ZERO3, e), ZERO3, Screw(ZERO3, ZERO3), Screw(ZERO3, ZERO3))
    for k, e in enumerate(AXES):
        second = Screw(ZERO3, moving.a.cross(e))
        rate = Screw(moving.w.cross(e), ZERO3)
        yield Direction(3 + k, 1.0, Screw(e, ZERO3), ZERO3, second, rate)


Outward = tuple[list["Wrench"], list[Flow], list[list[Direction]]]


def _inward(
    tree: KinematicTree, pose: Sequence[Posture], outward: Outward, *, world_base: bool
) -> Sensitivity:
    """Leaves to root: sum up what hangs from each node, and fill its rows and columns."""
    forces, flows, directions = outward
    nv = tree.model.nv
    dq, dqd = (np.full((nv, nv), 0.0, dtype=object) for _ in range(2))
    bodies = [Composite(n.m, n.h, n.second) for n in tree.nodes]
    arriving: list[list[tuple[Composite, Flow, Wrench]]] = [[] for _ in tree.nodes]
    for node in tree.inward():
        body, flow, (force, moment) = bodies[node.index], flows[node.index], forces[node.index]
        for more_body, more_flow, more in arriving[node.index]:
            body, flow = body + more_body, flow + more_flow
            force, moment = force + more[0], moment + more[1]
        if node.parent >= 0:
            own = pose[node.index]
            moved = body.seen_from_parent(own), flow.seen_from_parent(own)
            arriving[node.parent].append((*moved, to_parent(own, (force, moment))))
        for direction in directions[node.index]:
            column = _Column.of(direction, body, flow, (force, moment))
            free = world_base and node.joint.kind is JointKind.FLOATING
            own_rows = column.seen_from_world() if free else column
            own_rows.fill_own(node, directions[node.index], dq, dqd)
            _climb(tree, pose, (node, column), directions, (dq, dqd))
    return dq, dqd


@frozen(eq=False)
class _Column:
    """Forces that go with one coordinate of a joint, about some node's origin."""

    direction: Direction
    by_position: Wrench
    """What turning the coordinate changes, seen from beyond the joint."""
    by_rate: Wrench
    momentum: Wrench
    """I S; its power in an acceleration is what that does to the coordinate's own force."""
    couple: Vec3
    """The same for 2 α × ẋ: its power in α."""
    turned: Wrench
    """`by_position`, and the force that is carried along itself: seen from before the joint."""

    @classmethod
    def of(cls, d: Direction, body: Composite, flow: Flow, force: Wrench) -> _Column:
        by_position = _sum(body.force(d.second.angular, d.second.linear), flow.force(d.psi))
        by_rate = _sum(body.force(d.rate.angular, d.rate.linear), flow.force(d.S.angular))
        momentum = body.force(d.S.angular, d.S.linear)
        turn, slide = d.S.angular, d.S.linear
        carried = turn.cross(force[0]), turn.cross(force[1]) + slide.cross(force[0])
        turned = _sum(by_position, carried)
        return cls(d, by_position, by_rate, momentum, flow.couple(d.S), turned)

    def seen_from_world(self) -> _Column:
        """The same with a force along axes that stay, about a point that moves along."""
        return evolve(self, by_position=(self.turned[0], self.by_position[1]))

    def fill_own(self, node: Node, rows: Sequence[Direction], dq: Any, dqd: Any) -> None:
        """Add what the coordinate does to its own joint's forces."""
        column, multiplier = self.direction.column, self.direction.multiplier
        for result, wrench in ((dq, self.by_position), (dqd, self.by_rate)):
            for row, value in zip(rows, project(node, *wrench), strict=True):
                factor = multiplier * row.multiplier
                result[row.column, column] = result[row.column, column] + factor * value

    def fill_pair(self, node: Node, above: Sequence[Direction], dq: Any, dqd: Any) -> None:
        """Add what the coordinate and those of a joint before it do to each other."""
        i, multiplier = self.direction.column, self.direction.multiplier
        ups = zip(above, project(node, *self.turned), project(node, *self.by_rate), strict=True)
        for d, by_position, by_rate in ups:
            j, factor = d.column, multiplier * d.multiplier
            dq[j, i] = dq[j, i] + factor * by_position
            dqd[j, i] = dqd[j, i] + factor * by_rate
            felt = _power(self.momentum, d.second) + self.couple.dot(d.psi)
            dq[i, j] = dq[i, j] + factor * felt
            felt = _power(self.momentum, d.rate) + self.couple.dot(d.S.angular)
            dqd[i, j] = dqd[i, j] + factor * felt

    def seen_from_parent(self, own: Posture) -> _Column:
        """The same forces about the parent's origin."""
        return _Column(
            self.direction,
            self.by_position,
            to_parent(own, self.by_rate),
            to_parent(own, self.momentum),
            own.R.apply(self.couple),
            to_parent(own, self.turned),
        )


def _climb(
    tree: KinematicTree,
    pose: Sequence[Posture],
    start: tuple[Node, _Column],
    directions: Sequence[Sequence[Direction]],
    results: Sensitivity,
) -> None:
    """Carry a column to the root, filling the entries it shares with each joint on the way."""
    node, column = start
    while node.parent >= 0:
        column = column.seen_from_parent(pose[node.index])
        node = tree.nodes[node.parent]
        column.fill_pair(node, directions[node.index], *results)


def _sum(a: Wrench, b: Wrench) -> Wrench:
    return a[0] + b[0], a[1] + b[1]


def _power(wrench: Wrench, motion: Screw) -> Value:
    return wrench[0].dot(motion.linear) + wrench[1].dot(motion.angular)
