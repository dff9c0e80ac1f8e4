"""Scalars with their first and second derivatives, batched over axis 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

if TYPE_CHECKING:
    from grid_core.model.types import Array

__all__ = ["Jet", "atan2_first", "atan2_second", "hypot"]


@frozen(eq=False)
class Jet:
    """A scalar with its gradient and its Hessian."""

    f: Array
    """Shape (B,)."""
    d: Array
    """Shape (B, n)."""
    dd: Array
    """Shape (B, n, n)."""

    def __neg__(self) -> Jet:
        return Jet(-self.f, -self.d, -self.dd)


def _outer(a: Array, b: Array) -> Array:
    return np.asarray(a[:, :, None] * b[:, None, :])


def hypot(x: Jet, y: Jet) -> Jet:
    """With r = √(x² + y²): r dr = x dx + y dy, and once more."""
    r = np.hypot(x.f, y.f)
    dr = (x.f[:, None] * x.d + y.f[:, None] * y.d) / r[:, None]
    second = _outer(x.d, x.d) + _outer(y.d, y.d) - _outer(dr, dr)
    second += x.f[:, None, None] * x.dd + y.f[:, None, None] * y.dd
    return Jet(r, dr, second / r[:, None, None])


def atan2_first(y: Jet, x: Jet) -> Array:
    """(x dy - y dx) / (x² + y²)."""
    square = x.f**2 + y.f**2
    return np.asarray((x.f[:, None] * y.d - y.f[:, None] * x.d) / square[:, None])


def atan2_second(y: Jet, x: Jet) -> Array:
    """The quotient rule on `atan2_first`."""
    first, square = atan2_first(y, x), (x.f**2 + y.f**2)[:, None, None]
    top = x.f[:, None, None] * y.dd - y.f[:, None, None] * x.dd
    top += _outer(y.d, x.d) - _outer(x.d, y.d)
    growth = 2.0 * (x.f[:, None] * x.d + y.f[:, None] * y.d)
    return np.asarray((top - _outer(first, growth)) / square)
