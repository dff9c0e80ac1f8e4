"""How well fits predict trajectories that they have not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from grid_core.identification.consistent import ConsistentProblem
from grid_core.identification.least_squares import ordinary_fit, weighted_fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.identification.base_parameters import BaseParameters
    from grid_core.identification.information import Information
    from grid_core.identification.least_squares import BaseFit
    from grid_core.identification.prior import Prior
    from grid_core.model.types import Array

__all__ = ["Validation", "consistent_problem", "cross_validate"]

_AS_GOOD = 1e-3
"""How much larger held-out errors may be for the sake of staying nearer to the description."""


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
    """The weights of the prior that were tried, falling."""
    losses: Array
    """Mean square error of each, in units of the rows' noise, shape (len(prior_weights),)."""
    prior_weight: float
    """The greatest whose loss is within 0.1 % of the least."""
    converged: bool
    """Whether all consistent fits are at their minima."""

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
    fit: BaseFit, base: BaseParameters, reference: Array, prior: Prior
) -> ConsistentProblem:
    """State the consistent fit that belongs to a weighted one.

    Args:
        fit: the weighted fit.
        base: its base parameters.
        reference: π_ref, shape (p,).
        prior: the description's parameters.
    """
    beta = base.of(reference) + fit.delta
    return ConsistentProblem(fit.normal.root, base.combinations, beta, prior)


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
    reference = base.of(information.reference)
    squares: dict[str, list[Array]] = {"description": [], "ols": [], "wls": []}
    tried: list[Array] = []
    converged = True
    for k, held_out in enumerate(information.folds):
        train = information.total(leave_out=k)
        weighted = weighted_fit(train)
        squares["description"].append(held_out.residuals(np.zeros(base.rank)))
        squares["ols"].append(held_out.residuals(ordinary_fit(train).delta))
        squares["wls"].append(held_out.residuals(weighted.delta))
        problem = consistent_problem(weighted, base, information.reference, prior)
        stages = list(problem.path(prior_weights))
        converged = converged and all(stage.converged for stage in stages)
        deltas = [base.of(stage.parameters) - reference for stage in stages]
        tried.append(np.array([held_out.residuals(delta) for delta in deltas]))
    samples = np.array([fold.samples for fold in information.folds])
    errors = np.sum(tried, axis=0)
    losses = np.mean(errors / noise**2, axis=1) / np.sum(samples)
    chosen = int(np.flatnonzero(losses <= (1.0 + _AS_GOOD) * np.min(losses))[0])
    squares["consistent"] = [fold[chosen] for fold in tried]
    return Validation(
        folds=len(samples),
        rms={name: np.sqrt(np.sum(s, axis=0) / np.sum(samples)) for name, s in squares.items()},
        rms_of_folds={name: np.sqrt(np.array(s) / samples[:, None]) for name, s in squares.items()},
        prior_weights=tuple(prior_weights),
        losses=losses,
        prior_weight=prior_weights[chosen],
        converged=converged,
    )
