"""Timing loads in processes of their own."""

from __future__ import annotations

from typing import Any

import pytest

from grid_core.bench.loads import time_loads
from grid_core.bench.robot import bundled_robot
from grid_core.cli.find_robot import find_robot
from grid_core.errors import BackendError
from grid_core.registry import register_robot

OPTIONS: dict[str, Any] = {
    "dtype": "float64", "operations": ("crba",), "threads": 1, "repeats": 1,
}  # fmt: skip


def test_cold_and_warm() -> None:
    times = time_loads(bundled_robot("go2"), backend="cpu", **OPTIONS)
    assert times.floating
    assert times.operations == ("crba",)
    assert times.cold[0] > times.warm[0] > 0
    assert len(times.imports) == 2
    assert times.imports[0] > 0.01
    assert times.document()["median_s"]["warm"] == times.warm[0]


def test_a_registered_robot() -> None:
    register_robot("bench-arm", bundled_robot("iiwa14").path)
    times = time_loads(find_robot("bench-arm"), backend="reference", **OPTIONS)
    assert (times.robot, times.floating) == ("bench-arm", False)


def test_a_load_that_fails_says_why() -> None:
    with pytest.raises(BackendError, match=r"'iiwa14' in a fresh process failed: .*gpus"):
        time_loads(bundled_robot("iiwa14"), backend="gpus", **OPTIONS)
