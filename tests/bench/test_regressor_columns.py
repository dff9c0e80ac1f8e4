"""The peer's regressor in our order: joints, bodies, and the ten of each."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.bench.grid_rbd_contender import columns_in_our_order
from grid_core.model.parameters import INERTIAL


def labels(rows: list[str], bodies: list[str], order: str) -> np.ndarray:
    columns = [f"{body}.{part}" for body in bodies for part in INERTIAL[order]]
    return np.array([[f"{row}:{column}" for column in columns] for row in rows])


@pytest.mark.parametrize("base", [False, True], ids=["fixed", "floating"])
def test_entries_are_where_ours_are(base: bool) -> None:
    free, root = ([f"v{k}" for k in range(6)], ["base"]) if base else ([], [])
    theirs = labels([*free, "c", "a", "b"], [*root, "c", "a", "b"], "grid")
    back = [*range(len(free)), *(len(free) + k for k in (1, 2, 0))]
    (got,) = columns_in_our_order([theirs[None]], back=back)
    expected = labels([*free, "a", "b", "c"], [*root, "a", "b", "c"], "pinocchio")
    np.testing.assert_array_equal(got[0], expected)
