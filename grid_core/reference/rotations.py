"""Rotation matrices, batched over axis 0. They map rotated coordinates to fixed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.reference.spatial import skew

if TYPE_CHECKING:
    from grid_core.model.types import Array

__all__ = ["axis_rotation", "quaternion_rotation", "rotation_quaternion"]


def axis_rotation(axis: Array, theta: Array) -> Array:
    """Return the rotation about a unit axis (Rodrigues' formula).

    Args:
        axis: unit vector, shape (3,).
        theta: angle [rad], shape (B,).

    Returns:
        R = 1 + sin θ [a] + (1 - cos θ) [a] [a] with [a] = skew(a), shape (B, 3, 3).
    """
    ax = skew(axis)
    sine, versine = np.sin(theta), 2.0 * np.sin(0.5 * theta) ** 2
    return np.eye(3) + sine[:, None, None] * ax + versine[:, None, None] * (ax @ ax)


def quaternion_rotation(quaternion: Array) -> Array:
    """Return the rotation of a unit quaternion.

    Args:
        quaternion: [x y z w], assumed to be of unit length, shape (B, 4).

    Returns:
        R = 1 + 2 w [u] + 2 [u] [u] with u = [x y z], shape (B, 3, 3).
    """
    ux = skew(quaternion[:, :3])
    return np.eye(3) + 2.0 * quaternion[:, 3, None, None] * ux + 2.0 * ux @ ux


def rotation_quaternion(R: Array) -> Array:
    """Return the unit quaternion of a rotation, the largest of four candidates.

    Args:
        R: rotation matrices, shape (..., 3, 3).

    Returns:
        [x y z w] with w ≥ 0, shape (..., 4).
    """
    trace = np.trace(R, axis1=-2, axis2=-1)
    candidates = np.empty((*trace.shape, 4, 4))  # multiples of the quaternion, as rows
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        candidates[..., i, i] = 1.0 + 2.0 * R[..., i, i] - trace
        candidates[..., i, j] = candidates[..., j, i] = R[..., i, j] + R[..., j, i]
        candidates[..., i, 3] = candidates[..., 3, i] = R[..., k, j] - R[..., j, k]
    candidates[..., 3, 3] = 1.0 + trace
    best = np.argmax(np.einsum("...ii->...i", candidates), axis=-1)[..., None, None]
    q = np.take_along_axis(candidates, best, axis=-2)[..., 0, :]
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    return np.asarray(np.where(q[..., 3:] < 0.0, -q, q))
