"""Inverse dynamics, textbook form: batched NumPy in float64.

After R. Featherstone, Rigid Body Dynamics Algorithms (Springer, 2008), Tables 5.1 and 6.2, in
the book's names: for body i, λ(i) is its parent, X[i] = i_X_λ(i), S its motion subspace, v, a
and f its spatial velocity, acceleration and the force across its joint, all in body coordinates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.reference.coordinates import fold_forces, fold_matrix, joint_rates
from grid_core.reference.friction import joint_friction
from grid_core.reference.joints import motion_subspace
from grid_core.reference.kinematics import body_transforms
from grid_core.reference.spatial import (
    apply,
    crf,
    crf_bar,
    crm,
    spatial_inertia,
    swap_halves,
    transpose,
)
from grid_core.reference.world_base import along_world_axes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.algorithm import Context
    from grid_core.model.types import Array

__all__ = [
    "crba",
    "generalized_gravity",
    "inverse_dynamics",
    "inverse_dynamics_gradient",
    "inverse_dynamics_jacobians",
    "nonlinear_effects",
]


def inverse_dynamics(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return τ = M(q) q̈ + h(q, q̇) - Jᵀ f_ext by the recursive Newton-Euler algorithm.

    Inputs: ``q`` (B, nq); ``qd`` (B, nv); ``qdd`` (B, nv) or None for zero; ``f_ext`` (B, nb, 6)
    [linear; angular] [N, N m] acting on each body, in its joint frame and about that frame's
    origin, or None; ``gravity`` along the world's z [m/s²].

    Returns:
        ``tau`` (B, nv) [N m or N], with the joints' damping and friction if the options say
        ``use_joint_dynamics``.
    """
    qd, qdd = ctx["qd"], ctx.get("qdd")
    return {"tau": _rnea(ctx, qd, np.zeros_like(qd) if qdd is None else qdd)}


def generalized_gravity(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return the force that holds the robot at rest against gravity.

    Inputs: ``q`` (B, nq); ``gravity`` along the world's z [m/s²].

    Returns:
        ``g`` (B, nv) [N m or N]. Damping and friction have no part in it: nothing moves.
    """
    rest = np.zeros((len(ctx["q"]), ctx.model.nv))
    return {"g": _rnea(ctx, rest, rest)}


def nonlinear_effects(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return h(q, q̇), the force that keeps q̈ at zero; the C of the book.

    Inputs: as for `inverse_dynamics`, without ``qdd``.

    Returns:
        ``h`` (B, nv) [N m or N]: Coriolis, centrifugal and gravity terms, less external forces;
        damping and friction too if the options say ``use_joint_dynamics``.
    """
    rest = np.zeros_like(ctx["qd"]) if ctx.rest is None else ctx.rest
    return {"h": _rnea(ctx, ctx["qd"], rest)}


def crba(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return the mass matrix by the composite-rigid-body algorithm (Table 6.2).

    Inputs: ``q`` (B, nq).

    Returns:
        ``M`` (B, nv, nv), symmetric, both triangles [kg m², kg m or kg].
    """
    model, q = ctx.model, ctx["q"]
    X = body_transforms(model, q)
    S = [motion_subspace(j) for j in model.joints]
    ends = np.cumsum([0, *(j.nv for j in model.joints)])
    rows = [slice(ends[i], ends[i + 1]) for i in range(model.nj)]
    Ic = [np.tile(spatial_inertia(b.inertia), (len(q), 1, 1)) for b in model.bodies]
    H = np.zeros((len(q), ends[-1], ends[-1]))
    for i in reversed(range(model.nj)):
        parent = model.joints[i].parent
        if parent >= 0:
            Ic[parent] += transpose(X[i]) @ Ic[i] @ X[i]
        F = Ic[i] @ S[i]
        H[:, rows[i], rows[i]] = S[i].T @ F
        j = i
        while model.joints[j].parent >= 0:
            F = transpose(X[j]) @ F
            j = model.joints[j].parent
            H[:, rows[i], rows[j]] = transpose(F) @ S[j]
            H[:, rows[j], rows[i]] = transpose(H[:, rows[i], rows[j]])
    # H is over all joints, as if none mimicked: v_joints = G q̇, so q̇ᵀ M q̇ = (G q̇)ᵀ H (G q̇).
    G = fold_matrix(model)
    return {"M": G.T @ H @ G}


def inverse_dynamics_gradient(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return [∂τ/∂q | ∂τ/∂q̇]: Table 5.1 differentiated line by line, all columns at once.

    Inputs: as for `inverse_dynamics`. A coordinate moves along its tangent: a floating or a
    spherical joint in its own moving frame. External forces stay as they are in their bodies'
    frames.

    Returns:
        ``dtau`` (B, nv, 2 nv), with the joints' damping if the options say
        ``use_joint_dynamics``; friction has no slope but at rest, where it has none to give.
        In MuJoCo's convention with what a floating base's motion along the world's axes keeps.
    """
    dtau = _slopes(ctx)
    if ctx.options.output_convention == "mujoco" and ctx.model.floating_base:
        qd, qdd = ctx["qd"], ctx.get("qdd")
        qdd = np.zeros_like(qd) if qdd is None else qdd
        tau = inverse_dynamics(ctx)["tau"]
        dtau = along_world_axes(dtau, crba(ctx)["M"], tau, qd, qdd)
    return {"dtau": dtau}


def _slopes(ctx: Context[Array]) -> Array:
    """[∂τ/∂q | ∂τ/∂q̇] in Pinocchio's coordinates."""
    model, q, qd = ctx.model, ctx["q"], ctx["qd"]
    qdd, f_ext = ctx.get("qdd"), ctx.get("f_ext")
    X = body_transforms(model, q)
    motion = _motion(ctx, X, qd, np.zeros_like(qd) if qdd is None else qdd)
    G = fold_matrix(model)
    ends = np.cumsum([0, *(j.nv for j in model.joints)])
    rows = [G[ends[i] : ends[i + 1]] for i in range(model.nj)]
    dtau = np.zeros((len(q), model.nv, 2 * model.nv))
    dv, da, df, f = ([np.empty(0)] * model.nj for _ in range(4))
    still = np.zeros((6, model.nv))
    for i, joint in enumerate(model.joints):
        v, a, vJ, v_before, a_before = motion[i]
        # J moves the joint by a unit of each coordinate. X[i] y then changes by (X[i] y) × J.
        J = motion_subspace(joint) @ rows[i]
        moved = np.hstack([J, still]) + np.zeros((len(q), 1, 1))
        sped = np.hstack([still, J]) + np.zeros((len(q), 1, 1))
        dv[i] = crm(v_before) @ moved + sped
        da[i] = crm(a_before) @ moved + crm(v) @ sped
        if joint.parent >= 0:
            dv[i] = dv[i] + X[i] @ dv[joint.parent]
            da[i] = da[i] + X[i] @ da[joint.parent]
        da[i] = da[i] - crm(vJ) @ dv[i]
        I = spatial_inertia(model.bodies[i].inertia)
        momentum = apply(I, v)
        f[i] = apply(I, a) + apply(crf(v), momentum)
        if f_ext is not None:
            f[i] -= swap_halves(f_ext[:, i])
        df[i] = I @ da[i] + crf_bar(momentum) @ dv[i] + crf(v) @ I @ dv[i]
    for i in reversed(range(model.nj)):
        joint = model.joints[i]
        S = motion_subspace(joint)
        dtau += rows[i].T @ (S.T @ df[i])
        if joint.parent >= 0:
            moved = np.hstack([S @ rows[i], still])
            f[joint.parent] = f[joint.parent] + apply(transpose(X[i]), f[i])
            df[joint.parent] = df[joint.parent] + transpose(X[i]) @ (df[i] + crf_bar(f[i]) @ moved)
    if ctx.options.use_joint_dynamics:
        damping = np.repeat([j.damping for j in model.joints], [j.nv for j in model.joints])
        dtau[:, :, model.nv :] += G.T @ (damping[:, None] * G)
    return dtau


def inverse_dynamics_jacobians(ctx: Context[Array]) -> dict[tuple[str, str], Array]:
    """Return ∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ = M by (output, input), each (B, nv, nv)."""
    names = ("q", "qd", "qdd", "f_ext", "gravity")
    given = {name: ctx.get(name) for name in names}
    dtau = ctx.call("inverse_dynamics_gradient", **given)["dtau"]
    dq, dqd = np.split(dtau, 2, axis=2)
    M = ctx.call("crba", q=ctx["q"])["M"]
    return {("tau", "q"): dq, ("tau", "qd"): dqd, ("tau", "qdd"): M}


def _motion(
    ctx: Context[Array], X: list[Array], qd: Array, qdd: Array
) -> list[tuple[Array, Array, Array, Array, Array]]:
    """Return v, a, v_J, and the parent's X v and X a, of every body."""
    model = ctx.model
    S = [motion_subspace(j) for j in model.joints]
    rates, accelerations = joint_rates(model, qd), joint_rates(model, qdd)
    v0 = np.zeros((len(qd), 6))
    a0 = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, -float(ctx["gravity"])], (len(qd), 1))
    result: list[tuple[Array, Array, Array, Array, Array]] = []
    for i, parent in enumerate(j.parent for j in model.joints):
        above = (v0, a0) if parent < 0 else result[parent][:2]
        v_before, a_before = (apply(X[i], x) for x in above)
        vJ = rates[i] @ S[i].T
        v = v_before + vJ
        a = a_before + accelerations[i] @ S[i].T + apply(crm(v), vJ)
        result.append((v, a, vJ, v_before, a_before))
    return result


def _rnea(ctx: Context[Array], qd: Array, qdd: Array) -> Array:
    """Table 5.1, body coordinates; friction added to what it gives, where the robot has it."""
    model, q = ctx.model, ctx["q"]
    f_ext = ctx.get("f_ext") if "f_ext" in ctx.inputs else None
    X = body_transforms(model, q)
    S = [motion_subspace(j) for j in model.joints]
    rates, accelerations = joint_rates(model, qd), joint_rates(model, qdd)
    # The book's trick: a root that accelerates upwards stands for gravity, a_0 = -a_g.
    v0 = np.zeros((len(q), 6))
    a0 = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, -float(ctx["gravity"])], (len(q), 1))
    v: list[Array] = []
    a: list[Array] = []
    f: list[Array] = []
    for i, parent in enumerate(j.parent for j in model.joints):
        vJ = rates[i] @ S[i].T
        v.append(apply(X[i], v[parent] if parent >= 0 else v0) + vJ)
        a.append(
            apply(X[i], a[parent] if parent >= 0 else a0)
            + accelerations[i] @ S[i].T
            + apply(crm(v[i]), vJ)
        )
        I = spatial_inertia(model.bodies[i].inertia)
        f.append(apply(I, a[i]) + apply(crf(v[i]), apply(I, v[i])))
        if f_ext is not None:
            f[i] -= swap_halves(f_ext[:, i])
    tau: list[Array] = []
    for i in reversed(range(model.nj)):
        tau.insert(0, f[i] @ S[i])
        parent = model.joints[i].parent
        if parent >= 0:
            f[parent] += apply(transpose(X[i]), f[i])
    folded = fold_forces(model, tau, len(q))
    return folded + joint_friction(model, qd) if ctx.options.use_joint_dynamics else folded
