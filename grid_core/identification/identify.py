"""From a log to parameters: the recipe, from the top."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve

from grid_core.errors import InputError, OptionError
from grid_core.identification.base_parameters import base_parameters
from grid_core.identification.factors import independent_columns
from grid_core.identification.information import Accumulator
from grid_core.identification.least_squares import (
    Normal,
    ordinary_fit,
    row_scale,
    weighted_fit,
)
from grid_core.identification.prior import Prior
from grid_core.identification.regressor import Layout, row_names
from grid_core.identification.result import METHODS, IdentificationResult
from grid_core.identification.samples import Samples, checked, split_at_gaps
from grid_core.identification.validation import consistent_problem, cross_validate
from grid_core.wording import brief, listing, near

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from grid_core.identification.base_parameters import BaseParameters
    from grid_core.identification.information import Information
    from grid_core.identification.regressor import Regressor
    from grid_core.model.types import Array

__all__ = ["identify", "identify_stream"]

_SEGMENTS = 20
"""Trajectories that a log is cut into when nothing says where one ends."""
_CHUNK = 2**16
_PRIOR_WEIGHTS = tuple(10.0**k for k in range(3, -7, -1))
"""Weights of the prior that cross-validation chooses from."""
_DEFAULT_WEIGHT = 1.0
"""The prior's weight where nothing can be held out: deviations of its own size are likely."""
_EXCITED = 1e-5
"""What a column must have beside the others, of its length, to count as excited by a log."""


def identify(
    robot: Regressor,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    tau: ArrayLike,
    *,
    time: ArrayLike | None = None,
    trajectory: ArrayLike | None = None,
    method: str = "consistent",
    folds: int = 5,
    prior_weight: float | None = None,
    gravity: float = -9.81,
) -> IdentificationResult:
    """Identify a robot's inertial and friction parameters from measured motion and torques.

    Args:
        robot: a handle that was loaded with ``dtype="float64"`` and has
            `inverse_dynamics_regressor`; its `regressor_terms` are identified as well.
        q: configurations, shape (B, nq).
        qd: velocities, shape (B, nv) [rad/s or m/s].
        qdd: accelerations, shape (B, nv) [rad/s² or m/s²].
        tau: measured joint forces, shape (B, nv) [N m or N].
        time: when each sample was taken, in order, shape (B,) [s]; None if they do not follow
            each other.
        trajectory: which recording each sample is of, shape (B,), numbers or names. None: where
            time jumps, another begins; without jumps the log is cut into 20 parts.
        method: which estimate the result's `parameters` are: ``consistent``, ``wls`` or ``ols``.
        folds: how many groups of trajectories are held out in turn; 0 holds out none.
        prior_weight: λ > 0, how much the description's own parameters count where the log says
            little; None chooses the greatest that held-out trajectories do not speak against, or 1
            where none are.
        gravity: along the world's z [m/s²].

    Raises:
        InputError: arrays of the wrong shape, no samples, too few of them, or nothing that moves.
        OptionError: an unknown method, a number out of its range, or a handle in float32.
    """
    samples = Samples(q, qd, qdd, tau, time, trajectory)
    whole = checked(robot, samples)
    if whole.trajectory is None and len(whole):
        stretches = np.zeros(len(whole), dtype=np.int64)
        if whole.time is not None:
            stretches = split_at_gaps(whole.time)
        if not np.any(stretches):
            stretches = np.arange(len(whole)) * _SEGMENTS // len(whole)
        whole = evolve(whole, trajectory=stretches)
    chunks = (
        Samples(part.q, part.qd, part.qdd, part.tau, part.time, part.trajectory)
        for part in (whole.rows(slice(k, k + _CHUNK)) for k in range(0, len(whole), _CHUNK))
    )
    return identify_stream(
        robot, chunks, method=method, folds=folds, prior_weight=prior_weight, gravity=gravity
    )


def identify_stream(
    robot: Regressor,
    chunks: Iterable[Samples],
    *,
    method: str = "consistent",
    folds: int = 5,
    prior_weight: float | None = None,
    gravity: float = -9.81,
) -> IdentificationResult:
    """Identify as `identify` does, from a log that is read once and never kept.

    Args:
        robot: as for `identify`.
        chunks: parts of the log, of any length. A trajectory may go on in the next chunk, under
            the same name; a chunk without names is one of its own.
        method: as for `identify`, as are the others.
        folds: how many groups of trajectories are held out in turn; 0 holds out none.
        prior_weight: λ, or None.
        gravity: along the world's z [m/s²].

    Raises:
        InputError: arrays of the wrong shape, no samples, too few of them, or nothing that moves.
        OptionError: an unknown method, a number out of its range, or a handle in float32.
    """
    _check_options(method, folds, prior_weight, gravity)
    layout = Layout.of(robot)
    structure = base_parameters(robot, gravity=gravity)
    accumulator = Accumulator(robot, structure, folds=max(folds, 1), gravity=gravity)
    for chunk in chunks:
        accumulator.add(chunk)
    information = accumulator.finish()
    rows = row_names(robot.model)
    warnings = _check_motion(robot, information, rows)
    base, information = _excited(structure, information, warnings)
    total = information.total()
    _check_samples(robot, total.samples, base)

    ordinary, weighted = ordinary_fit(total), weighted_fit(total)
    torque = np.sqrt(total.torque / total.samples)
    prior = Prior.of(
        layout, information.reference, torque, information.speed, information.acceleration
    )
    validation, weight = None, prior_weight or _DEFAULT_WEIGHT
    if len(information.folds) > 1 and folds > 1:
        tried = _PRIOR_WEIGHTS if prior_weight is None else (prior_weight,)
        validation = cross_validate(information, base, prior, weighted.noise, tried)
        weight = validation.prior_weight
    problem = consistent_problem(weighted, base, information.reference, prior)
    (stage,) = problem.path((weight,))

    reference = base.of(information.reference)
    estimates = {
        "ols": _nearest(base, prior, reference + ordinary.delta),
        "wls": _nearest(base, prior, reference + weighted.delta),
        "consistent": stage.parameters,
    }
    deltas = {name: base.of(values) - reference for name, values in estimates.items()}
    deltas["description"] = np.zeros(base.rank)
    if prior.repaired:
        names = listing(robot.model.bodies[i].name for i in prior.repaired)
        warnings.append(f"not physically consistent in the description, and made so: {names}")
    if not stage.converged:
        warnings.append("the consistent fit did not converge")
    variances = np.diagonal(problem.covariance(stage.point, weight))
    return IdentificationResult(
        robot=robot.name,
        method=method,
        parameter_names=structure.names,
        body_names=tuple(body.name for body in robot.model.bodies),
        row_names=rows,
        initial=information.reference,
        estimates=estimates,
        standard_deviations=np.sqrt(variances),
        structure=structure,
        base=base,
        fits={"ols": ordinary, "wls": weighted},
        condition_number=weighted.normal.condition,
        scaled_condition_number=weighted.normal.scaled_condition,
        prior_weight=weight,
        converged=stage.converged,
        rms={n: np.sqrt(total.residuals(d) / total.samples) for n, d in deltas.items()},
        validation=validation,
        noise=weighted.noise,
        white_noise=information.white_noise,
        samples=total.samples,
        excluded=information.excluded,
        trajectories=information.trajectories,
        repaired=prior.repaired,
        warnings=tuple(warnings),
    )


def _check_options(
    method: object, folds: object, prior_weight: float | None, gravity: float
) -> None:
    if method not in METHODS:
        hint = near(method, METHODS) if isinstance(method, str) else ""
        raise OptionError(
            f"identify: there is no method {brief(method)}{hint}; there are {listing(METHODS)}"
        )
    if not isinstance(folds, int) or folds < 0:
        raise OptionError(f"identify: folds must be a count; got {brief(folds)}")
    if prior_weight is not None and not (np.isfinite(prior_weight) and prior_weight > 0.0):
        raise OptionError(f"identify: prior_weight must be positive; got {brief(prior_weight)}")
    if not np.isfinite(gravity):
        raise OptionError(f"identify: gravity must be finite; got {brief(gravity)}")


def _check_motion(robot: Regressor, information: Information, rows: Sequence[str]) -> list[str]:
    """Refuse a log in which nothing moves; return warnings of joints that do not."""
    torque = information.total().torque
    if not np.any(torque > 0.0):
        raise InputError(f"identification of {robot.name!r}: tau is zero in every sample")
    still = (information.speed == 0.0) & (information.acceleration == 0.0)
    if not np.all(still):
        if not np.any(still):
            return []
        names = listing(name for name, no in zip(rows, still, strict=True) if no)
        return [f"qd and qdd are zero in every sample: {names}"]
    if not information.moved:
        raise InputError(
            f"identification of {robot.name!r}: nothing moves: qd and qdd are zero and q is the "
            "same in every sample"
        )
    return ["qd and qdd are zero in every sample: what gravity feels is all that can be told"]


def _excited(
    structure: BaseParameters, information: Information, warnings: list[str]
) -> tuple[BaseParameters, Information]:
    """Keep the base parameters that the log tells apart, and warn of those that it does not."""
    total = information.total()
    A, _ = total.normal(1.0 / row_scale(total) ** 2)
    columns = independent_columns(Normal.of(A).root, _EXCITED)
    kept = np.array(columns.independent, dtype=np.intp)
    if len(kept) == structure.rank:
        return structure, information
    lost = [structure.names[structure.independent[k]] for k in range(structure.rank)]
    lost = [name for k, name in enumerate(lost) if k not in columns.independent]
    warnings.append(
        f"the log tells {len(kept)} of {structure.rank} base parameters apart; it does not excite "
        f"{listing(lost)}"
    )
    folds = tuple(fold.restricted(kept) for fold in information.folds)
    return structure.reduced(columns), evolve(information, folds=folds)


def _check_samples(robot: Regressor, samples: int, base: BaseParameters) -> None:
    if base.rank == 0:
        raise InputError(
            f"identification of {robot.name!r}: the torques of this log depend on no parameter"
        )
    if samples * robot.nv < base.rank + robot.nv:
        raise InputError(
            f"identification of {robot.name!r}: {samples} samples of {robot.nv} torques are too "
            f"few for {base.rank} base parameters"
        )


def _nearest(base: BaseParameters, prior: Prior, beta: Array) -> Array:
    """Return parameters with these base parameters, nearest to the prior in its own scale."""
    M = prior.scaled(base.combinations)
    u = np.linalg.lstsq(M, beta - base.of(prior.parameters), rcond=None)[0]
    return prior.moved(u.astype(np.float64, copy=False))
