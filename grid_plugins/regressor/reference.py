"""Regressors, textbook form: batched NumPy in float64.

The spatial inertia of a body is linear in its ten parameters, I = Σ π_k B_k with constant 6×6
matrices B_k, and Newton and Euler's f = I a + v ×* I v (Featherstone 2008, 5.9) is linear in I.
So Table 5.1 holds with B_k in I's place, one column a parameter: that is the regressor of Atkeson,
An and Hollerbach ("Estimation of inertial parameters of manipulator loads and links", 1986).
Names are the book's: for body i, λ(i) is its parent, X[i] = i_X_λ(i), S its motion subspace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.model.parameters import inertial_permutation
from grid_core.reference.coordinates import fold_matrix, joint_rates
from grid_core.reference.joints import motion_subspace
from grid_core.reference.kinematics import body_transforms, forward_kinematics
from grid_core.reference.spatial import (
    apply,
    crf,
    crm,
    motion_transform,
    skew,
    solve,
    transpose,
)
from grid_plugins.regressor.structure import structure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grid_core.algorithm import Context
    from grid_core.model.types import Array, RobotModel

__all__ = [
    "BASIS",
    "forward_dynamics_parameter_gradient",
    "generalized_momentum_regressor",
    "inverse_dynamics_regressor",
    "inverse_dynamics_regressor_packed",
    "kinetic_energy_regressor",
    "momentum_regressor",
    "ordered",
    "potential_energy_regressor",
    "regressor_rows",
    "term_columns",
]


def _basis() -> Array:
    """∂I/∂π_k by k, [angular; linear] (2.63), shape (10, 6, 6)."""
    result = np.zeros((10, 6, 6))
    result[0, 3:, 3:] = np.eye(3)
    for k, e in enumerate(np.eye(3), start=1):
        result[k, :3, 3:], result[k, 3:, :3] = skew(e), skew(e).T
    for k, (i, j) in enumerate([(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)], start=4):
        result[k, i, j] = result[k, j, i] = 1.0
    return result


BASIS = _basis()
"""B_k in Pinocchio's order: m, m·c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the joint's origin."""


def inverse_dynamics_regressor(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return Y(q, q̇, q̈) with τ = Y π.

    Inputs: ``q`` (B, nq); ``qd`` and ``qdd`` (B, nv); ``gravity`` along the world's z [m/s²].

    Returns:
        ``Y`` (B, nv, p): ten columns a body, then nv for each of the options' terms.
    """
    model, qd, qdd = ctx.model, ctx["qd"], ctx["qdd"]
    X = body_transforms(model, ctx["q"])
    motion = _motion(model, X, qd, qdd, float(ctx["gravity"]))
    columns = [
        np.stack([apply(B, a) + apply(crf(v), apply(B, v)) for B in BASIS], axis=-1)
        for v, a in motion
    ]
    Y = ordered(ctx, _joint_space(model, X, columns, len(qd)))
    return {"Y": np.concatenate([Y, *term_columns(ctx, qd, qdd)], axis=2)}


def inverse_dynamics_regressor_packed(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return the entries of Y that are not 0 at every state (`structure`), (B, nnz)."""
    Y = inverse_dynamics_regressor(ctx)["Y"]
    return {"packed": Y[:, structure(ctx.model, ctx.options)]}


def regressor_rows(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return [Y_1 τ_1 Y_2 τ_2 ...], each row without the entries that are always 0."""
    Y, mask = inverse_dynamics_regressor(ctx)["Y"], structure(ctx.model, ctx.options)
    rows = [np.zeros((len(Y), 0))]
    for j, kept in enumerate(mask):
        rows += [Y[:, j, kept], ctx["tau"][:, j, None]]
    return {"rows": np.concatenate(rows, axis=1)}


def generalized_momentum_regressor(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return P(q, q̇) with M q̇ = P π: momenta B_k v, felt by the joints.

    Inputs: ``q`` (B, nq); ``qd`` (B, nv).

    Returns:
        ``P`` (B, nv, 10 nb).
    """
    model, qd = ctx.model, ctx["qd"]
    X = body_transforms(model, ctx["q"])
    columns = [np.stack([apply(B, v) for B in BASIS], axis=-1) for v in _velocities(ctx, X)]
    return {"P": ordered(ctx, _joint_space(model, X, columns, len(qd)))}


def momentum_regressor(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return H(q, q̇) with the robot's momentum H π, about the world's origin, world axes.

    Inputs: ``q`` (B, nq); ``qd`` (B, nv).

    Returns:
        ``H`` (B, 6, 10 nb), rows [linear; angular] [kg m/s; kg m²/s].
    """
    model, q = ctx.model, ctx["q"]
    T = forward_kinematics(model, q)
    H = np.zeros((len(q), 6, 10 * model.nb))
    for i, v in enumerate(_velocities(ctx, body_transforms(model, q))):
        own = np.stack([apply(B, v) for B in BASIS], axis=-1)
        carried = transpose(motion_transform(T[:, i])) @ own
        H[:, :, 10 * i : 10 * i + 10] = np.concatenate([carried[:, 3:], carried[:, :3]], axis=1)
    return {"H": ordered(ctx, H)}


def kinetic_energy_regressor(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return ∂T/∂π: ½ vᵀ B_k v of every body.

    Inputs: ``q`` (B, nq); ``qd`` (B, nv).

    Returns:
        ``dT`` (B, 10 nb).
    """
    q = ctx["q"]
    dT = np.zeros((len(q), 10 * ctx.model.nb))
    for i, v in enumerate(_velocities(ctx, body_transforms(ctx.model, q))):
        dT[:, 10 * i : 10 * i + 10] = 0.5 * np.einsum("bi,kij,bj->bk", v, BASIS, v)
    return {"dT": ordered(ctx, dT)}


def potential_energy_regressor(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return ∂V/∂π of V = -g Σ (m z + h·e_z), zero at the world's height 0.

    Inputs: ``q`` (B, nq); ``gravity`` along the world's z [m/s²].

    Returns:
        ``dV`` (B, 10 nb).
    """
    T = forward_kinematics(ctx.model, ctx["q"])
    dV = np.zeros((*T.shape[:2], 10))
    dV[:, :, 0], dV[:, :, 1:4] = T[:, :, 2, 3], T[:, :, 2, :3]
    dV *= -float(ctx["gravity"])
    return {"dV": ordered(ctx, dV.reshape(len(dV), 10 * ctx.model.nb))}


def forward_dynamics_parameter_gradient(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return ∂q̈/∂π: M q̈ + h = u differentiated by π gives M ∂q̈/∂π = -Y(q, q̇, q̈).

    Inputs: ``q`` (B, nq); ``qd`` and ``u`` (B, nv); ``f_ext`` (B, nb, 6) or None; ``gravity``.

    Returns:
        ``dqdd`` (B, nv, p).
    """
    q, qd, gravity = ctx["q"], ctx["qd"], ctx["gravity"]
    M = ctx.call("crba", q=q)["M"]
    h = ctx.call("nonlinear_effects", q=q, qd=qd, f_ext=ctx.get("f_ext"), gravity=gravity)["h"]
    qdd = solve(M, (ctx["u"] - h)[..., None])[..., 0]
    Y = ctx.call("inverse_dynamics_regressor", q=q, qd=qd, qdd=qdd, gravity=gravity)["Y"]
    return {"dqdd": -solve(M, Y)}


def ordered(ctx: Context[Array], columns: Array, axis: int = -1) -> Array:
    """Put each body's ten, along an axis, into the order that the options name."""
    places = np.array(inertial_permutation(ctx.options.parameter_order))
    bodies = 10 * np.arange(ctx.model.nb)
    result: Array = np.take(columns, (bodies[:, None] + places).ravel(), axis=axis)
    return result


def term_columns(ctx: Context[Array], qd: Array, qdd: Array) -> list[Array]:
    """Return what the options' terms add to Y: a diagonal matrix each, (B, nv, nv)."""
    along = {
        "viscous": qd,
        "coulomb": np.sign(qd),
        "offset": np.ones_like(qd),
        "rotor_inertia": qdd,
    }
    return [along[term][:, :, None] * np.eye(ctx.model.nv) for term in ctx.options.regressor_terms]


def _motion(
    model: RobotModel, X: Sequence[Array], qd: Array, qdd: Array, gravity: float
) -> list[tuple[Array, Array]]:
    """Return v and a of every body by Table 5.1, the root accelerating upwards for gravity."""
    S = [motion_subspace(j) for j in model.joints]
    rates, accelerations = joint_rates(model, qd), joint_rates(model, qdd)
    root = np.zeros((len(qd), 6)), np.tile([0.0, 0.0, 0.0, 0.0, 0.0, -gravity], (len(qd), 1))
    result: list[tuple[Array, Array]] = []
    for i, parent in enumerate(j.parent for j in model.joints):
        v0, a0 = root if parent < 0 else result[parent]
        vJ = rates[i] @ S[i].T
        v = apply(X[i], v0) + vJ
        a = apply(X[i], a0) + accelerations[i] @ S[i].T + apply(crm(v), vJ)
        result.append((v, a))
    return result


def _velocities(ctx: Context[Array], X: Sequence[Array]) -> list[Array]:
    qd = ctx["qd"]
    return [v for v, _ in _motion(ctx.model, X, qd, np.zeros_like(qd), 0.0)]


def _joint_space(
    model: RobotModel, X: Sequence[Array], columns: Sequence[Array], batch: int
) -> Array:
    """Carry each body's wrenches (B, 6, 10) to the root; return Gᵀ Sᵀ of them (B, nv, 10 nb)."""
    G = fold_matrix(model)
    ends = np.cumsum([0, *(j.nv for j in model.joints)])
    result = np.zeros((batch, model.nv, 10 * model.nb))
    for body, own in enumerate(columns):
        i, felt = body, own
        while i >= 0:
            joint = model.joints[i]
            share = G[ends[i] : ends[i + 1]].T @ (motion_subspace(joint).T @ felt)
            result[:, :, 10 * body : 10 * body + 10] += share
            felt, i = transpose(X[i]) @ felt, joint.parent
    return result
