"""Forward dynamics and M⁻¹ over symbolic scalars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.model.types import JointKind
from grid_core.program.articulated import ArticulatedInertia
from grid_core.program.cheapest import cheapest
from grid_core.program.ldlt import LTDL
from grid_core.program.linalg import Vec3
from grid_core.program.motion import (
    Posture,
    columns,
    joint_dynamics,
    postures,
    project,
    row_regions,
)
from grid_core.program.newton_euler import Wrench, inertial_forces, motions, subtract_external
from grid_core.program.regions import visit, within
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


def forward_dynamics_gradient(ctx: Context[Any]) -> Mapping[str, Any]:
    """[∂q̈/∂q | ∂q̈/∂q̇] = -M⁻¹ [∂τ/∂q | ∂τ/∂q̇], at the q̈ that u gives."""
    gradient, _ = _gradient(ctx)
    return {"dqdd": gradient}


def forward_dynamics_gradient_minv(ctx: Context[Any]) -> Mapping[str, Any]:
    """The same, and ∂q̈/∂u = M⁻¹ from the same factors."""
    gradient, factors = _gradient(ctx)
    return {"dqdd": gradient, "Minv": factors.inverse()}


def forward_dynamics_jvp(ctx: Context[Any]) -> Mapping[str, Any]:
    """M dq̈ = du - ∂τ, with the change ∂τ of inverse dynamics at constant q̈."""
    factors, motion, extra = _solved(ctx)
    still = np.full(ctx.model.nv, 0.0, dtype=object)
    tangents = {"dq": ctx["dq"], "dqd": ctx["dqd"], "dqdd": still}
    change = ctx.call("inverse_dynamics_jvp", **motion, **tangents, **extra)["dtau"]
    rest = [du - dtau for du, dtau in zip(ctx["du"], change, strict=True)]
    return {"dqdd": factors.solve(rest)}


def forward_dynamics_vjp(ctx: Context[Any]) -> Mapping[str, Any]:
    """With λ = M⁻¹ w: λ is the gradient by u, and -λ weighs inverse dynamics at constant q̈."""
    factors, motion, extra = _solved(ctx)
    weight = np.array(factors.solve(ctx["qdd_bar"]), dtype=object)
    bars = ctx.call("inverse_dynamics_vjp", **motion, tau_bar=-weight, **extra)
    return {"q_bar": bars["q_bar"], "qd_bar": bars["qd_bar"], "u_bar": weight}


def _gradient(ctx: Context[Any]) -> tuple[Any, LTDL]:
    factors, motion, extra = _solved(ctx)
    forces = ctx.call("inverse_dynamics_gradient", **motion, **extra)["dtau"]
    known = _of_free_base(ctx)
    result = np.empty_like(forces)
    regions = row_regions(KinematicTree.of(ctx.model, regroup=True))
    for k, column in enumerate(forces.T):
        region = regions[k % ctx.model.nv]
        if k in known:
            result[:, k] = known[k]
        else:
            with within(region):
                negated = [-x for x in column]
            result[:, k] = factors.solve(negated, region)
    return result, factors


def _solved(ctx: Context[Any]) -> tuple[LTDL, dict[str, Any], dict[str, Any]]:
    """M's factors, the motion q, q̇ and q̈, and what else acts."""
    extra = {"gravity": ctx["gravity"], "f_ext": ctx.get("f_ext")}
    h = ctx.call("nonlinear_effects", q=ctx["q"], qd=ctx["qd"], **extra)["h"]
    regions = row_regions(KinematicTree.of(ctx.model, regroup=True))
    factors = LTDL(ctx.call("crba", q=ctx["q"])["M"], regions)
    rest = [u - bias for u, bias in zip(visit(zip(ctx["u"], regions, strict=True)), h, strict=True)]
    qdd = factors.solve(rest)
    return factors, {"q": ctx["q"], "qd": ctx["qd"], "qdd": np.array(qdd, dtype=object)}, extra


def _of_free_base(ctx: Context[Any]) -> dict[int, list[Value]]:
    """Columns that no solving is needed for, by their number.

    Gravity accelerates all of a free robot alike: v̇ = Rᵀ g - ω × v + …, and nothing else
    depends on how the base is turned or on its linear velocity. Along the world's axes, as
    MuJoCo counts them, not even these do: its columns come out as zeros by themselves, and
    those of its turns are left to the factors, as u then turns against the robot.
    """
    tree, nv = KinematicTree.of(ctx.model, regroup=True), ctx.model.nv
    root = tree.nodes[0] if tree.nodes else None
    if root is None or root.joint.kind is not JointKind.FLOATING:
        return {}
    if ctx.options.output_convention == "mujoco":
        return {}
    if ctx.options.use_joint_dynamics and root.joint.damping:
        return {}
    node, moving = next(
        motions(tree, postures(tree, ctx["q"]), ctx["qd"], [0.0] * nv, ctx["gravity"])
    )
    start, padding = columns(node)[0][0], [0.0] * (nv - 3)
    result: dict[int, list[Value]] = {}
    for k, axis in enumerate((Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))):
        result[start + 3 + k] = [*axis.cross(moving.parent_a), *padding]
        result[nv + start + k] = [*axis.cross(moving.w), *padding]
    return result


def articulated_body(ctx: Context[Any]) -> Mapping[str, Any]:
    """Featherstone 2008, Table 7.1, for the difference from the motion without q̈.

    Accelerations and forces at q̈ = 0 (gravity and velocity terms) come from Newton-Euler; what
    the articulated bodies then pass on is linear in q̈ alone, so no velocity term meets an
    articulated inertia.
    """
    tree = KinematicTree.of(ctx.model, regroup=True)
    pose = postures(tree, ctx["q"])
    rest = [0.0] * ctx.model.nv
    forces = inertial_forces(tree, pose, ctx["qd"], rest, ctx["gravity"])
    if ctx.get("f_ext") is not None:
        subtract_external(tree, forces, ctx["f_ext"])
    joints = _inward(tree, pose, forces, _joint_torques(tree, ctx))
    return {"qdd": _outward(tree, pose, joints)}


Spatial = list[Value]
"""[linear; angular]."""


def _joint_torques(tree: KinematicTree, ctx: Context[Any]) -> list[list[Value]]:
    u = ctx["u"]
    torque = [[u[column] for column, _ in columns(node)] for node in tree.outward()]
    if ctx.options.use_joint_dynamics:
        drag = joint_dynamics(tree, ctx["qd"])
        torque = [
            [a - b for a, b in zip(own, lost, strict=True)]
            for own, lost in zip(torque, drag, strict=True)
        ]
    return torque


class _JointSolution:
    """What the way out needs of a joint: U = I S, D = Sᵀ U factored, and u."""

    def __init__(
        self, node: Node, inertia: ArticulatedInertia, force: Spatial, torque: list[Value]
    ) -> None:
        S = _subspace(node)
        self.S = S
        self.U = [inertia.times(s) for s in S]
        self.pivots = LTDL([[_dot(s, u) for u in self.U] for s in S])
        own = project(node, Vec3(*force[:3]), Vec3(*force[3:]))
        self.rest = [t - x for t, x in zip(torque, own, strict=True)]
        self.inertia = inertia
        self.force = force

    def passed_on(self) -> tuple[ArticulatedInertia, Spatial]:
        """Inertia and force that the parent feels, in the node's frame."""
        by_row = [self.pivots.solve([u[i] for u in self.U]) for i in range(6)]
        scaled = [[row[k] for row in by_row] for k in range(len(self.S))]
        free = [i for s in self.S for i in range(6) if s.count(0.0) == 5 and not is_zero(s[i])]
        force = self.force
        for column, x in zip(scaled, self.rest, strict=True):
            force = [b + c * x for b, c in zip(force, column, strict=True)]
        return self.inertia.projected(self.U, scaled, free), force


def _inward(
    tree: KinematicTree,
    pose: Sequence[Posture],
    forces: Sequence[Wrench],
    torque: list[list[Value]],
) -> list[_JointSolution]:
    # What arrives from the children is added where their parent stands: limbs do not meet.
    arriving: list[list[tuple[ArticulatedInertia, Spatial]]] = [[] for _ in tree.nodes]
    joints: dict[int, _JointSolution] = {}
    for node in tree.inward():
        i = node.index
        inertia = ArticulatedInertia.rigid(node.m, node.h, node.second)
        force: Spatial = [*forces[i][0], *forces[i][1]]
        for more_inertia, more_force in arriving[i]:
            inertia = inertia + more_inertia
            force = [a + b for a, b in zip(force, more_force, strict=True)]
        joints[i] = _JointSolution(node, inertia, force, torque[i])
        if node.parent >= 0:
            passed, felt = joints[i].passed_on()
            R, p = pose[i].R, pose[i].p
            linear = R.apply(Vec3(*felt[:3]))
            angular = R.apply(Vec3(*felt[3:])) + p.cross(linear)
            arriving[node.parent].append((passed.seen_from_parent(R, p), [*linear, *angular]))
    return [joints[n.index] for n in tree.nodes]


def _outward(
    tree: KinematicTree, pose: Sequence[Posture], joints: list[_JointSolution]
) -> list[Value]:
    moved: list[Spatial] = []
    qdd: list[Value] = [0.0] * tree.model.nv
    for node in tree.outward():
        i, own = node.index, pose[node.index]
        above: Spatial = moved[node.parent] if node.parent >= 0 else [0.0] * 6
        turning = Vec3(*above[3:])
        linear = own.R.apply_t(Vec3(*above[:3]) + turning.cross(own.p))
        carried = [*linear, *own.R.apply_t(turning)]
        rest = [x - _dot(u, carried) for x, u in zip(joints[i].rest, joints[i].U, strict=True)]
        change = joints[i].pivots.solve(rest)
        for (column, _), value in zip(columns(node), change, strict=True):
            qdd[column] = value
        for s, value in zip(joints[i].S, change, strict=True):
            carried = [a + x * value for a, x in zip(carried, s, strict=True)]
        moved.append(carried)
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


def _dot(a: Sequence[Value], b: Sequence[Value]) -> Value:
    total: Value = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total
