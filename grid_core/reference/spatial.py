"""Spatial vector algebra, batched over leading axes.

After R. Featherstone, Rigid Body Dynamics Algorithms (Springer, 2008), chapter 2; equation and
table numbers in this package are that book's. Spatial vectors are [angular; linear] in Plücker
coordinates. ``T_AB`` is a placement that maps coordinates in B to coordinates in A, and
``B_X_A`` the Plücker transform that maps motion vectors in A to motion vectors in B.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from grid_core.model.types import Array, Inertia

__all__ = [
    "apply",
    "crf",
    "crf_bar",
    "crm",
    "motion_transform",
    "skew",
    "solve",
    "spatial_inertia",
    "swap_halves",
    "transpose",
]


def skew(r: Array) -> Array:
    """Return [r], the matrix of the cross product with r (Table 2.1), shape (..., 3, 3)."""
    result = np.zeros((*r.shape[:-1], 3, 3))
    result[..., 0, 1], result[..., 0, 2] = -r[..., 2], r[..., 1]
    result[..., 1, 0], result[..., 1, 2] = r[..., 2], -r[..., 0]
    result[..., 2, 0], result[..., 2, 1] = -r[..., 1], r[..., 0]
    return result


def crm(v: Array) -> Array:
    """Return the cross product of v with motion vectors (2.31), shape (..., 6, 6)."""
    result = np.zeros((*v.shape[:-1], 6, 6))
    result[..., :3, :3] = result[..., 3:, 3:] = skew(v[..., :3])
    result[..., 3:, :3] = skew(v[..., 3:])
    return result


def crf(v: Array) -> Array:
    """Return the cross product of v with force vectors (2.32), shape (..., 6, 6)."""
    return -transpose(crm(v))


def crf_bar(f: Array) -> Array:
    """Return the matrix that takes v to crf(v) f, shape (..., 6, 6)."""
    result = np.zeros((*f.shape[:-1], 6, 6))
    result[..., :3, :3] = -skew(f[..., :3])
    result[..., :3, 3:] = result[..., 3:, :3] = -skew(f[..., 3:])
    return result


def motion_transform(T_AB: Array) -> Array:
    """Return B_X_A of a placement (2.24), shape (..., 6, 6).

    With E = R_ABᵀ and r the origin of B in A, B_X_A = [[E, 0], [-E [r], E]]. Forces go the other
    way by its transpose: f_A = B_X_Aᵀ f_B (2.13).
    """
    E = transpose(T_AB[..., :3, :3])
    result = np.zeros((*T_AB.shape[:-2], 6, 6))
    result[..., :3, :3] = result[..., 3:, 3:] = E
    result[..., 3:, :3] = -E @ skew(T_AB[..., :3, 3])
    return result


def spatial_inertia(inertia: Inertia) -> Array:
    """Return the spatial inertia about the joint frame's origin (2.63), shape (6, 6)."""
    m, mcx = inertia.mass, inertia.mass * skew(inertia.com)
    return np.block([[inertia.at_origin, mcx], [mcx.T, m * np.eye(3)]])


def apply(A: Array, x: Array) -> Array:
    """Return A x for a (batched) matrix and a batch of vectors, shape (B, rows)."""
    result: Array = (A @ x[..., None])[..., 0]
    return result


def solve(A: Array, B: Array) -> Array:
    """Return A⁻¹ B for a batch of matrices, shape (..., rows, columns of B)."""
    result: Array = np.linalg.solve(A, B).astype(np.float64, copy=False)
    return result


def transpose(A: Array) -> Array:
    """Return Aᵀ over the last two axes."""
    return np.swapaxes(A, -1, -2)


def swap_halves(x: Array) -> Array:
    """Turn [linear; angular] into [angular; linear], or back, along the last axis."""
    return np.concatenate([x[..., 3:], x[..., :3]], axis=-1)
