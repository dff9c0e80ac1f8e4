"""Sums of squares of a linear model τ = Y π over any number of samples.

Least squares needs of the samples only YᵀY, Yᵀτ and τᵀτ. They are kept for each row of τ apart,
over the columns that the row has, so that rows can be weighted afterwards and sums of two logs
added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve, field, frozen

from grid_core.arrays import to_array
from grid_core.errors import ArgumentError, InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from grid_core.model.types import Array

__all__ = ["RANK_TOLERANCE", "Gram"]

RANK_TOLERANCE = 1e-12
"""Part of the largest eigenvalue, columns scaled to one length, that counts as rounding."""


@frozen(eq=False)
class Gram:
    """What a log says about π by least squares; a few small matrices, whatever its length."""

    names: tuple[str, ...]
    """What each column of Y stands for, p of them."""
    columns: tuple[NDArray[np.intp], ...]
    """The columns that each row of τ depends on, a_j of them."""
    squares: tuple[Array, ...] = field(repr=False)
    """[Y_j τ_j]ᵀ [Y_j τ_j] of each row j, shape (a_j + 1, a_j + 1)."""
    weights: Array = field(repr=False)
    """What the square of each row counts, shape (nv,)."""
    count: int
    """Samples that were added."""

    @classmethod
    def zeros(cls, names: tuple[str, ...], columns: tuple[NDArray[np.intp], ...]) -> Gram:
        """Return the sums over no sample, every row counting 1."""
        squares = tuple(np.zeros((len(c) + 1, len(c) + 1)) for c in columns)
        return cls(names, columns, squares, np.ones(len(columns)), 0)

    @property
    def YtY(self) -> Array:  # noqa: N802 - the name of what it is
        """Σ Yᵀ W Y, shape (p, p)."""
        result = np.zeros((len(self.names), len(self.names)))
        for columns, square, weight in self._rows():
            result[np.ix_(columns, columns)] += weight * square[:-1, :-1]
        return result

    @property
    def Yttau(self) -> Array:  # noqa: N802 - the name of what it is
        """Σ Yᵀ W τ, shape (p,)."""
        result = np.zeros(len(self.names))
        for columns, square, weight in self._rows():
            result[columns] += weight * square[:-1, -1]
        return result

    @property
    def tautau(self) -> float:
        """Σ τᵀ W τ."""
        return float(sum(weight * square[-1, -1] for _, square, weight in self._rows()))

    def weighted(self, weights: ArrayLike) -> Gram:
        """Return the same sums with other weights of the rows' squares.

        Args:
            weights: at least 0 each, shape (nv,); 1/σ² of each row's noise is the best.

        Raises:
            InputError: they are not as many as the rows, or no numbers, not finite, or negative.
        """
        array = _vector("weighted", "weights", weights, "nv", len(self.weights)).copy()
        if not np.all(np.isfinite(array) & (array >= 0.0)):
            raise InputError("weighted: weights must be finite and at least 0")
        return evolve(self, weights=array)

    def __add__(self, other: Gram) -> Gram:
        """Return the sums over both logs.

        Raises:
            ArgumentError: they are of other parameters, or weighted otherwise.
        """
        if not isinstance(other, Gram):
            return NotImplemented
        if self.names != other.names:
            raise ArgumentError("sums of other parameters cannot be added: the robots differ")
        if not np.array_equal(self.weights, other.weights):
            raise ArgumentError(
                "sums with other weights cannot be added; give both the same by weighted()"
            )
        squares = tuple(a + b for a, b in zip(self.squares, other.squares, strict=True))
        return evolve(self, squares=squares, count=self.count + other.count)

    def residuals(self, parameters: ArrayLike) -> Array:
        """Return Σ (Y_j π - τ_j)² of each row, without weights, shape (nv,).

        Raises:
            InputError: parameters of another shape, or no numbers.
        """
        pi = _vector("residuals", "parameters", parameters, "p", len(self.names))
        result = np.empty(len(self.columns))
        for row, (columns, square, _) in enumerate(self._rows()):
            x = np.append(pi[columns], -1.0)
            result[row] = max(float(x @ square @ x), 0.0)
        return result

    def solve(self, prior: ArrayLike | None = None, tolerance: float = RANK_TOLERANCE) -> Array:
        """Return the π that fits best; where the log does not decide, the nearest to a prior.

        Columns are scaled to one length first, and distance is in parameters so scaled: the
        minimum-norm solution of the scaled problem.

        Args:
            prior: where to start from, shape (p,); None: zero.
            tolerance: eigenvalues of the scaled YᵀY up to this part of the largest are rounding,
                and their directions undecided.

        Raises:
            InputError: a prior of another shape, or no numbers.
        """
        A, start = self.YtY, np.zeros(len(self.names))
        if prior is not None:
            start = _vector("solve", "prior", prior, "p", len(self.names))
        lengths = np.sqrt(np.diag(A))
        scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
        values, vectors = np.linalg.eigh(scale[:, None] * A * scale)
        kept = values > tolerance * max(values.max(initial=0.0), 0.0)
        V = vectors[:, kept]
        rest = scale * (self.Yttau - A @ start)
        result: Array = start + scale * (V @ ((V.T @ rest) / values[kept]))
        return result

    def _rows(self) -> list[tuple[NDArray[np.intp], Array, float]]:
        return list(zip(self.columns, self.squares, self.weights.tolist(), strict=True))


def _vector(operation: str, name: str, value: ArrayLike, axis: str, length: int) -> Array:
    """Return an array of one axis of a length."""
    array: Array = to_array(operation, name, value, np.dtype(np.float64))
    if array.shape != (length,):
        raise InputError(f"{operation}: {name} must be ({axis}={length},); got {array.shape}")
    return array
