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
from grid_core.reference.spatial import apply, crf, crm, spatial_inertia, swap_halves, transpose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.algorithm import Context
    from grid_core.model.types import Array

__all__ = ["crba", "generalized_gravity", "inverse_dynamics", "nonlinear_effects"]


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
