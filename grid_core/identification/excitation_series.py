"""Periodic motions as Fourier series that start and end at rest."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from attrs import cmp_using, field, frozen

if TYPE_CHECKING:
    from grid_core.model.types import Array

__all__ = ["FourierSeries", "rest_basis"]

_by_value = cmp_using(eq=np.array_equal)


@frozen
class FourierSeries:
    """q̇(t) = Σₗ aₗ cos(l ω t) + bₗ sin(l ω t), integrated from an offset (Swevers et al. 1997).

    With Σ aₗ = 0 and Σ l bₗ = 0 a period starts and ends at rest, without acceleration.
    """

    period: float
    """[s]"""
    offset: Array = field(eq=_by_value, hash=False)
    """The mean position, shape (nv,) [rad or m]."""
    cosines: Array = field(eq=_by_value, hash=False)
    """a, shape (harmonics, nv) [rad/s or m/s]."""
    sines: Array = field(eq=_by_value, hash=False)
    """b, shape (harmonics, nv) [rad/s or m/s]."""

    def at(self, time: Array) -> tuple[Array, Array, Array]:
        """Return q, q̇ and q̈ at times [s], each shape (len(time), nv)."""
        rates = _rates(self.period, len(self.cosines))
        angle = np.outer(time, rates)
        C, S = np.cos(angle), np.sin(angle)
        a, b = self.cosines, self.sines
        scaled = rates[:, None]
        q = self.offset + S @ (a / scaled) - C @ (b / scaled)
        return q, C @ a + S @ b, C @ (b * scaled) - S @ (a * scaled)


@functools.cache
def rest_basis(harmonics: int) -> tuple[Array, Array]:
    """Return bases of the cosines and of the sines that start at rest.

    Returns:
        Two matrices of shape (harmonics, harmonics - 1) with orthonormal columns.
    """
    orders = np.arange(1.0, harmonics + 1.0)
    return _complement(np.ones(harmonics)), _complement(orders)


def _complement(v: Array) -> Array:
    """Return an orthonormal basis of what is at right angles to a vector."""
    basis: Array = np.linalg.svd(v[None])[2][1:].T
    return basis


def _rates(period: float, harmonics: int) -> Array:
    return np.linspace(1.0, harmonics, harmonics) * (2.0 * np.pi / period)
