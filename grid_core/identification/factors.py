"""Triangular factors of tall matrices, and which of their columns are independent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grid_core.model.types import Array

__all__ = ["Columns", "independent_columns", "stacked_r"]

_ZERO = 1e-11
"""Length of a column, of the longest, that is rounding. Columns differ by their units only."""


def stacked_r(blocks: Iterable[Array], width: int) -> Array:
    """Return R of the QR decomposition of blocks stacked on each other, shape (≤ width, width).

    Each block is reduced together with the factor so far, so that nothing tall is ever kept and,
    unlike with the Gram matrix Yᵀ Y, no digit is lost to squaring (Demmel et al. 2012,
    Communication-optimal parallel and sequential QR and LU factorizations).

    Args:
        blocks: matrices of shape (rows, width).
        width: number of columns.
    """
    R = np.zeros((0, width))
    for block in blocks:
        R = np.asarray(np.linalg.qr(np.concatenate([R, block]), mode="r"))
    return R


@frozen
class Columns:
    """A matrix's columns, sorted into independent ones and combinations of them."""

    independent: tuple[int, ...]
    """The columns that are no combination of those before them, in order."""
    combinations: Array
    """G, shape (rank, columns): ``A ≈ A[:, independent] @ G``."""
    least_kept: float
    """The smallest part that an independent column has beside those before it, of its length."""
    largest_dropped: float
    """The largest part that a dependent column has beside the independent ones, of its length."""


def independent_columns(A: Array, tolerance: float) -> Columns:
    """Choose the leftmost columns of A that span it.

    Columns are scaled to unit length; one counts as independent if what those before it leave of
    it is longer than the tolerance. How many there are is decided by the same elimination with
    pivoting, which takes the most independent column next and so reveals the rank; if the two
    disagree, the pivots are taken.

    Args:
        A: a matrix; the triangular factor of a taller one does.
        tolerance: relative to a column's length.
    """
    lengths = np.linalg.norm(A, axis=0)
    alive = lengths > _ZERO * np.max(lengths, initial=0.0)
    scaled = np.where(alive, A / np.where(alive, lengths, 1.0), 0.0)
    pivots, _ = _eliminate(scaled, tolerance, pivoting=True)
    chosen, Q = _eliminate(scaled, tolerance, pivoting=False)
    if len(chosen) != len(pivots):
        chosen = sorted(pivots)
        Q, _ = np.linalg.qr(scaled[:, chosen])
    projected = Q.T @ scaled
    G = np.linalg.solve(projected[:, chosen], projected) if chosen else projected
    left = np.linalg.norm(scaled - scaled[:, chosen] @ G, axis=0)
    # What is left of a coefficient that should be zero is rounding, and would be read as a term.
    G[np.abs(G) < 0.1 * tolerance] = 0.0
    unit = lengths[list(chosen)]
    G = G / unit[:, None] * np.where(alive, lengths, 0.0)
    G[:, chosen] = np.eye(len(chosen))
    dropped = np.delete(left, chosen)
    kept = np.abs(np.diagonal(projected[:, chosen])) if chosen else np.zeros(0)
    return Columns(
        independent=tuple(chosen),
        combinations=G,
        least_kept=float(np.min(kept, initial=1.0)),
        largest_dropped=float(np.max(dropped, initial=0.0)),
    )


def _eliminate(scaled: Array, tolerance: float, *, pivoting: bool) -> tuple[list[int], Array]:
    """Return independent columns and an orthonormal basis of their span (Gram-Schmidt, twice)."""
    rows, width = scaled.shape
    Q = np.zeros((rows, 0))
    chosen: list[int] = []
    if pivoting:
        rest = scaled.copy()
        while len(chosen) < min(rows, width):
            j = int(np.argmax(np.linalg.norm(rest, axis=0)))
            grown = _extend(Q, scaled[:, j], tolerance)
            if grown is None:
                break
            Q = grown
            chosen.append(j)
            rest -= np.outer(Q[:, -1], Q[:, -1] @ rest)
            rest[:, j] = 0.0
        return chosen, Q
    for j in range(width):
        grown = _extend(Q, scaled[:, j], tolerance)
        if grown is not None:
            Q = grown
            chosen.append(j)
    return chosen, Q


def _extend(Q: Array, column: Array, tolerance: float) -> Array | None:
    """Return Q with what it leaves of a column, or None where that is too short."""
    left = column - Q @ (Q.T @ column)
    left = left - Q @ (Q.T @ left)
    length = float(np.linalg.norm(left))
    if length <= tolerance:
        return None
    return np.concatenate([Q, left[:, None] / length], axis=1)
