"""How close is close, in double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from grid_core.model.types import Array

__all__ = [
    "assert_accelerations_close",
    "assert_close",
    "assert_slopes_close",
    "condition",
    "regular",
]

_EPS = float(np.finfo(np.float64).eps)


def assert_close(actual: Array, expected: Array, rtol: float = 1e-9, noise: float = 1e-12) -> None:
    """Require |x - y| ≤ rtol |y| + noise max|y| of every entry, problem by problem.

    Entries are held to ``rtol`` each, not only the largest of them: a finger's torque counts
    beside a base's weight. ``noise`` allows for what rounds off when large terms cancel.
    """
    assert actual.shape == expected.shape
    assert np.all(np.isfinite(actual))
    axes = tuple(range(1, expected.ndim))
    size = np.max(np.abs(expected), axis=axes, keepdims=True, initial=0.0)
    excess = np.abs(actual - expected) - rtol * np.abs(expected) - noise * size
    worst = np.max(np.abs(actual - expected), initial=0.0)
    assert np.all(excess <= 0.0), f"off by up to {worst:.3g} at {np.argwhere(excess > 0.0)[:5]}"


def assert_accelerations_close(
    actual: Array, expected: Array, M: Array, rtol: float = 1e-9
) -> None:
    """Compare q̈ (B, nv) or M⁻¹ (B, nv, nv) in the norm that the problem's condition speaks of.

    With D = diag M, entries are scaled by √D (radians and metres, base and finger alike) and
    ‖√D (x - y)‖ ≤ max(rtol, 1000 ε κ) ‖√D y‖ is required, κ the condition number of
    D^(-1/2) M D^(-1/2): no method can promise more than ε κ, and Pinocchio's recursive inverse
    has been seen to lose 125 ε κ (a floating iCub).
    """
    assert actual.shape == expected.shape
    root = np.sqrt(np.abs(np.einsum("bii->bi", M)))
    scale = root if actual.ndim == 2 else root[:, :, None] * root[:, None, :]
    tolerance = np.maximum(rtol, 1000.0 * _EPS * condition(M))
    for b in range(len(actual)):
        error = np.linalg.norm(scale[b] * (actual[b] - expected[b]))
        size = np.linalg.norm(scale[b] * expected[b])
        assert error <= tolerance[b] * size, f"{error / size:.3g} exceeds {tolerance[b]:.3g}"


def assert_slopes_close(
    actual: Array,
    expected: Array,
    M: Array,
    power: float,
    rtol: float = 1e-9,
    *,
    lost: float = 0.0,
    noise: float = 1e-13,
) -> None:
    """Compare derivatives [∂/∂q | ∂/∂q̇] (B, nv, 2 nv), each half in a norm without units.

    With D = diag M an acceleration is scaled by √D and a force by 1/√D (that is `power`, ½ or
    -½), and a coordinate that is moved by 1/√D, so that radians and metres, base and finger
    count alike: ‖D^power (X - Y) D^(-½)‖ ≤ max(rtol, lost κ) ‖D^power Y D^(-½)‖ is required, κ
    as for accelerations, with `noise` of 1 and both halves for what
    rounds off.
    """
    assert actual.shape == expected.shape
    nv = M.shape[-1]
    root = np.sqrt(np.abs(np.einsum("bii->bi", M)))
    root = np.where(root > 0.0, root, 1.0)
    scale = root[:, :, None] ** (2.0 * power) / root[:, None, :]
    tolerance = np.maximum(rtol, lost * condition(M)) if lost else np.full(len(M), rtol)
    scale = np.concatenate([scale, scale], axis=2)
    floor = noise * (1.0 + np.linalg.norm(scale * expected, axis=(1, 2)))
    for half in (slice(0, nv), slice(nv, 2 * nv)):
        error = np.linalg.norm((scale * (actual - expected))[..., half], axis=(1, 2))
        size = np.linalg.norm((scale * expected)[..., half], axis=(1, 2))
        worst = np.max(error - tolerance * size - floor, initial=0.0)
        assert worst <= 0.0, f"{error / size} exceeds {tolerance}"


def condition(M: Array) -> Array:
    """Return the condition number of each M scaled to a unit diagonal, shape (B,)."""
    if M.shape[-1] == 0:
        return np.ones(len(M))
    root = np.sqrt(np.abs(np.einsum("bii->bi", M)))
    root = np.where(root > 0.0, root, 1.0)
    return np.asarray(np.linalg.cond(M / (root[:, :, None] * root[:, None, :])))


def regular(M: Array) -> bool:
    """Say whether M can be inverted with any digit left."""
    return bool(np.all(condition(M) < 1e13))
