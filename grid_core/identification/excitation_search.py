"""The search for a motion whose base regressor is well conditioned.

Each joint's motion is a shape, a Fourier series of arbitrary size, scaled as far as its limits of
position, velocity and acceleration allow, and moved about in what room is left. So every point
of the search keeps to those limits; torques beyond theirs are penalised. The condition number is
approached through sums of powers of the eigenvalues, which are smooth where it is not:
ln cond ≈ (ln tr Gᵖ + ln tr G⁻ᵖ) / 2p, G = W_bᵀ W_b, with p from 1 to 32.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, frozen

from grid_core.identification.excitation_series import FourierSeries, rest_basis
from grid_core.identification.extra import require

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_core.identification.excitation_bounds import Bounds
    from grid_core.identification.excitation_entries import Entries
    from grid_core.model.types import Array

__all__ = ["Search", "Shapes", "condition_number"]

STAGES = ((1.0, 40), (4.0, 80), (32.0, 160))
"""Powers p, and iterations with each."""
_NORM = 12.0
"""Of the smooth maximum over a period."""
_PENALTY = 10.0
_STEP = 1e-6
"""Of finite differences [rad, m and their rates; and of the search's own variables]."""
_CLOSER = 8
"""Times as many instants are looked at when a motion is held to its limits."""
_ALMOST = 0.99
"""Of all: how large a shape starts, and of the room around it."""
_FLOOR = 1e-14
"""Of eigenvalues, of the largest: where rounding is left."""


@frozen
class Shapes:
    """How the search's variables become motions, at some instants of a period."""

    period: float
    harmonics: int
    instants: int
    limits: Bounds

    @property
    def rows(self) -> int:
        """Variables of a joint: its shape, how far it is scaled, and where it is."""
        return 2 * (self.harmonics - 1) + 2

    @property
    def time(self) -> Array:
        """The instants, shape (instants,) [s]."""
        return _instants(self.period, self.instants)

    def random(self, rng: np.random.Generator, *, stretched: bool) -> Array:
        """Return variables of a random shape in a random place, (rows, nv).

        Args:
            rng: the source of randomness.
            stretched: whether each joint moves as far as its limits allow, and not a random part
                of it.
        """
        joints = len(self.limits.middle)
        X = rng.normal(size=(self.rows, joints))
        part = np.full(joints, _ALMOST) if stretched else rng.uniform(0.0, _ALMOST, joints)
        X[-2] = np.log(part / (1.0 - part))
        X[-1] = np.arctanh(rng.uniform(-_ALMOST, _ALMOST, joints))
        return X

    def motion(self, X: Array) -> tuple[Array, Array, Array]:
        """Return q, q̇ and q̈, each shape (..., instants, nv); smooth in X.

        They are within the limits, but for the efforts.

        Args:
            X: the variables, shape (..., rows, nv).
        """
        q, qd, qdd = self.plain(X)
        scale, centre, middle = self.placed(X, (q, qd, qdd), _NORM)
        return scale * (q - middle) + centre, scale * qd, scale * qdd

    def series(self, X: Array, *, shrink: float = 1.0) -> FourierSeries:
        """Return a motion that reaches the limits, or a part of it.

        Args:
            X: the variables, shape (rows, nv).
            shrink: scales each joint's motion about its middle.
        """
        half = (self.rows - 2) // 2
        Za, Zb = rest_basis(self.harmonics)
        close = evolve(self, instants=_CLOSER * self.instants)
        scale, centre, middle = close.placed(X, close.plain(X), None, shrink)
        return FourierSeries(
            period=self.period,
            offset=(centre - scale * middle)[0],
            cosines=scale * (Za @ X[:half]),
            sines=scale * (Zb @ X[half : 2 * half]),
        )

    def plain(self, X: Array) -> tuple[Array, Array, Array]:
        """Return the shapes without size and place."""
        bases = _bases(self.period, self.harmonics, self.instants)
        q, qd, qdd = (basis @ X[..., :-2, :] for basis in bases)
        return q, qd, qdd

    def placed(
        self, X: Array, plain: tuple[Array, ...], norm: float | None, shrink: float = 1.0
    ) -> tuple[Array, Array, Array]:
        """Return each joint's scale, centre, and the middle of its shape, shape (..., 1, nv)."""
        q, qd, qdd = plain
        lim = self.limits
        middle = (q.max(axis=-2, keepdims=True) + q.min(axis=-2, keepdims=True)) / 2.0
        parts = [(q - middle) / lim.half, qd / lim.velocity]
        if np.any(np.isfinite(lim.acceleration)):
            parts.append(qdd / lim.acceleration)
        largest = _largest(np.abs(np.concatenate(parts, axis=-2)), norm)
        scale = shrink / (1.0 + np.exp(-X[..., -2:-1, :])) / largest
        room = lim.half - scale * np.abs(q - middle).max(axis=-2, keepdims=True)
        return scale, lim.middle + room * np.tanh(X[..., -1:, :]), middle


@functools.cache
def _bases(period: float, harmonics: int, instants: int) -> tuple[Array, Array, Array]:
    """Return what makes q, q̇ and q̈ of a shape's variables, (instants, 2 (harmonics - 1))."""
    Za, Zb = rest_basis(harmonics)
    none = np.zeros_like(Za)
    a, b = np.concatenate([Za, none], axis=1), np.concatenate([none, Zb], axis=1)
    series = FourierSeries(period, np.zeros(a.shape[1]), a, b)
    return series.at(_instants(period, instants))


def _instants(period: float, count: int) -> Array:
    return np.linspace(0.0, period, count, endpoint=False)


def condition_number(gram: Array) -> float:
    """Return σ_max / σ_min of a matrix W from its WᵀW."""
    values = np.linalg.eigvalsh(gram)
    return float(np.sqrt(values[-1] / max(values[0], np.finfo(float).tiny)))


@frozen
class Search:
    """Lets a robot's regressor judge motions."""

    entries: Entries
    columns: tuple[int, ...]
    """Those of the base parameters."""
    shapes: Shapes

    def improve(
        self, X: Array, stages: Any = STAGES, told: Callable[[], None] | None = None
    ) -> Array:
        """Return better variables, found by quasi-Newton steps from these."""
        (optimize,) = require("scipy.optimize")
        x = X.ravel()
        for power, iterations in stages:
            found = optimize.minimize(
                self._value,
                x,
                args=(power,),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": iterations},
            )
            x = found.x
            if told is not None:
                told()
        result: Array = x.reshape(X.shape)
        return result

    def judge(self, q: Array, qd: Array, qdd: Array) -> tuple[float, Array]:
        """Return a motion's condition number, and each joint's largest torque, of its limit."""
        entries = self.entries(q, qd, qdd)
        W = self.entries.chosen(self.columns).matrix(entries).reshape(-1, len(self.columns))
        largest = np.max(np.abs(self.entries.torques(entries)), axis=0)
        return condition_number(W.T @ W), largest / self.shapes.limits.effort

    def _value(self, x: Array, power: float) -> tuple[float, Array]:
        """Return what is minimised, and its gradient."""
        X = x.reshape(self.shapes.rows, -1)
        entries, moved = self._around(self.shapes.motion(X))
        instants = len(entries)
        chosen = self.entries.chosen(self.columns)
        W = chosen.matrix(entries)
        flat = W.reshape(-1, len(self.columns))
        value, slope = _log_condition(flat.T @ flat / instants, power)
        tau = self.entries.torques(entries)
        limit = self.shapes.limits.effort
        over = np.maximum(np.abs(tau) / limit - 1.0, 0.0)
        value += _PENALTY * float(np.sum(over**2))
        # The value's derivative by the entries, then by the motion.
        weights = self.entries.pull_torques(2.0 * _PENALTY * over * np.sign(tau) / limit)
        chosen.add(weights, 2.0 / instants * (W @ slope))
        dstates = np.einsum("jkz,kz->jk", moved - entries, weights) / _STEP
        return value, self._chain(X, dstates.reshape(3, -1, instants)).ravel()

    def _around(self, states: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        """Return Y at the states, and with each entry of q, q̇ and q̈ moved by a little."""
        stacked = np.concatenate(states, axis=1)
        count, width = stacked.shape
        moved = stacked + _STEP * np.eye(width)[:, None, :]
        every = np.concatenate([stacked[None], moved]).reshape(-1, width)
        entries = self.entries(*np.split(every, 3, axis=1)).reshape(width + 1, count, -1)
        return entries[0], entries[1:]

    def _chain(self, X: Array, dstates: Array) -> Array:
        """Return ∂f/∂X from ∂f/∂(q, q̇, q̈), shape (3, nv, instants); joints go side by side."""
        steps = _STEP * np.eye(len(X))[:, :, None]
        ahead, behind = self.shapes.motion(X + steps), self.shapes.motion(X - steps)
        gradient: Array = sum(
            np.einsum("rkj,jk->rj", a - b, slope)
            for a, b, slope in zip(ahead, behind, dstates, strict=True)
        ) / (2.0 * _STEP)
        return gradient


def _log_condition(gram: Array, power: float) -> tuple[float, Array]:
    """Return the smooth logarithm of a condition number, and its derivative by the matrix."""
    values, V = np.linalg.eigh(gram)
    values = np.maximum(values, _FLOOR * values[-1])
    up, down = power * np.log(values), -power * np.log(values)
    largest, least = np.logaddexp.reduce(up), np.logaddexp.reduce(down)
    slopes = (np.exp(up - largest) - np.exp(down - least)) / (2.0 * values)
    return float(largest + least) / (2.0 * power), (V * slopes) @ V.T


def _largest(x: Array, norm: float | None) -> Array:
    """Return the maximum over the instants, or the p-norm that approaches it from above."""
    top: Array = x.max(axis=-2, keepdims=True)
    if norm is None:
        return top
    safe = np.where(top > 0.0, top, 1.0)
    smooth: Array = safe * np.sum((x / safe) ** norm, axis=-2, keepdims=True) ** (1.0 / norm)
    return smooth
