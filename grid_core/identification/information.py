"""All that a log of any length says about the base parameters, in a few small matrices.

The sum of squares ‖Y π - τ‖² is a quadratic function of β, so that its matrix is enough for every
fit. One is kept for each row of τ, so that rows can be weighted afterwards, and for each fold, so
that folds can be held out afterwards: the log is read once, in chunks, and never kept.

Squaring costs digits, so only independent columns enter, and the torques enter as what the
reference parameters leave of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from grid_core.errors import InputError, OptionError
from grid_core.identification.base_parameters import random_regressors
from grid_core.identification.samples import Checked, checked, finite, split_at_gaps

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from grid_core.identification.base_parameters import BaseParameters
    from grid_core.identification.regressor import Regressor
    from grid_core.identification.samples import Samples
    from grid_core.model.types import Array

__all__ = ["Accumulator", "Information", "Quadratic"]

_BLOCK_BYTES = 2**25
"""Size of the regressors that are evaluated at a time."""
_NORMAL_MAD = 1.4826
"""Standard deviation of a normal distribution, of its median absolute deviation."""


@frozen(eq=False)
class Quadratic:
    """Sums of squares of a set of samples, as functions of δ = β - β_ref."""

    rank: int
    """Number of base parameters."""
    columns: tuple[NDArray[np.intp], ...]
    """The base parameters that each row of τ depends on."""
    grams: tuple[Array, ...]
    """[X e]ᵀ [X e] of each row, with e = τ - X β_ref, shape (a + 1, a + 1) each."""
    samples: int
    torque: Array
    """Σ τ² of each row, shape (nv,)."""

    def normal(self, weights: Array) -> tuple[Array, Array]:
        """Return Σ w Xᵀ X, shape (rank, rank), and Σ w Xᵀ e, shape (rank,)."""
        A, b = np.zeros((self.rank, self.rank)), np.zeros(self.rank)
        for columns, gram, weight in zip(self.columns, self.grams, weights, strict=True):
            A[np.ix_(columns, columns)] += weight * gram[:-1, :-1]
            b[columns] += weight * gram[:-1, -1]
        return A, b

    def residuals(self, delta: Array) -> Array:
        """Return ‖X δ - e‖² of each row, shape (nv,)."""
        squares = np.empty(len(self.grams))
        for row, (columns, gram) in enumerate(zip(self.columns, self.grams, strict=True)):
            x = np.append(delta[columns], -1.0)
            squares[row] = max(float(x @ gram @ x), 0.0)
        return squares

    def restricted(self, kept: NDArray[np.intp]) -> Quadratic:
        """Return the same samples with some of the base parameters only."""
        place = {int(old): new for new, old in enumerate(kept)}
        columns, grams = [], []
        for own, gram in zip(self.columns, self.grams, strict=True):
            stay = [k for k, column in enumerate(own) if int(column) in place]
            columns.append(np.array([place[int(own[k])] for k in stay], dtype=np.intp))
            grams.append(gram[np.ix_([*stay, len(own)], [*stay, len(own)])])
        return Quadratic(len(kept), tuple(columns), tuple(grams), self.samples, self.torque)


@frozen(eq=False)
class Information:
    """What a log says, fold by fold."""

    folds: tuple[Quadratic, ...]
    trajectories: int
    excluded: int
    """Samples that were left out, for a NaN or an infinity."""
    reference: Array
    """π_ref, shape (p,)."""
    speed: Array
    """Root mean square of q̇, shape (nv,) [rad/s or m/s]."""
    acceleration: Array
    """Root mean square of q̈, shape (nv,) [rad/s² or m/s²]."""
    moved: bool
    """Whether any coordinate of q changed."""
    white_noise: Array | None
    """Standard deviation of what is not smooth in τ, shape (nv,); None without times."""

    def total(self, leave_out: int | None = None) -> Quadratic:
        """Return the sums of all folds but one."""
        parts = [fold for k, fold in enumerate(self.folds) if k != leave_out]
        first = parts[0]
        return Quadratic(
            first.rank,
            first.columns,
            tuple(np.sum(grams, axis=0) for grams in zip(*(f.grams for f in parts), strict=True)),
            sum(fold.samples for fold in parts),
            np.sum([fold.torque for fold in parts], axis=0),
        )


class Accumulator:
    """Reads a log chunk by chunk."""

    def __init__(
        self, robot: Regressor, base: BaseParameters, *, folds: int, gravity: float
    ) -> None:
        self._robot = robot
        self._gravity = gravity
        self._reference = _reference(robot)
        independent = np.array(base.independent, dtype=np.intp)
        self._active = _active_columns(robot, independent, gravity)
        self._columns = [independent[active] for active in self._active]
        self._rank = base.rank
        self._grams = [np.zeros((folds, len(a) + 1, len(a) + 1)) for a in self._active]
        self._counts = np.zeros(folds, dtype=np.int64)
        self._torque = np.zeros((folds, robot.nv))
        self._squares = np.zeros((2, robot.nv))
        self._lowest, self._highest = np.full(robot.nq, np.inf), np.full(robot.nq, -np.inf)
        self._noise, self._noise_count = np.zeros(robot.nv), 0
        self._fold_of: dict[Hashable, int] = {}
        self._chunks, self._excluded, self._timed = 0, 0, True
        row = robot.nv * len(self._reference) * 8
        self._block = max(1, _BLOCK_BYTES // max(row, 1))

    def add(self, samples: Samples) -> None:
        """Take in a chunk; a chunk without trajectories or times is a trajectory of its own.

        Raises:
            InputError: an array of the wrong shape.
        """
        chunk, missing = finite(checked(self._robot, samples))
        self._excluded += missing
        self._chunks += 1
        if not len(chunk):
            return
        folds, stretches = self._assign(chunk)
        self._difference(chunk, stretches)
        for start in range(0, len(chunk), self._block):
            block = slice(start, start + self._block)
            self._accumulate(chunk.rows(block), folds[block])

    def finish(self) -> Information:
        """Return what was read; folds that no trajectory fell into are left out.

        Raises:
            InputError: nothing was read.
        """
        total = int(np.sum(self._counts))
        if total == 0:
            why = f"all {self._excluded} have a NaN or an infinity" if self._excluded else "none"
            raise InputError(f"identification of {self._robot.name!r}: no samples to fit: {why}")
        used = np.flatnonzero(self._counts)
        speed, acceleration = np.sqrt(self._squares / total)
        return Information(
            folds=tuple(
                Quadratic(
                    self._rank,
                    tuple(self._active),
                    tuple(grams[k] for grams in self._grams),
                    int(self._counts[k]),
                    self._torque[k],
                )
                for k in used
            ),
            trajectories=len(self._fold_of),
            excluded=self._excluded,
            reference=self._reference,
            speed=speed,
            acceleration=acceleration,
            moved=bool(np.any(self._highest > self._lowest)),
            white_noise=(
                np.sqrt(self._noise / self._noise_count)
                if self._timed and self._noise_count
                else None
            ),
        )

    def _assign(self, chunk: Checked) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Return each sample's fold, trajectories in turns, and its uninterrupted stretch."""
        stretches = np.zeros(len(chunk), dtype=np.int64)
        if chunk.time is not None:
            stretches = split_at_gaps(chunk.time)
        if chunk.trajectory is None:
            keys = [(self._chunks, int(stretch)) for stretch in np.unique(stretches)]
            place = np.unique(stretches, return_inverse=True)[1]
        else:
            values, place = np.unique(chunk.trajectory, return_inverse=True)
            keys = list(values.tolist())
            stretches = 2 * np.cumsum(np.diff(place, prepend=place[0]) != 0) + stretches
        for key in keys:
            self._fold_of.setdefault(key, len(self._fold_of) % len(self._counts))
        return np.array([self._fold_of[key] for key in keys], dtype=np.intp)[place], stretches

    def _difference(self, chunk: Checked, stretches: NDArray[np.int64]) -> None:
        """Estimate the noise of τ from its second differences, in which smooth torques vanish."""
        if chunk.time is None:
            self._timed = False
            return
        whole = stretches[2:] == stretches[:-2]
        if not np.any(whole):
            return
        tau = chunk.tau
        second = np.abs(tau[2:] - 2.0 * tau[1:-1] + tau[:-2])[whole]
        deviation = _NORMAL_MAD * np.median(second, axis=0) / np.sqrt(6.0)
        self._noise += len(second) * deviation**2
        self._noise_count += len(second)

    def _accumulate(self, block: Checked, folds: NDArray[np.intp]) -> None:
        Y = np.asarray(
            self._robot.inverse_dynamics_regressor(
                block.q, block.qd, block.qdd, gravity=self._gravity
            ),
            dtype=np.float64,
        )
        left = block.tau - Y @ self._reference
        self._lowest = np.minimum(self._lowest, np.min(block.q, axis=0))
        self._highest = np.maximum(self._highest, np.max(block.q, axis=0))
        self._squares += [np.sum(block.qd**2, axis=0), np.sum(block.qdd**2, axis=0)]
        for fold in np.unique(folds):
            own = folds == fold
            which: slice | NDArray[np.bool_] = slice(None) if np.all(own) else own
            self._counts[fold] += int(np.count_nonzero(own))
            self._torque[fold] += np.sum(block.tau[which] ** 2, axis=0)
            for row, columns in enumerate(self._columns):
                X = np.empty((int(np.count_nonzero(own)), len(columns) + 1))
                X[:, :-1] = Y[which, row][:, columns]
                X[:, -1] = left[which, row]
                self._grams[row][fold] += X.T @ X


def _reference(robot: Regressor) -> Array:
    reference = np.asarray(robot.parameters(), dtype=np.float64)
    if reference.shape != (len(robot.parameter_names()),) or not np.all(np.isfinite(reference)):
        raise OptionError(
            f"identification of {robot.name!r}: parameters() must be {len(robot.parameter_names())}"
            f" finite numbers; got {reference.shape}"
        )
    return reference


def _active_columns(
    robot: Regressor, columns: NDArray[np.intp], gravity: float
) -> list[NDArray[np.intp]]:
    """Return which of some columns each row of Y depends on, seen on random states."""
    Y = random_regressors(robot, np.random.default_rng(1), 16, gravity)
    size = np.max(np.abs(Y[:, :, columns]), axis=0)
    return [np.flatnonzero(row > 0.0) for row in size]
