"""A primal-dual interior-point method for the consistent fit.

With Z_i for λ P_i⁻¹, and z_k for λ / x_k, a minimum is where

    Mᵀ (M π - z) + λ c - Z = 0,   P_i Z_i = λ 1,   x_k z_k = λ,

c the divergences' linear part. Newton's method on these equations, in coordinates in which P_i and
Z_i are one diagonal matrix Λ (Nesterov & Todd 1997, Self-scaled barriers), moves along the cone's
boundary as freely as inside. The target of P_i Z_i falls to λ as Mehrotra's predictor allows, with
his corrector (1992, On the implementation of a primal-dual interior point method).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from attrs import frozen

from grid_core.identification.cone_program import ConeProgram, Point, transposed

if TYPE_CHECKING:
    from grid_core.model.types import Array

__all__ = ["PrimalDual", "Ridge", "follow", "starting_point"]

_MOST_ITERATIONS = 200
_CENTRED = 1e-6
"""Relative distance of P Z from λ 1 at which Newton's method on the primal problem takes over."""
_TO_BOUNDARY = 0.98
_REFINEMENTS = 2
_WORST_CONDITION = 1e10
"""Of matrices whose inverse is worked with, scaled to a unit diagonal."""
_SHORT = 0.5
"""A corrected step that cannot be made longer is compared with one that only centres."""
_CENTRING = 0.5
"""What a centring step makes of the mean of P Z."""
_WIDE = 1e-2
"""How far below the mean the least eigenvalue of P Z may fall, if it is not halved either."""
_SHORTENINGS = 5


@frozen(eq=False)
class PrimalDual:
    """A point and its dual, both strictly inside."""

    point: Point
    duals: Array
    """K of each body, Z = K Kᵀ, shape (nb, 4, 4)."""
    positive: Array
    """z, shape of x."""

    @property
    def centrality(self) -> float:
        """The least eigenvalue of all P Z and x z, of their mean."""
        singular = np.linalg.svd(transposed(self.duals) @ self.point.factors, compute_uv=False)
        squares = np.append(singular.ravel() ** 2, self.point.positive * self.positive)
        return float(np.min(squares) / np.mean(squares))


class _Direction(NamedTuple):
    """Changes of Λ by a primal and a dual step, each by column."""

    primal: Array
    dual: Array


def starting_point(program: ConeProgram, weight: float) -> PrimalDual:
    """Return the prior, with duals of the size of what pulls at it."""
    prior = program.prior
    M = program.through(prior.factors, prior.positive, program.free_scale)
    size = max(weight, float(np.max(np.abs(M.T @ program.residual(prior)))))
    duals = np.linalg.inv(transposed(prior.factors)).astype(np.float64)
    return PrimalDual(prior, np.sqrt(size) * duals, size / prior.positive)


def follow(program: ConeProgram, weight: float, start: PrimalDual) -> PrimalDual:
    """Return a point near the minimum for a weight λ of the prior.

    Args:
        program: the problem.
        weight: λ > 0.
        start: any point inside, such as the minimum for another weight.
    """
    state = start
    for _ in range(_MOST_ITERATIONS):
        step = _Step(program, weight, state)
        if step.centred:
            break
        state = step.taken()
    return state


class Ridge:
    """Solves (Mᵀ M + 1) u = push - Mᵀ residual in the space of the residual.

    u = push - Mᵀ y with (M Mᵀ + 1) y = M push + residual, refined. Where that matrix is so badly
    conditioned that refining cannot help, M = Rᵀ Qᵀ is factored instead: t = R y is where
    (1 + (R Rᵀ)⁻¹) t = Qᵀ push + R⁻ᵀ residual, which is the better conditioned the larger M is.
    """

    def __init__(self, M: Array) -> None:
        self._M = M
        inner = M @ M.T
        inner[np.diag_indices_from(inner)] += 1.0
        scale = 1.0 / np.sqrt(np.diagonal(inner))
        inner *= np.outer(scale, scale)
        inverse = np.linalg.inv(inner)
        condition = np.linalg.norm(inner, 1) * np.linalg.norm(inverse, 1)
        self._inverse = scale[:, None] * inverse * scale
        self._factors = _factored(M) if condition > _WORST_CONDITION else None

    def solve(self, push: Array, residual: Array) -> Array:
        """Return u, shape (p,)."""
        if self._factors is not None:
            Q, R_inverse_t, inverse = self._factors
            stepped: Array = push - Q @ (inverse @ (Q.T @ push + R_inverse_t @ residual))
            return stepped
        M = self._M
        right = M @ push + residual
        y = self._inverse @ right
        for _ in range(_REFINEMENTS):
            y = y + self._inverse @ (right - M @ (M.T @ y) - y)
        u: Array = push - M.T @ y
        return u


def _factored(M: Array) -> tuple[Array, Array, Array]:
    """Return Q, R⁻ᵀ and (1 + (R Rᵀ)⁻¹)⁻¹ for M = Rᵀ Qᵀ."""
    lengths = np.linalg.norm(M, axis=1)
    Q, R = np.linalg.qr((M / lengths[:, None]).T)
    R_inverse_t = np.linalg.inv(R).T / lengths
    inner = R_inverse_t @ R_inverse_t.T
    inner[np.diag_indices_from(inner)] += 1.0
    return Q, R_inverse_t, np.linalg.inv(inner)


class _Step:
    """One iteration from a point, in the coordinates in which it and its dual are Λ."""

    def __init__(self, program: ConeProgram, weight: float, state: PrimalDual) -> None:
        self._program, self._weight = program, weight
        point = state.point
        U, self._diagonal, Vt = np.linalg.svd(transposed(state.duals) @ point.factors)
        root = np.sqrt(self._diagonal)[:, None, :]
        self._R = point.factors @ transposed(Vt) / root
        self._R_inverse_t = state.duals @ U / root
        self._w = np.sqrt(point.positive / state.positive)
        self._ell = np.sqrt(point.positive * state.positive)
        self._free = point.free
        self._free_scale = program.free_scale / np.sqrt(weight)
        self._through = program.through(self._R, self._w, self._free_scale)
        self._residual = program.residual(point)
        prior = program.prior
        ratio = np.linalg.solve(prior.factors, self._R)
        self._linear = program.packed(
            weight * transposed(ratio) @ ratio,
            weight * self._w / prior.positive,
            (point.free - prior.free) / self._free_scale,
        )

    @property
    def _squares(self) -> Array:
        return np.concatenate([self._diagonal.ravel() ** 2, self._ell**2])

    @property
    def _centrality(self) -> float:
        return float(np.min(self._squares) / np.mean(self._squares))

    @property
    def centred(self) -> bool:
        """Whether P Z is λ 1, to a millionth."""
        away = np.max(np.abs(self._squares - self._weight), initial=0.0)
        return bool(away < _CENTRED * self._weight)

    def taken(self) -> PrimalDual:
        """Return the point after a step."""
        self._ridge = Ridge(self._through)
        mean = float(np.mean(self._squares))
        predicted = self._direction(self._weight, None)
        length = min(1.0, self._longest(predicted))
        reached = self._product(predicted, length) / self._squares.size
        target = max(self._weight, min(1.0, (max(reached, 0.0) / mean) ** 3) * mean)
        direction = self._direction(target, predicted)
        length = self._longest(direction)
        if length < _SHORT:
            # The corrector overshoots where P Z is far from any multiple of 1: centre first.
            centring = self._direction(max(self._weight, _CENTRING * mean), None)
            if self._longest(centring) > length:
                direction, length = centring, self._longest(centring)
        length = min(1.0, _TO_BOUNDARY * length)
        moved = self._moved(direction, length)
        # One product that is far below the others would hold all later steps back.
        for _ in range(_SHORTENINGS):
            if moved.centrality > min(_WIDE, 0.5 * self._centrality):
                break
            length *= 0.5
            moved = self._moved(direction, length)
        return moved

    def _direction(self, target: float, predicted: _Direction | None) -> _Direction:
        """Return Newton's step to P Z = target 1, corrected for the second order of another."""
        wanted = target - self._diagonal**2
        bodies = wanted[:, :, None] * np.eye(4)
        positive = target - self._ell**2
        if predicted is not None:
            dP, dx, _ = self._program.split(predicted.primal)
            dZ, dz, _ = self._program.split(predicted.dual)
            bodies = bodies - 0.5 * (dP @ dZ + dZ @ dP)
            positive = positive - dx * dz
        bodies = 2.0 * bodies / (self._diagonal[:, :, None] + self._diagonal[:, None, :])
        both = self._program.packed(bodies, positive / self._ell, np.zeros_like(self._free))
        u = self._ridge.solve(both + self._here() - self._linear, self._residual)
        return _Direction(u, both - u)

    def _here(self) -> Array:
        """Return Λ and l by column."""
        diagonal = self._diagonal[:, :, None] * np.eye(4)
        return self._program.packed(diagonal, self._ell, np.zeros_like(self._free))

    def _longest(self, direction: _Direction) -> float:
        """Return how far primal and dual can go before either meets the boundary."""
        root = np.sqrt(self._diagonal)
        least = 0.0
        for vector in direction:
            bodies, positive, _ = self._program.split(vector)
            relative = bodies / (root[:, :, None] * root[:, None, :])
            least = min(least, float(np.min(np.linalg.eigvalsh(relative), initial=0.0)))
            least = min(least, float(np.min(positive / self._ell, initial=0.0)))
        return np.inf if least == 0.0 else -1.0 / least

    def _product(self, direction: _Direction, length: float) -> float:
        """Return Σ tr(P Z) + Σ x z after a step; offsets have no dual."""
        product = (self._here() + length * direction.primal) * (
            self._here() + length * direction.dual
        )
        product[self._program.free] = 0.0
        return float(np.sum(product))

    def _moved(self, direction: _Direction, length: float) -> PrimalDual:
        dP, dx, df = self._program.split(length * direction.primal)
        dZ, dz, _ = self._program.split(length * direction.dual)
        diagonal = self._diagonal[:, :, None] * np.eye(4)
        point = Point(
            self._R @ np.linalg.cholesky(diagonal + dP),
            self._w * (self._ell + dx),
            self._free + self._free_scale * df,
        )
        duals = self._R_inverse_t @ np.linalg.cholesky(diagonal + dZ)
        return PrimalDual(point, duals, (self._ell + dz) / self._w)
