"""A fit whose every body is one that could exist, drawn to the description where nothing is known.

Minimised is, over all parameters π,

    ½ ‖F (G π - β̂)‖² + λ Σ D(P_i ‖ P_i⁰) + λ Σ d(x_k, x_k⁰),

the weighted least-squares problem and, λ times, the Bregman divergence of the log-determinant
from the description, D(P ‖ P⁰) = tr(P P⁰⁻¹) - log det(P P⁰⁻¹) - 4 (Lee, Wensing & Park 2020,
Geometric robot dynamic identification: a convex programming approach), of the pseudo-inertias.
It is also a barrier, so that every P_i is positive definite. Its like in one dimension,
d(x, x⁰) = x/x⁰ - log(x/x⁰) - 1, keeps viscous and Coulomb friction and rotor inertias positive;
offsets have ½ ((x - x⁰)/s)².

The problem is convex: one minimum. A primal-dual interior-point method comes near it from any
start (`interior_point`), then Newton's method on the problem itself finishes, and its decrement
bounds what is left: the objective is λ times a self-concordant function (Nesterov & Nemirovskii
1994). In the coordinates P = L (1 + Σ u_k S_k) Lᵀ, x (1 + u), the divergences' Hessian is the unit
matrix wherever one is, so that each step is a ridge regression; and P keeps its factor, so that it
stays definite whatever the rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from grid_core.identification.cone_program import ConeProgram, Point, transposed
from grid_core.identification.interior_point import PrimalDual, Ridge, follow, starting_point
from grid_core.identification.prior import body_directions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grid_core.identification.prior import Prior
    from grid_core.model.types import Array

__all__ = ["ConsistentProblem", "Stage"]

_NEWTON_STEPS = 10
_NEAR = 0.3
"""Newton decrement, in units of √λ, below which the objective is within λ its square of the least
(Boyd & Vandenberghe 2004, Convex optimization, 9.6.3)."""
_CONVERGED = 1e-6
"""What may be left to gain, in the log-likelihood's unit."""
_EXACT = 1e-9
"""Decrement below which another step changes nothing."""
_TO_BOUNDARY = 0.95
_SUFFICIENT = 1e-4
_HALVINGS = 40


@frozen(eq=False)
class Stage:
    """The minimum for one weight of the prior."""

    weight: float
    """λ."""
    parameters: Array
    """π, shape (p,)."""
    point: Point
    objectives: tuple[float, ...]
    """Before the first of the last Newton steps and after each; never rising."""
    decrement: float
    """Newton decrement at the end, in units of √λ."""

    @property
    def converged(self) -> bool:
        """Whether this is the minimum: what is left to gain is a millionth at most."""
        return self.decrement < _NEAR and self.weight * self.decrement**2 < _CONVERGED


class ConsistentProblem:
    """One log's quadratic and one prior."""

    def __init__(self, root: Array, combinations: Array, beta: Array, prior: Prior) -> None:
        """State the problem.

        Args:
            root: F, shape (n, rank), with FᵀF the weighted normal matrix.
            combinations: G, shape (rank, p).
            beta: β̂, shape (rank,).
            prior: the description's parameters.
        """
        self.program = ConeProgram.of(root @ combinations, root @ beta, prior)

    def path(self, weights: Sequence[float]) -> Iterator[Stage]:
        """Minimise for each weight, from the greatest to the least, each from the one before.

        Args:
            weights: λ, positive and falling.
        """
        state = starting_point(self.program, weights[0])
        for weight in weights:
            state = follow(self.program, weight, state)
            stage = self.minimise(weight, state.point)
            state = PrimalDual(stage.point, state.duals, state.positive)
            yield stage

    def objective(self, point: Point, weight: float) -> float:
        """Return what is minimised."""
        residual = self.program.residual(point)
        return float(0.5 * residual @ residual + weight * self._divergence(point))

    def gradient(self, point: Point, weight: float) -> Array:
        """Return the objective's derivatives by u, shape (p,)."""
        residual = self.program.residual(point)
        gradient: Array = self._through(point).T @ residual + weight * self._pull(point)
        return gradient

    def minimise(self, weight: float, point: Point) -> Stage:
        """Minimise for one weight by Newton's method with a line search.

        Args:
            weight: λ > 0.
            point: where to start; near the minimum, or it may take long.
        """
        objectives = [self.objective(point, weight)]
        decrement = np.inf
        for _ in range(_NEWTON_STEPS):
            step, slope = self._newton_step(point, weight)
            decrement = float(np.sqrt(abs(slope) / weight))
            if decrement < _EXACT:
                break
            moved = self._search(point, weight, step, slope, objectives[-1])
            if moved is None:  # nothing is left to gain but rounding
                break
            point, value = moved
            objectives.append(value)
        parameters = self.program.parameters(point)
        return Stage(weight, parameters, point, tuple(objectives), decrement)

    def moved(self, point: Point, step: Array) -> Point:
        """Return the point at u, which must be inside."""
        bodies, positive, free = self.program.split(step)
        return Point(
            point.factors @ np.linalg.cholesky(np.eye(4) + bodies),
            point.positive * (1.0 + positive),
            point.free + self.program.free_scale * free,
        )

    def covariance(self, point: Point, weight: float) -> Array:
        """Return the covariance of π that the Hessian at a minimum stands for, shape (p, p).

        (Mᵀ M + λ)⁻¹, carried from u to π: what the log leaves open is as uncertain as the
        prior's weight says.
        """
        program = self.program
        _, singular, V = np.linalg.svd(self._through(point), full_matrices=True)
        squares = np.zeros(len(V))
        squares[: len(singular)] = singular**2
        spread = V.T / np.sqrt(squares + weight)
        blocks = spread[program.bodies].reshape(len(point.factors), 10, -1)
        moved = body_directions(point.factors) @ blocks
        spread[program.bodies] = moved.reshape(-1, len(V))
        spread[program.positive] *= point.positive[:, None]
        spread[program.free] *= program.free_scale[:, None]
        covariance: Array = spread @ spread.T
        return covariance

    def _newton_step(self, point: Point, weight: float) -> tuple[Array, float]:
        """Return the minimum of the quadratic model in u, shape (p,), and the slope towards it."""
        M, v, residual = self._through(point), self._pull(point), self.program.residual(point)
        root = np.sqrt(weight)
        u = Ridge(M / root).solve(-v, residual / root)
        return u, float((M.T @ residual + weight * v) @ u)

    def _search(
        self, point: Point, weight: float, step: Array, slope: float, value: float
    ) -> tuple[Point, float] | None:
        """Return a point along the step with a sufficiently smaller objective."""
        bodies, positive, _ = self.program.split(step)
        least = np.min(np.linalg.eigvalsh(bodies), initial=0.0)
        worst = float(min(least, np.min(positive, initial=0.0)))
        length = 1.0 if worst >= -_TO_BOUNDARY else _TO_BOUNDARY / -worst
        for _ in range(_HALVINGS):
            moved = self.moved(point, length * step)
            reached = self.objective(moved, weight)
            if reached < value and reached <= value + _SUFFICIENT * length * slope:
                return moved, reached
            length *= 0.5
        return None

    def _through(self, point: Point) -> Array:
        return self.program.through(point.factors, point.positive, self.program.free_scale)

    def _pull(self, point: Point) -> Array:
        """Return the divergences' derivatives by u, shape (p,)."""
        prior = self.program.prior
        ratio = self._ratio(point)
        return self.program.packed(
            transposed(ratio) @ ratio - np.eye(4),
            point.positive / prior.positive - 1.0,
            (point.free - prior.free) / self.program.free_scale,
        )

    def _ratio(self, point: Point) -> Array:
        """Return L⁰⁻¹ L of each body."""
        ratio = np.linalg.solve(self.program.prior.factors, point.factors)
        return ratio.astype(np.float64, copy=False)

    def _divergence(self, point: Point) -> float:
        prior = self.program.prior
        ratio = self._ratio(point)
        logs = np.log(np.abs(np.linalg.det(ratio)))
        bodies = np.sum(ratio**2) - 2.0 * np.sum(logs) - 4.0 * len(ratio)
        x = point.positive / prior.positive
        away = (point.free - prior.free) / self.program.free_scale
        return float(bodies + np.sum(x - np.log(x) - 1.0) + 0.5 * away @ away)
