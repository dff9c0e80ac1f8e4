"""Rotation matrices, batched over axis 0. They map rotated coordinates to fixed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.reference.spatial import skew

if TYPE_CHECKING:
    from grid_core.model.types import Array

__all__ = ["axis_rotation", "quaternion_rotation"]


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
