"""How far two contenders' results are apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.model.types import Array

__all__ = ["TOLERANCES", "difference", "worst_error"]

TOLERANCES = {"float64": 1e-9, "float32": 1e-3}
"""Greatest norm-relative error of a problem, by the coarser precision of the two."""


def worst_error(got: Array, expected: Array) -> float:
    """Return the greatest norm-relative error of a problem: ‖got - expected‖ / ‖expected‖.

    Where a problem's own norm is below the batch's root mean square, that stands in for it, so
    that a robot at rest does not count as wrong for a rounding error.

    Args:
        got: shape (B, ...).
        expected: the same.
    """
    if expected.size == 0:
        return 0.0
    right = expected.reshape(len(expected), -1)
    error = np.linalg.norm(got.reshape(right.shape) - right, axis=1)
    norms = np.linalg.norm(right, axis=1)
    scale = np.maximum(norms, np.sqrt(np.mean(norms**2)))
    scale[scale == 0.0] = 1.0
    worst = np.max(error / scale)
    return float("inf") if np.isnan(worst) else float(worst)


def difference(ours: Sequence[Array], theirs: Sequence[Array]) -> float | None:
    """Return the worst error over all outputs, on the problems that both computed.

    A peer may return more arrays than Grid, blocks where Grid has them side by side in one matrix,
    and one matrix where Grid has more axes. None: they are not of shapes that can be compared.
    """
    if not ours or not theirs:
        return None
    count = min(len(ours[0]), len(theirs[0]))
    left, right = [x[:count] for x in ours], [x[:count] for x in theirs]
    if len(left) == 1 and left[0].shape != right[0].shape and len(right) > 1:
        right = [_side_by_side(right, left[0].shape)]
    pairs = list(zip(left, right, strict=False))
    if len(right) < len(left) or any(
        a.shape[:2] != b.shape[:2] or a.size != b.size for a, b in pairs
    ):
        return None
    return max(worst_error(a.reshape(b.shape), b) for a, b in pairs)


def _side_by_side(blocks: Sequence[Array], shape: tuple[int, ...]) -> Array:
    """Join as many blocks as make up the width."""
    for count in range(2, len(blocks) + 1):
        parts = blocks[:count]
        if len({part.shape[:-1] for part in parts}) == 1:
            joined = np.concatenate(parts, axis=-1)
            if joined.shape == shape:
                return joined
    return blocks[0]
