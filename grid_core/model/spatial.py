"""Rotations and rigid transforms as plain arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.model.types import Array

__all__ = ["compose", "pose", "quaternion_matrix", "rpy_matrix"]


def rpy_matrix(roll: float, pitch: float, yaw: float) -> Array:
    """Return Rz(yaw)·Ry(pitch)·Rx(roll), shape (3, 3); angles in radians, fixed axes."""
    sr, cr = math.sin(roll), math.cos(roll)
    sp, cp = math.sin(pitch), math.cos(pitch)
    sy, cy = math.sin(yaw), math.cos(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def quaternion_matrix(x: float, y: float, z: float, w: float) -> Array:
    """Return the rotation of a unit quaternion [x, y, z, w], shape (3, 3)."""
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def pose(translation: Sequence[float], rotation: Array | None = None) -> Array:
    """Return the transform [R, p; 0, 1], shape (4, 4); without a rotation, R = 1."""
    T = np.eye(4)
    if rotation is not None:
        T[:3, :3] = rotation
    T[:3, 3] = translation
    return T


def compose(A: Array, B: Array) -> Array:
    """Return the transform A·B, shape (4, 4), the same to the last bit on every machine.

    A matrix product of NumPy is BLAS's, whose last bit depends on the processor (fused multiply-add
    or not), and a descriptor's identity covers every bit of a placement.
    """
    a, b = A.tolist(), B.tolist()
    rows = [
        [x[0] * b[0][j] + x[1] * b[1][j] + x[2] * b[2][j] + x[3] * b[3][j] for j in range(4)]
        for x in a
    ]
    return np.array(rows)
