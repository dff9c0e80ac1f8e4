"""Derivatives of the regressor, textbook form: batched NumPy in float64.

Table 5.1 (Featherstone 2008) differentiated line by line with B_k = ∂I/∂π_k in the inertia's
place, for all coordinates and all ten parameters of a body at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.model.parameters import parameters
from grid_core.reference.coordinates import fold_matrix, joint_rates
from grid_core.reference.joints import motion_subspace
from grid_core.reference.kinematics import body_transforms
from grid_core.reference.spatial import apply, crf, crf_bar, crm, transpose
from grid_plugins.regressor.reference import BASIS, ordered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.algorithm import Context
    from grid_core.model.types import Array

__all__ = ["inverse_dynamics_regressor_gradient", "inverse_dynamics_regressor_gradient_whole"]


def inverse_dynamics_regressor_gradient(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return [∂(Y π)/∂q | ∂(Y π)/∂q̇].

    Inputs: ``q`` (B, nq); ``qd`` and ``qdd`` (B, nv); ``pi`` (B, p), or None for the robot's own;
    ``gravity`` along the world's z [m/s²].

    Returns:
        ``dtau`` (B, nv, 2 nv). A coordinate moves along its tangent.
    """
    options = ctx.options
    own = parameters(ctx.model, order=options.parameter_order, terms=options.regressor_terms)
    pi = ctx.get("pi")
    values = np.tile(own, (len(ctx["q"]), 1)) if pi is None else pi
    dY = inverse_dynamics_regressor_gradient_whole(ctx)["dY"]
    return {"dtau": np.einsum("bvpk,bp->bvk", dY, values)}


def inverse_dynamics_regressor_gradient_whole(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return [∂Y/∂q | ∂Y/∂q̇].

    Inputs: as for `inverse_dynamics_regressor_gradient`, without ``pi``.

    Returns:
        ``dY`` (B, nv, p, 2 nv).
    """
    model, batch, nv = ctx.model, len(ctx["q"]), ctx.model.nv
    X = body_transforms(model, ctx["q"])
    motion = _motion(ctx, X)
    G = fold_matrix(model)
    ends = np.cumsum([0, *(j.nv for j in model.joints)])
    rows = [G[ends[i] : ends[i + 1]] for i in range(model.nj)]
    still = np.zeros((6, nv))
    dY = np.zeros((batch, nv, 10 * model.nb, 2 * nv))
    for body, (v, a, dv, da) in enumerate(motion):
        # One parameter after the other: f = B a + v ×* B v, and its change.
        f = np.stack([apply(B, a) + apply(crf(v), apply(B, v)) for B in BASIS], axis=1)
        df = np.stack([B @ da + crf_bar(apply(B, v)) @ dv + crf(v) @ B @ dv for B in BASIS], axis=1)
        i, columns = body, slice(10 * body, 10 * body + 10)
        while i >= 0:
            joint = model.joints[i]
            S = motion_subspace(joint)
            dY[:, :, columns] += np.einsum("jv,jk,bpkx->bvpx", rows[i], S.T, df)
            # X[i]ᵀ f changes with the joint too, by X[i]ᵀ (J ×* f) for a motion J of it.
            moved = np.hstack([S @ rows[i], still])
            df = transpose(X[i])[:, None] @ (df + crf_bar(f) @ moved)
            f = (transpose(X[i])[:, None] @ f[..., None])[..., 0]
            i = joint.parent
    return {"dY": np.concatenate([ordered(ctx, dY, axis=2), *_of_terms(ctx)], axis=2)}


def _motion(ctx: Context[Array], X: list[Array]) -> list[tuple[Array, Array, Array, Array]]:
    """Return v, a and their derivatives (B, 6, 2 nv) of every body."""
    model, qd, qdd = ctx.model, ctx["qd"], ctx["qdd"]
    rates, accelerations = joint_rates(model, qd), joint_rates(model, qdd)
    G = fold_matrix(model)
    ends = np.cumsum([0, *(j.nv for j in model.joints)])
    none = np.zeros((len(qd), 6, 2 * model.nv))
    still = np.zeros((6, model.nv))
    gravity = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, -float(ctx["gravity"])], (len(qd), 1))
    root = np.zeros((len(qd), 6)), gravity, none, none
    result: list[tuple[Array, Array, Array, Array]] = []
    for i, joint in enumerate(model.joints):
        v0, a0, dv0, da0 = root if joint.parent < 0 else result[joint.parent]
        S = motion_subspace(joint)
        vJ = rates[i] @ S.T
        v_before, a_before = apply(X[i], v0), apply(X[i], a0)
        v = v_before + vJ
        a = a_before + accelerations[i] @ S.T + apply(crm(v), vJ)
        # J moves the joint by a unit of each coordinate. X[i] y then changes by (X[i] y) × J.
        J = S @ G[ends[i] : ends[i + 1]]
        moved, sped = np.hstack([J, still]), np.hstack([still, J])
        dv = X[i] @ dv0 + crm(v_before) @ moved + sped
        da = X[i] @ da0 + crm(a_before) @ moved + crm(v) @ sped - crm(vJ) @ dv
        result.append((v, a, dv, da))
    return result


def _of_terms(ctx: Context[Array]) -> list[Array]:
    """What joints add: of all terms only viscous friction has a slope, 1 by its own rate."""
    nv = ctx.model.nv
    blocks = []
    for term in ctx.options.regressor_terms:
        block = np.zeros((len(ctx["q"]), nv, nv, 2 * nv))
        if term == "viscous":
            block[:, np.arange(nv), np.arange(nv), nv + np.arange(nv)] = 1.0
        blocks.append(block)
    return blocks
