"""The ten parameters of a body as a pseudo-inertia, and as log-Cholesky coordinates.

A body's parameters are π = (m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz), the inertia about the joint
frame's origin [kg, kg m, kg m²]. Its pseudo-inertia is

    P = [[Σ, m c], [m cᵀ, m]],   Σ = ½ tr(I) 1 - I,

linear in π, and positive definite exactly if some distribution of positive mass has these
parameters (Wensing, Kim & Slotine 2018, Linear matrix inequalities for physically consistent
inertial parameter identification).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.arrays import to_array
from grid_core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from grid_core.model.types import Array

__all__ = [
    "BASIS",
    "body_factors",
    "from_log_cholesky",
    "from_pseudo_inertia",
    "is_consistent",
    "log_cholesky",
    "log_cholesky_jacobian",
    "pseudo_inertia",
]

# Row and column of Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
_ROWS, _COLUMNS = (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)


def _orthonormal() -> Array:
    """Return an orthonormal basis of the symmetric 4×4 matrices, shape (10, 4, 4)."""
    basis = np.zeros((10, 4, 4))
    for k, (i, j) in enumerate(zip(*np.triu_indices(4), strict=True)):
        basis[k, i, j] = basis[k, j, i] = 1.0 if i == j else np.sqrt(0.5)
    return basis


BASIS = _orthonormal()
"""An orthonormal basis of the symmetric 4×4 matrices, shape (10, 4, 4)."""


def pseudo_inertia(parameters: ArrayLike) -> Array:
    """Return the pseudo-inertia of each body.

    Args:
        parameters: m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each, shape (..., 10).

    Returns:
        Symmetric matrices, shape (..., 4, 4).

    Raises:
        InputError: an array of another shape, or of something else than real numbers.
    """
    parameters = _taken("pseudo_inertia", "parameters", parameters, (10,))
    inertia = np.empty((*parameters.shape[:-1], 3, 3))
    inertia[..., _ROWS, _COLUMNS] = parameters[..., 4:]
    inertia[..., _COLUMNS, _ROWS] = parameters[..., 4:]
    P = np.empty((*parameters.shape[:-1], 4, 4))
    half_trace = 0.5 * np.trace(inertia, axis1=-2, axis2=-1)[..., None, None]
    P[..., :3, :3] = half_trace * np.eye(3) - inertia
    P[..., :3, 3] = P[..., 3, :3] = parameters[..., 1:4]
    P[..., 3, 3] = parameters[..., 0]
    return P


def from_pseudo_inertia(P: ArrayLike) -> Array:
    """Return the ten parameters of each pseudo-inertia, shape (..., 4, 4) to (..., 10).

    Raises:
        InputError: an array of another shape, or of something else than real numbers.
    """
    P = _taken("from_pseudo_inertia", "P", P, (4, 4))
    second = P[..., :3, :3]
    inertia = np.trace(second, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - second
    parameters: Array = np.empty((*P.shape[:-2], 10))
    parameters[..., 0] = P[..., 3, 3]
    parameters[..., 1:4] = P[..., :3, 3]
    parameters[..., 4:] = inertia[..., _ROWS, _COLUMNS]
    return parameters


def body_factors(parameters: Array) -> Array:
    """Return the lower triangle L of each consistent body, P = L Lᵀ, shape (..., 4, 4).

    Raises:
        numpy.linalg.LinAlgError: a body is not consistent.
    """
    return np.linalg.cholesky(pseudo_inertia(parameters)).astype(np.float64, copy=False)


def is_consistent(parameters: ArrayLike, margin: float = 0.0) -> NDArray[np.bool_]:
    """Say of each body whether its pseudo-inertia is positive definite, shape (..., 10) to (...).

    Args:
        parameters: m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each, shape (..., 10).
        margin: what the least eigenvalue must exceed; P is scaled to a unit diagonal, so that
            it has no unit and a finger counts like a torso.

    Raises:
        InputError: an array of another shape, or of something else than real numbers.
    """
    P = pseudo_inertia(_taken("is_consistent", "parameters", parameters, (10,)))
    diagonal = np.diagonal(P, axis1=-2, axis2=-1)
    positive = np.all(diagonal > 0.0, axis=-1)
    root = np.sqrt(np.where(positive[..., None], diagonal, 1.0))
    scaled = P / (root[..., :, None] * root[..., None, :])
    return np.logical_and(positive, np.linalg.eigvalsh(scaled)[..., 0] > margin)


def log_cholesky(parameters: ArrayLike) -> Array:
    """Return the log-Cholesky coordinates of consistent bodies, shape (..., 10) to (..., 10).

    θ = (α, d1, d2, d3, s12, s23, s13, t1, t2, t3) of the upper triangle U with P = U Uᵀ (Rucker &
    Wensing 2022, Smooth parameterization of rigid-body inertia, equation 13). Every θ is a
    consistent body: what optimises or draws at random needs no constraint.

    Raises:
        InputError: a body is not consistent, or an array of another shape, or of something else
            than real numbers.
    """
    parameters = _taken("log_cholesky", "parameters", parameters, (10,))
    flipped = pseudo_inertia(parameters)[..., ::-1, ::-1]
    try:
        U = np.linalg.cholesky(flipped)[..., ::-1, ::-1]
    except np.linalg.LinAlgError as error:
        raise InputError(
            f"log_cholesky: parameters{_first_impossible(parameters)} are of no possible body: "
            "the pseudo-inertia is not positive definite"
        ) from error
    scale = U[..., 3, 3]
    U = U / scale[..., None, None]
    theta: Array = np.empty(parameters.shape)
    theta[..., 0] = np.log(scale)
    theta[..., 1:4] = np.log(np.diagonal(U, axis1=-2, axis2=-1)[..., :3])
    theta[..., 4], theta[..., 5], theta[..., 6] = U[..., 0, 1], U[..., 1, 2], U[..., 0, 2]
    theta[..., 7:] = U[..., :3, 3]
    return theta


def from_log_cholesky(theta: ArrayLike) -> Array:
    """Return the parameters of log-Cholesky coordinates, shape (..., 10) to (..., 10).

    Raises:
        InputError: an array of another shape, or of something else than real numbers.
    """
    U = _triangle(_taken("from_log_cholesky", "theta", theta, (10,)))
    return from_pseudo_inertia(U @ np.swapaxes(U, -1, -2))


def log_cholesky_jacobian(theta: ArrayLike) -> Array:
    """Return ∂π/∂θ, shape (..., 10) to (..., 10, 10): dP = dU Uᵀ + U dUᵀ, exactly.

    Raises:
        InputError: an array of another shape, or of something else than real numbers.
    """
    theta = _taken("log_cholesky_jacobian", "theta", theta, (10,))
    U = _triangle(theta)
    scale = np.exp(theta[..., 0])[..., None, None]
    dU = np.zeros((*theta.shape[:-1], 10, 4, 4))
    dU[..., 0, :, :] = U
    for i in range(3):
        dU[..., 1 + i, i, i] = U[..., i, i]
        dU[..., 7 + i, i, 3] = scale[..., 0, 0]
    for k, (i, j) in enumerate(((0, 1), (1, 2), (0, 2))):
        dU[..., 4 + k, i, j] = scale[..., 0, 0]
    product = dU @ np.swapaxes(U, -1, -2)[..., None, :, :]
    return np.swapaxes(from_pseudo_inertia(product + np.swapaxes(product, -1, -2)), -1, -2)


def _taken(operation: str, name: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return an array whose last axes are of a shape."""
    array: Array = to_array(operation, name, value, np.dtype(np.float64))
    if array.shape[-len(shape) :] != shape:
        wanted = ", ".join(["...", *map(str, shape)])
        raise InputError(f"{operation}: {name} must be ({wanted}); got {array.shape}")
    return array


def _first_impossible(bodies: Array) -> str:
    """Return the index of a body that is not consistent; nothing if it is the only one."""
    if bodies.ndim == 1:
        return ""
    flat = pseudo_inertia(bodies.reshape(-1, 10))
    for k, P in enumerate(flat):
        try:
            np.linalg.cholesky(P)
        except np.linalg.LinAlgError:
            return str([int(i) for i in np.unravel_index(k, bodies.shape[:-1])])
    return ""


def _triangle(theta: Array) -> Array:
    """Return U, shape (..., 4, 4)."""
    U = np.zeros((*theta.shape[:-1], 4, 4))
    for i in range(3):
        U[..., i, i] = np.exp(theta[..., 1 + i])
        U[..., i, 3] = theta[..., 7 + i]
    U[..., 3, 3] = 1.0
    U[..., 0, 1], U[..., 1, 2], U[..., 0, 2] = theta[..., 4], theta[..., 5], theta[..., 6]
    triangle: Array = np.exp(theta[..., 0])[..., None, None] * U
    return triangle
