"""All that a log of any length says about the base parameters, in a few small matrices.

The sum of squares ‖Y π - τ‖² is a quadratic function of π, so that its matrix is enough for every
fit. One is kept for each row of τ, so that rows can be weighted afterwards, and for each fold, so
that folds can be held out afterwards: the log is read once, in chunks, and never kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from grid_core.errors import ArgumentError, InputError
from grid_core.identification.samples import Checked, Samples, checked, finite, split_at_gaps
from grid_core.wording import brief

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from grid_core.gram import Gram
    from grid_core.identification.base_parameters import BaseParameters
    from grid_core.identification.regressor import Regressor
    from grid_core.model.types import Array

__all__ = ["Accumulator", "Information", "Quadratic"]

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

    @classmethod
    def of(cls, gram: Gram, independent: Sequence[int], reference: Array) -> Quadratic:
        """Take the base parameters' part of sums over all parameters.

        Args:
            gram: of Y and τ.
            independent: the columns of Y that stand for a base parameter each.
            reference: π_ref, shape (p,).
        """
        place = {column: k for k, column in enumerate(independent)}
        columns, grams = [], []
        for own, square in zip(gram.columns, gram.squares, strict=True):
            kept = [k for k, column in enumerate(own) if int(column) in place]
            columns.append(np.array([place[int(own[k])] for k in kept], dtype=np.intp))
            # Y, τ -> X, e
            change = np.zeros((len(square), len(kept) + 1))
            change[kept, range(len(kept))] = 1.0
            change[:, -1] = np.append(-reference[own], 1.0)
            grams.append(change.T @ square @ change)
        torque = np.array([square[-1, -1] for square in gram.squares])
        return cls(len(independent), tuple(columns), tuple(grams), gram.count, torque)

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
        self._independent = base.independent
        self._grams: list[Gram | None] = [None] * folds
        self._squares = np.zeros((2, robot.nv))
        self._lowest, self._highest = np.full(robot.nq, np.inf), np.full(robot.nq, -np.inf)
        self._noise, self._noise_count = np.zeros(robot.nv), 0
        self._fold_of: dict[Hashable, int] = {}
        self._chunks, self._excluded, self._timed = 0, 0, True

    def add(self, samples: Samples) -> None:
        """Take in a chunk; a chunk without trajectories or times is a trajectory of its own.

        Raises:
            ArgumentError: what is not a chunk.
            InputError: an array of the wrong shape.
        """
        if not isinstance(samples, Samples):
            raise ArgumentError(
                f"identification of {self._robot.name!r}: chunks must be Samples; "
                f"got {brief(samples)}"
            )
        chunk, missing = finite(checked(self._robot, samples))
        self._excluded += missing
        self._chunks += 1
        if not len(chunk):
            return
        folds, stretches = self._assign(chunk)
        self._difference(chunk, stretches)
        self._lowest = np.minimum(self._lowest, np.min(chunk.q, axis=0))
        self._highest = np.maximum(self._highest, np.max(chunk.q, axis=0))
        self._squares += [np.sum(chunk.qd**2, axis=0), np.sum(chunk.qdd**2, axis=0)]
        for fold in np.unique(folds):
            own = chunk.rows(folds == fold)
            self._grams[fold] = self._robot.regressor_gram(
                own.q, own.qd, own.qdd, own.tau, initial=self._grams[fold], gravity=self._gravity
            )

    def finish(self) -> Information:
        """Return what was read; folds that no trajectory fell into are left out.

        Raises:
            InputError: nothing was read.
        """
        grams = [gram for gram in self._grams if gram is not None]
        if not grams:
            why = (
                f"all {self._excluded} have a NaN or an infinity" if self._excluded else "none came"
            )
            raise InputError(f"identification of {self._robot.name!r}: no samples to fit: {why}")
        reference = np.asarray(self._robot.parameters(), dtype=np.float64)
        speed, acceleration = np.sqrt(self._squares / sum(gram.count for gram in grams))
        white = self._timed and self._noise_count > 0
        return Information(
            folds=tuple(Quadratic.of(gram, self._independent, reference) for gram in grams),
            trajectories=len(self._fold_of),
            excluded=self._excluded,
            reference=reference,
            speed=speed,
            acceleration=acceleration,
            moved=bool(np.any(self._highest > self._lowest)),
            white_noise=np.sqrt(self._noise / self._noise_count) if white else None,
        )

    def _assign(self, chunk: Checked) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Return each sample's fold, trajectories in turns, and its uninterrupted stretch."""
        stretches = np.zeros(len(chunk), dtype=np.int64)
        if chunk.time is not None:
            stretches = split_at_gaps(chunk.time)
        keys: list[Hashable]
        if chunk.trajectory is None:
            values, place = np.unique(stretches, return_inverse=True)
            keys = [(self._chunks, int(stretch)) for stretch in values]
        else:
            names, place = np.unique(chunk.trajectory, return_inverse=True)
            keys = list(names.tolist())
            stretches = stretches + np.cumsum(np.diff(place, prepend=place[0]) != 0)
        for key in keys:
            self._fold_of.setdefault(key, len(self._fold_of) % len(self._grams))
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
