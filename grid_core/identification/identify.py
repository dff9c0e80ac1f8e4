"""From a log to parameters: the recipe, from the top."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve

from grid_core.errors import ArgumentError, OptionError
from grid_core.identification.base_parameters import base_parameters
from grid_core.identification.blas import one_blas_thread
from grid_core.identification.estimate import estimate
from grid_core.identification.information import Accumulator
from grid_core.identification.options import is_count, is_finite
from grid_core.identification.regressor import Layout
from grid_core.identification.result import METHODS, IdentificationResult
from grid_core.identification.samples import Samples, checked, split_at_gaps
from grid_core.wording import brief, listing, near

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from grid_core.identification.regressor import Regressor

__all__ = ["identify", "identify_stream"]

_SEGMENTS = 20
"""Trajectories that a log is cut into when nothing says where one ends."""
_CHUNK = 2**16


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
            `inverse_dynamics_regressor` and `regressor_gram`; its `regressor_terms` are
            identified as well.
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
        ArgumentError: `robot` is no handle.
        OptionError: an unknown method, a number out of its range, or a handle in float32.
    """
    Layout.of(robot)
    whole = checked(robot, Samples(q, qd, qdd, tau, time, trajectory))
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
        ArgumentError: `robot` is no handle, or `chunks` are no samples.
        OptionError: an unknown method, a number out of its range, or a handle in float32.
    """
    _check_options(method, folds, prior_weight, gravity)
    Layout.of(robot)  # refuses what is not in float64 before anything is computed
    if isinstance(chunks, Samples):
        chunks = (chunks,)
    if not hasattr(chunks, "__iter__"):
        raise ArgumentError(
            f"identification of {robot.name!r}: chunks must be an iterable of Samples, as "
            f"open_log gives it; got {brief(chunks)}"
        )
    with one_blas_thread():
        structure = base_parameters(robot, gravity=gravity)
        accumulator = Accumulator(robot, structure, folds=max(folds, 1), gravity=gravity)
        for chunk in chunks:
            accumulator.add(chunk)
        return estimate(robot, structure, accumulator.finish(), method, prior_weight)


def _check_options(
    method: object, folds: object, prior_weight: float | None, gravity: float
) -> None:
    if method not in METHODS:
        hint = near(method, METHODS) if isinstance(method, str) else ""
        raise OptionError(
            f"identify: there is no method {brief(method)}{hint}; there are {listing(METHODS)}"
        )
    if not is_count(folds, 0):
        raise OptionError(f"identify: folds must be a count; got {brief(folds)}")
    if prior_weight is not None and not (is_finite(prior_weight) and prior_weight > 0.0):
        raise OptionError(f"identify: prior_weight must be positive; got {brief(prior_weight)}")
    if not is_finite(gravity):
        raise OptionError(f"identify: gravity must be finite; got {brief(gravity)}")
