"""Forward dynamics and M⁻¹ over symbolic scalars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grid_core.model.types import JointKind
from grid_core.program.articulated import ArticulatedInertia
from grid_core.program.cheapest import cheapest
from grid_core.program.ldlt import LTDL
from grid_core.program.linalg import ZERO3, Vec3
from grid_core.program.motion import (
    Posture,
    Rate,
    columns,
    joint_dynamics,
    postures,
    project,
    rates,
)
from grid_core.program.scalar import Value, is_zero
from grid_core.program.tree import KinematicTree, Node

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grid_core.algorithm import Context


def forward_dynamics(ctx: Context[Any]) -> Mapping[str, Any]:
    """q̈ by whichever of the two ways below takes fewer instructions for this robot."""
    if ctx.model.has_mimic:
        return by_mass_matrix(ctx)
    return cheapest(ctx, (by_mass_matrix, articulated_body))


def by_mass_matrix(ctx: Context[Any]) -> Mapping[str, Any]:
    """q̈ = M⁻¹ (u - h), M factored along the branches."""
    extra = {"f_ext": ctx.get("f_ext")} if "f_ext" in ctx.inputs else {}
    h = ctx.call("nonlinear_effects", q=ctx["q"], qd=ctx["qd"], gravity=ctx["gravity"], **extra)
    M = ctx.call("crba", q=ctx["q"])["M"]
    rest = [u - bias for u, bias in zip(ctx["u"], h["h"], strict=True)]
    return {"qdd": LTDL(M).solve(rest)}


def aba(ctx: Context[Any]) -> Mapping[str, Any]:
    """q̈ by articulated bodies; over coupled mimic joints by the mass matrix.

    A mimic joint ties two branches together, so the recursion from leaf to root that the
    algorithm is made of does not exist there.
    """
    return by_mass_matrix(ctx) if ctx.model.has_mimic else articulated_body(ctx)


def minv(ctx: Context[Any]) -> Mapping[str, Any]:
    """M⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ."""
    return {"Minv": LTDL(ctx.call("crba", q=ctx["q"])["M"]).inverse()}


def articulated_body(ctx: Context[Any]) -> Mapping[str, Any]:
    """Featherstone 2008, Table 7.1, with origins' accelerations in place of spatial ones."""
    tree = KinematicTree.of(ctx.model, regroup=True)
    pose = postures(tree, ctx["q"])
    rate = rates(tree, ctx["qd"])
    drift, bias = _velocity_terms(tree, pose, rate)
    if ctx.get("f_ext") is not None:
        _subtract_external(tree, bias, ctx["f_ext"])
    torque = _joint_torques(tree, ctx)
    joints = _inward(tree, pose, drift, bias, torque)
    return {"qdd": _outward(tree, pose, drift, joints, ctx["gravity"])}


Spatial = list[Value]
"""[linear; angular]."""


def _joint_torques(tree: KinematicTree, ctx: Context[Any]) -> list[list[Value]]:
    u = ctx["u"]
    torque = [[u[column] for column, _ in columns(node)] for node in tree.nodes]
    if ctx.options.use_joint_dynamics:
        drag = joint_dynamics(tree, ctx["qd"])
        torque = [
            [a - b for a, b in zip(own, lost, strict=True)]
            for own, lost in zip(torque, drag, strict=True)
        ]
    return torque


def _velocity_terms(
    tree: KinematicTree, pose: Sequence[Posture], rate: Sequence[Rate]
) -> tuple[list[Spatial], list[Spatial]]:
    """Each node's acceleration c and force p that come of velocity alone."""
    velocity: list[Vec3] = []
    drift: list[Spatial] = []
    bias: list[Spatial] = []
    for node, own, change in zip(tree.nodes, pose, rate, strict=True):
        w0 = velocity[node.parent] if node.parent >= 0 else ZERO3
        before = own.R.apply_t(w0)
        linear = own.R.apply_t(w0.cross(w0.cross(own.p)))
        if node.joint.kind is JointKind.FLOATING:
            linear = linear + change.angular.cross(change.linear)
        else:
            linear = linear + before.cross(change.linear) * 2.0
        drift.append([*linear, *before.cross(change.angular)])
        w = before + change.angular
        velocity.append(w)
        bias.append(_centrifugal(node, w))
    return drift, bias


def _centrifugal(node: Node, w: Vec3) -> Spatial:
    """Force ω × (ω × h) and moment ∫ x × (ω × (ω × x)) dm = -(ω × Σω), about the origin."""
    force = w.cross(w.cross(node.h))
    return [*force, *(-w.cross(node.second.times(w)))]


def _subtract_external(tree: KinematicTree, bias: list[Spatial], f_ext: Any) -> None:
    for body, at in enumerate(tree.attachments):
        if at.node < 0:
            continue
        force = Vec3(*(row.dot(Vec3(*f_ext[body, :3])) for row in at.rotation))
        moment = Vec3(*(row.dot(Vec3(*f_ext[body, 3:])) for row in at.rotation))
        wrench = [*force, *(moment + at.position.cross(force))]
        bias[at.node] = [b - x for b, x in zip(bias[at.node], wrench, strict=True)]


class _JointSolution:
    """What the way out needs of a joint: U = I S, D = Sᵀ U factored, and u."""

    def __init__(
        self, node: Node, inertia: ArticulatedInertia, bias: Spatial, torque: list[Value]
    ) -> None:
        S = _subspace(node)
        self.S = S
        self.U = [inertia.times(s) for s in S]
        D = [[_dot(s, u) for u in self.U] for s in S]
        self.pivots = LTDL(D)
        self.rest = [t - x for t, x in zip(torque, _project(node, bias), strict=True)]
        self.inertia = inertia
        self.bias = bias

    def passed_on(self, drift: Spatial) -> tuple[ArticulatedInertia, Spatial]:
        """Inertia and bias force that the parent feels, in the node's frame."""
        by_row = [self.pivots.solve([u[i] for u in self.U]) for i in range(6)]
        scaled = [[row[k] for row in by_row] for k in range(len(self.S))]
        free = [i for s in self.S for i in range(6) if s.count(0.0) == 5 and not is_zero(s[i])]
        inertia = self.inertia.projected(self.U, scaled, free)
        felt = inertia.times(drift)
        bias = [b + f for b, f in zip(self.bias, felt, strict=True)]
        for column, x in zip(scaled, self.rest, strict=True):
            bias = [b + c * x for b, c in zip(bias, column, strict=True)]
        return inertia, bias


def _inward(
    tree: KinematicTree,
    pose: Sequence[Posture],
    drift: list[Spatial],
    bias: list[Spatial],
    torque: list[list[Value]],
) -> list[_JointSolution]:
    inertia = [ArticulatedInertia.rigid(n.m, n.h, n.second) for n in tree.nodes]
    force = list(bias)
    joints: dict[int, _JointSolution] = {}
    for node in reversed(tree.nodes):
        i = node.index
        joints[i] = _JointSolution(node, inertia[i], force[i], torque[i])
        if node.parent < 0:
            continue
        passed, felt = joints[i].passed_on(drift[i])
        R, p = pose[i].R, pose[i].p
        inertia[node.parent] = inertia[node.parent] + passed.seen_from_parent(R, p)
        linear = R.apply(Vec3(*felt[:3]))
        angular = R.apply(Vec3(*felt[3:])) + p.cross(linear)
        total = [a + b for a, b in zip(force[node.parent], [*linear, *angular], strict=True)]
        force[node.parent] = total
    return [joints[n.index] for n in tree.nodes]


def _outward(
    tree: KinematicTree,
    pose: Sequence[Posture],
    drift: list[Spatial],
    joints: list[_JointSolution],
    gravity: Value,
) -> list[Value]:
    accelerations: list[Spatial] = []
    qdd: list[Value] = [0.0] * tree.model.nv
    for node in tree.nodes:
        i, own = node.index, pose[node.index]
        ground: Spatial = [0.0, 0.0, -gravity, 0.0, 0.0, 0.0]
        above = accelerations[node.parent] if node.parent >= 0 else ground
        turning = Vec3(*above[3:])
        linear = own.R.apply_t(Vec3(*above[:3]) + turning.cross(own.p))
        carried = [*linear, *own.R.apply_t(turning)]
        carried = [a + c for a, c in zip(carried, drift[i], strict=True)]
        rest = [x - _dot(u, carried) for x, u in zip(joints[i].rest, joints[i].U, strict=True)]
        change = joints[i].pivots.solve(rest)
        for (column, _), value in zip(columns(node), change, strict=True):
            qdd[column] = value
        for s, value in zip(joints[i].S, change, strict=True):
            carried = [a + x * value for a, x in zip(carried, s, strict=True)]
        accelerations.append(carried)
    return qdd


def _subspace(node: Node) -> list[Spatial]:
    """Columns of S."""
    unit: list[Spatial] = [[1.0 if i == k else 0.0 for i in range(6)] for k in range(6)]
    kind = node.joint.kind
    if kind is JointKind.SPHERICAL:
        return unit[3:]
    if kind is JointKind.FLOATING:
        return unit
    if kind is JointKind.PRISMATIC:
        return [[*node.axis, 0.0, 0.0, 0.0]]
    return [[0.0, 0.0, node.joint.pitch, 0.0, 0.0, 1.0]]


def _project(node: Node, force: Spatial) -> list[Value]:
    return project(node, Vec3(*force[:3]), Vec3(*force[3:]))


def _dot(a: Sequence[Value], b: Sequence[Value]) -> Value:
    total: Value = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total
