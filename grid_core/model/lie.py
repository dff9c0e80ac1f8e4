"""Exponential and logarithm of rotations and rigid motions, batched, safe at 0 and near π.

Quaternions are [x, y, z, w]. Rotation vectors and twists are in the local (body) frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from grid_core.model.types import Array

__all__ = [
    "left_jacobian",
    "left_jacobian_inverse",
    "quaternion_conjugate",
    "quaternion_exp",
    "quaternion_log",
    "quaternion_product",
    "quaternion_rotate",
]

_SMALL = 1e-2
"""Below this angle [rad] the coefficients come from their series, exact there to rounding."""


def quaternion_product(a: Array, b: Array) -> Array:
    """Return a ⊗ b, shapes (..., 4)."""
    av, aw = a[..., :3], a[..., 3:]
    bv, bw = b[..., :3], b[..., 3:]
    vector = aw * bv + bw * av + np.cross(av, bv)
    scalar = aw * bw - np.sum(av * bv, axis=-1, keepdims=True)
    return np.concatenate([vector, scalar], axis=-1)


def quaternion_conjugate(q: Array) -> Array:
    """Return the inverse of unit quaternions, shape (..., 4)."""
    return np.multiply(q, [-1.0, -1.0, -1.0, 1.0])


def quaternion_rotate(q: Array, p: Array) -> Array:
    """Return R(q)·p for unit quaternions (..., 4) and vectors (..., 3)."""
    u, w = q[..., :3], q[..., 3:]
    t = 2.0 * np.cross(u, p)
    return p + w * t + np.cross(u, t)


def quaternion_exp(omega: Array) -> Array:
    """Return the rotation by a rotation vector [rad]: (..., 3) → (..., 4)."""
    half = np.linalg.norm(omega, axis=-1, keepdims=True) / 2.0
    return np.concatenate([0.5 * np.sinc(half / np.pi) * omega, np.cos(half)], axis=-1)


def quaternion_log(q: Array) -> Array:
    """Return the shortest rotation vector [rad] of unit quaternions: (..., 4) → (..., 3)."""
    q = np.where(q[..., 3:] < 0.0, -q, q)
    vector, w = q[..., :3], q[..., 3:]
    s = np.linalg.norm(vector, axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(s, w)
    safe = np.where(s > 0.0, s, 1.0)
    return np.where(s > 0.0, angle / safe, 2.0) * vector


def left_jacobian(omega: Array, x: Array) -> Array:
    """Return V(ω)·x, where exp of the twist [x; ω] translates by it; shapes (..., 3)."""
    theta = np.linalg.norm(omega, axis=-1, keepdims=True)
    small = theta < _SMALL
    t = np.where(small, 1.0, theta)
    t2 = theta * theta
    a = np.where(small, 0.5 - t2 / 24.0 + t2 * t2 / 720.0, 2.0 * (np.sin(t / 2.0) / t) ** 2)
    b = np.where(small, 1.0 / 6.0 - t2 / 120.0 + t2 * t2 / 5040.0, (t - np.sin(t)) / t**3)
    return _quadratic(omega, x, a, b)


def left_jacobian_inverse(omega: Array, x: Array) -> Array:
    """Return V(ω)⁻¹·x for rotations by at most π; shapes (..., 3)."""
    theta = np.linalg.norm(omega, axis=-1, keepdims=True)
    small = theta < _SMALL
    t = np.where(small, 1.0, theta)
    t2 = theta * theta
    b = np.where(
        small,
        1.0 / 12.0 + t2 / 720.0 + t2 * t2 / 30240.0,
        (1.0 - t / 2.0 / np.tan(t / 2.0)) / (t * t),
    )
    return _quadratic(omega, x, np.full_like(b, -0.5), b)


def _quadratic(omega: Array, x: Array, a: Array, b: Array) -> Array:
    """Return (1 + a·[ω] + b·[ω]²)·x."""
    once = np.cross(omega, x)
    return x + a * once + b * np.cross(omega, once)
