"""Forward dynamics, textbook form: batched NumPy in float64.

After R. Featherstone, Rigid Body Dynamics Algorithms (Springer, 2008), sections 6.1 and 7.3, in
the book's names: for body i, λ(i) is its parent, X[i] = i_X_λ(i), S its motion subspace, v and a
its spatial velocity and acceleration, IA and pA its articulated inertia and bias force, all in
body coordinates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.reference.coordinates import is_constant, joint_rates
from grid_core.reference.friction import joint_friction
from grid_core.reference.joints import motion_subspace
from grid_core.reference.kinematics import body_transforms
from grid_core.reference.singularity import singular_joint
from grid_core.reference.spatial import (
    apply,
    crf,
    crm,
    solve,
    spatial_inertia,
    swap_halves,
    transpose,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.algorithm import Context
    from grid_core.model.types import Array, RobotModel

__all__ = [
    "aba",
    "forward_dynamics",
    "forward_dynamics_gradient",
    "forward_dynamics_gradient_minv",
    "forward_dynamics_jacobians",
    "minv",
    "refuse",
]


def forward_dynamics(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return q̈ from M(q) q̈ = u - h(q, q̇) (6.1).

    Inputs: ``q`` (B, nq); ``qd`` and ``u`` (B, nv); ``f_ext`` (B, nb, 6) [linear; angular]
    [N, N m] acting on each body, in its joint frame and about that frame's origin, or None;
    ``gravity`` along the world's z [m/s²].

    Returns:
        ``qdd`` (B, nv) [rad/s² or m/s²].
    """
    M = ctx.call("crba", q=ctx["q"])["M"]
    h = ctx.call(
        "nonlinear_effects",
        q=ctx["q"],
        qd=ctx["qd"],
        f_ext=ctx.get("f_ext"),
        gravity=ctx["gravity"],
    )["h"]
    return {"qdd": solve(M, (ctx["u"] - h)[..., None])[..., 0]}


def forward_dynamics_gradient(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return [∂q̈/∂q | ∂q̈/∂q̇] at constant u: M q̈ + h = u differentiated.

    Inputs: as for `forward_dynamics`. A coordinate moves along its tangent: a floating or a
    spherical joint in its own moving frame.

    Returns:
        ``dqdd`` (B, nv, 2 nv).
    """
    dtau = ctx.call(
        "inverse_dynamics_gradient",
        q=ctx["q"],
        qd=ctx["qd"],
        qdd=forward_dynamics(ctx)["qdd"],
        f_ext=ctx.get("f_ext"),
        gravity=ctx["gravity"],
    )["dtau"]
    return {"dqdd": -solve(ctx.call("crba", q=ctx["q"])["M"], dtau)}


def forward_dynamics_gradient_minv(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return `forward_dynamics_gradient` and ∂q̈/∂u, which is `minv`."""
    return {**forward_dynamics_gradient(ctx), **minv(ctx)}


def forward_dynamics_jacobians(ctx: Context[Array]) -> dict[tuple[str, str], Array]:
    """Return ∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂u = M⁻¹ by (output, input), each (B, nv, nv)."""
    dq, dqd = np.split(forward_dynamics_gradient(ctx)["dqdd"], 2, axis=2)
    return {("qdd", "q"): dq, ("qdd", "qd"): dqd, ("qdd", "u"): minv(ctx)["Minv"]}


def minv(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return M(q)⁻¹.

    Inputs: ``q`` (B, nq).

    Returns:
        ``Minv`` (B, nv, nv), symmetric, both triangles.
    """
    M = ctx.call("crba", q=ctx["q"])["M"]
    inverse = solve(M, np.broadcast_to(np.eye(ctx.model.nv), M.shape))
    return {"Minv": 0.5 * (inverse + transpose(inverse))}


def aba(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return q̈ by the articulated-body algorithm (Table 7.1).

    The recursion needs joints that are free to accelerate independently. Joints that mimic
    couple bodies across the tree, so for such a robot this solves M q̈ = u - h instead.

    Inputs and output: as for `forward_dynamics`.
    """
    if ctx.model.has_mimic:
        return forward_dynamics(ctx)
    u = ctx["u"]
    if ctx.options.use_joint_dynamics:
        u = u - joint_friction(ctx.model, ctx["qd"])
    f_ext, gravity = ctx.get("f_ext"), float(ctx["gravity"])
    return {"qdd": _aba(ctx.model, ctx["q"], ctx["qd"], u, f_ext=f_ext, gravity=gravity)}


def refuse(ctx: Context[Array]) -> str | None:
    """Say which joint makes M(q) singular, or None when M⁻¹ exists."""
    return singular_joint(ctx.model, lambda q: ctx.call("crba", q=q)["M"])


def _aba(
    model: RobotModel, q: Array, qd: Array, tau: Array, *, f_ext: Array | None, gravity: float
) -> Array:
    """Table 7.1. A constant joint is one whose motion subspace has no column."""
    X = body_transforms(model, q)
    S = [motion_subspace(j)[:, : 0 if is_constant(j) else None] for j in model.joints]
    v, c = _velocities(model, X, qd)
    IA = [np.tile(spatial_inertia(b.inertia), (len(q), 1, 1)) for b in model.bodies]
    pA = [apply(crf(v[i]), apply(IA[i], v[i])) for i in range(model.nb)]
    if f_ext is not None:
        pA = [p - swap_halves(f_ext[:, i]) for i, p in enumerate(pA)]
    columns = [_columns(model, i) for i in range(model.nj)]
    U, D, u = ([np.empty(0)] * model.nj for _ in range(3))
    for i in reversed(range(model.nj)):
        U[i] = IA[i] @ S[i]
        D[i] = S[i].T @ U[i]
        u[i] = tau[:, columns[i]] - pA[i] @ S[i]
        parent = model.joints[i].parent
        if parent >= 0:
            UDinv = transpose(solve(D[i], transpose(U[i])))
            Ia = IA[i] - UDinv @ transpose(U[i])
            pa = pA[i] + apply(Ia, c[i]) + apply(UDinv, u[i])
            IA[parent] += transpose(X[i]) @ Ia @ X[i]
            pA[parent] = pA[parent] + apply(transpose(X[i]), pa)
    a0 = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, -gravity], (len(q), 1))
    a: list[Array] = []
    qdd = np.empty((len(q), model.nv))
    for i, parent in enumerate(j.parent for j in model.joints):
        ap = apply(X[i], a[parent] if parent >= 0 else a0) + c[i]
        rhs = u[i] - apply(transpose(U[i]), ap)
        qdd[:, columns[i]] = solve(D[i], rhs[..., None])[..., 0]
        a.append(ap + qdd[:, columns[i]] @ S[i].T)
    return qdd


def _velocities(model: RobotModel, X: list[Array], qd: Array) -> tuple[list[Array], list[Array]]:
    """Return v and the velocity-product accelerations c = crm(v) v_J of every body (c_J = 0)."""
    v: list[Array] = []
    c: list[Array] = []
    for joint, rate in zip(model.joints, joint_rates(model, qd), strict=True):
        vJ = rate @ motion_subspace(joint).T
        v.append(apply(X[joint.id], v[joint.parent]) + vJ if joint.parent >= 0 else vJ)
        c.append(apply(crm(v[-1]), vJ))
    return v, c


def _columns(model: RobotModel, i: int) -> slice:
    joint = model.joints[i]
    return slice(0, 0) if joint.v_start is None else slice(joint.v_start, joint.v_start + joint.nv)
