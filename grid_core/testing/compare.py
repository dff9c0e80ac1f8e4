"""Comparing what two implementations give, with a readable complaint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["assert_agree"]


def assert_agree(
    what: str, got: Mapping[str, Any], expected: Mapping[str, Any], tolerance: float
) -> None:
    """Compare outputs entry by entry, against each problem's largest entry.

    Args:
        what: who is compared, for the message.
        got: arrays of shape (B, ...) by output name.
        expected: the same.
        tolerance: allowed difference as a part of max(1, |expected|) of the problem.

    Raises:
        AssertionError: names output, problem, entry and both values.
    """
    for name, right in expected.items():
        left = np.asarray(got[name])
        assert left.shape == right.shape, (
            f"{what}: {name} has shape {left.shape}, not {right.shape}"
        )
        if right.size == 0:
            continue
        axes = tuple(range(1, right.ndim))
        scale = np.maximum(1.0, np.abs(right).max(axis=axes, keepdims=True))
        error = np.abs(left - right) / scale
        worst = np.unravel_index(np.argmax(np.where(np.isnan(error), np.inf, error)), error.shape)
        if error[worst] <= tolerance:
            continue
        place = tuple(int(i) for i in worst)
        raise AssertionError(
            f"{what}: {name}{list(place[1:])} of problem {place[0]} is {float(left[worst])!r}, not "
            f"{float(right[worst])!r}; relative to the problem's largest entry that is off by "
            f"{error[worst]:.2e}, allowed are {tolerance:.0e}"
        )
