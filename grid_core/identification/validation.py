"""How well fits predict trajectories that they have not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from grid_core.identification.consistent import ConsistentProblem
from grid_core.identification.least_squares import (
    Normal,
    ordinary_delta,
    row_scale,
    weighted_fit,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grid_core.identification.base_parameters import BaseParameters
    from grid_core.identification.consistent import Stage
    from grid_core.identification.information import Information, Quadratic
    from grid_core.identification.least_squares import BaseFit
    from grid_core.identification.prior import Prior
    from grid_core.model.types import Array

__all__ = ["Validation", "consistent_problem", "cross_validate"]

_LEAST_NOISE = 1e-4
"""Least noise that a consistent fit reckons with, of the torques: no sensor has less, and made-up
torques without any would leave friction that is zero no room to be positive in double precision."""
_AS_GOOD = 1e-3
"""How much larger held-out errors may be for the sake of staying nearer to the description."""
_SETTLED = 1e-5
"""Gain of a tenfold lighter prior below which no lighter one is tried, if the unconstrained fit is
no better either."""


@frozen(eq=False)
class Validation:
    """Held-out errors: each fold's trajectories are predicted by fits to the other folds'."""

    folds: int
    rms: dict[str, Array]
    """Root mean square torque error by row, of ``description``, ``ols``, ``wls`` and
    ``consistent``, shape (nv,) [N m or N]."""
    rms_of_folds: dict[str, Array]
    """The same of each fold, shape (folds, nv)."""
    prior_weights: tuple[float, ...]
    """The weights of the prior that were tried, falling, until less changed nothing."""
    losses: Array
    """Mean square error of each, in units of the rows' noise, shape (len(prior_weights),)."""
    prior_weight: float
    """The greatest whose loss is within 0.1 % of the least."""
    converged: bool
    """Whether the consistent fits are at their minima; weights at which one is not are left out."""

    @property
    def path(self) -> tuple[float, ...]:
        """The weights that were tried down to the chosen one."""
        return self.prior_weights[: self.prior_weights.index(self.prior_weight) + 1]

    def to_dict(self) -> dict[str, Any]:
        """Return what a JSON document can hold."""
        return {
            "folds": self.folds,
            "rms": {name: values.tolist() for name, values in self.rms.items()},
            "rms_of_folds": {name: values.tolist() for name, values in self.rms_of_folds.items()},
            "prior_weights": list(self.prior_weights),
            "losses": self.losses.tolist(),
            "prior_weight": self.prior_weight,
            "converged": self.converged,
        }


def consistent_problem(
    data: Quadratic, fit: BaseFit, base: BaseParameters, reference: Array, prior: Prior
) -> ConsistentProblem:
    """State the consistent fit that belongs to a weighted one.

    Args:
        data: the samples.
        fit: their weighted fit.
        base: its base parameters.
        reference: π_ref, shape (p,).
        prior: the description's parameters.
    """
    noise = np.maximum(fit.noise, _LEAST_NOISE * row_scale(data))
    A, _ = data.normal(1.0 / noise**2)
    beta = base.of(reference) + fit.delta
    return ConsistentProblem(Normal.of(A).root, base.combinations, beta, prior)


def cross_validate(
    information: Information,
    base: BaseParameters,
    prior: Prior,
    noise: Array,
    prior_weights: Sequence[float],
) -> Validation:
    """Hold out each fold in turn.

    Args:
        information: the log; two folds or more.
        base: its base parameters.
        prior: the description's parameters.
        noise: standard deviation of each row, shape (nv,).
        prior_weights: weights of the prior to try, falling.
    """
    squares: dict[str, list[Array]] = {"description": [], "ols": [], "wls": []}
    paths: list[Iterator[Stage]] = []
    for k, held_out in enumerate(information.folds):
        train = information.total(leave_out=k)
        weighted = weighted_fit(train)
        squares["description"].append(held_out.residuals(np.zeros(base.rank)))
        squares["ols"].append(held_out.residuals(ordinary_delta(train)))
        squares["wls"].append(held_out.residuals(weighted.delta))
        problem = consistent_problem(train, weighted, base, information.reference, prior)
        paths.append(problem.path(prior_weights))
    tried, losses, converged = _lightened(information, base, noise, paths, squares["wls"])
    chosen = int(np.flatnonzero(losses <= (1.0 + _AS_GOOD) * np.min(losses))[0])
    squares["consistent"] = tried[chosen]
    samples = np.array([fold.samples for fold in information.folds])
    return Validation(
        folds=len(samples),
        rms={name: np.sqrt(np.sum(s, axis=0) / np.sum(samples)) for name, s in squares.items()},
        rms_of_folds={name: np.sqrt(np.array(s) / samples[:, None]) for name, s in squares.items()},
        prior_weights=tuple(prior_weights[: len(losses)]),
        losses=losses,
        prior_weight=prior_weights[chosen],
        converged=converged,
    )


def _lightened(
    information: Information,
    base: BaseParameters,
    noise: Array,
    paths: Sequence[Iterator[Stage]],
    unconstrained: Sequence[Array],
) -> tuple[list[list[Array]], Array, bool]:
    """Make the prior lighter as long as that helps, and as long as every fold's fit converges.

    Returns:
        For each weight that was tried the folds' held-out squares; their losses; whether the fits
        converged, which is False for the first weight only: later ones are then left out.
    """
    samples = sum(fold.samples for fold in information.folds)
    reference = base.of(information.reference)

    def loss(errors: Sequence[Array]) -> float:
        return float(np.mean(np.sum(errors, axis=0) / noise**2) / samples)

    tried: list[list[Array]] = []
    losses: list[float] = []
    converged = True
    for stages in zip(*paths, strict=True):
        converged = all(stage.converged for stage in stages)
        if not converged and tried:
            break
        deltas = [base.of(stage.parameters) - reference for stage in stages]
        pairs = zip(information.folds, deltas, strict=True)
        tried.append([held_out.residuals(delta) for held_out, delta in pairs])
        losses.append(loss(tried[-1]))
        settled = len(losses) > 1 and losses[-1] > (1.0 - _SETTLED) * losses[-2]
        if not converged or (settled and losses[-1] < (1.0 + _AS_GOOD) * loss(unconstrained)):
            break
    return tried, np.array(losses), converged or len(tried) > 1
