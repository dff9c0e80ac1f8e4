"""All fits to a log that was read, and how good they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.identification.adequacy import check_motion, excited
from grid_core.identification.least_squares import ordinary_fit, weighted_fit
from grid_core.identification.prior import Prior
from grid_core.identification.regressor import Layout, row_names
from grid_core.identification.result import IdentificationResult
from grid_core.identification.validation import consistent_problem, cross_validate
from grid_core.wording import listing

if TYPE_CHECKING:
    from grid_core.identification.base_parameters import BaseParameters
    from grid_core.identification.consistent import Stage
    from grid_core.identification.information import Information
    from grid_core.identification.least_squares import BaseFit
    from grid_core.identification.regressor import Regressor
    from grid_core.identification.validation import Validation
    from grid_core.model.types import Array, RobotModel

__all__ = ["estimate"]

_PRIOR_WEIGHTS = tuple(10.0**k for k in range(3, -7, -1))
"""Weights of the prior that cross-validation chooses from."""
_DEFAULT_WEIGHT = 1.0
"""The prior's weight where nothing can be held out: deviations of its own size are likely."""


def estimate(
    robot: Regressor,
    structure: BaseParameters,
    information: Information,
    method: str,
    prior_weight: float | None,
) -> IdentificationResult:
    """Fit a log in every way.

    Args:
        robot: whose log it is.
        structure: the robot's base parameters.
        information: the log; several folds are held out in turn.
        method: which fit the result's `parameters` are of.
        prior_weight: λ, or None to choose it.

    Raises:
        InputError: nothing moves, or too few samples.
    """
    model, rows = robot.model, row_names(robot.model)
    warnings = check_motion(robot.name, information, rows)
    base, information, unexcited = excited(robot.name, structure, information)
    total = information.total()
    fits = {"ols": ordinary_fit(total), "wls": weighted_fit(total)}
    prior = _prior(Layout.of(robot), information)
    validation = _validate(information, base, prior, fits["wls"], prior_weight)
    path = validation.path if validation else (prior_weight or _DEFAULT_WEIGHT,)
    problem = consistent_problem(total, fits["wls"], base, information.reference, prior)
    *_, stage = problem.path(path)

    reference = base.of(information.reference)
    estimates = {
        name: _nearest(base, prior, reference + fit.delta) for name, fit in fits.items()
    } | {"consistent": stage.parameters}
    tested = {"description": information.reference, **estimates}
    warnings += unexcited + _warnings(model, prior, stage, validation)
    return IdentificationResult(
        robot=robot.name,
        method=method,
        parameter_names=structure.names,
        body_names=tuple(body.name for body in model.bodies),
        row_names=rows,
        initial=information.reference,
        estimates=estimates,
        standard_deviations=np.sqrt(np.diagonal(problem.covariance(stage.point, stage.weight))),
        structure=structure,
        base=base,
        fits=fits,
        condition_number=fits["wls"].normal.condition,
        scaled_condition_number=fits["wls"].normal.scaled_condition,
        prior_weight=stage.weight,
        converged=stage.converged,
        rms={
            name: np.sqrt(total.residuals(base.of(values) - reference) / total.samples)
            for name, values in tested.items()
        },
        validation=validation,
        noise=fits["wls"].noise,
        white_noise=information.white_noise,
        samples=total.samples,
        excluded=information.excluded,
        trajectories=information.trajectories,
        repaired=prior.repaired,
        warnings=tuple(warnings),
    )


def _warnings(
    model: RobotModel, prior: Prior, stage: Stage, validation: Validation | None
) -> list[str]:
    warnings = []
    if prior.repaired:
        names = listing(model.bodies[i].name for i in prior.repaired)
        warnings.append(f"not physically consistent in the description, and made so: {names}")
    if not stage.converged:
        warnings.append("the consistent fit did not converge")
    if validation and not validation.converged:
        warnings.append("a consistent fit to all trajectories but some did not converge")
    return warnings


def _prior(layout: Layout, information: Information) -> Prior:
    total = information.total()
    torque = np.sqrt(total.torque / total.samples)
    return Prior.of(
        layout, information.reference, torque, information.speed, information.acceleration
    )


def _validate(
    information: Information,
    base: BaseParameters,
    prior: Prior,
    weighted: BaseFit,
    prior_weight: float | None,
) -> Validation | None:
    if len(information.folds) < 2:
        return None
    tried = _PRIOR_WEIGHTS if prior_weight is None else (prior_weight,)
    return cross_validate(information, base, prior, weighted.noise, tried)


def _nearest(base: BaseParameters, prior: Prior, beta: Array) -> Array:
    """Return parameters with these base parameters, nearest to the prior in its own scale."""
    M = prior.scaled(base.combinations)
    u = np.linalg.lstsq(M, beta - base.of(prior.parameters), rcond=None)[0]
    return prior.moved(u.astype(np.float64, copy=False))
