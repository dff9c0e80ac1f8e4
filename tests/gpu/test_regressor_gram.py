"""Sums of squares over a log on the GPU, against those of the CPU."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import grid_core
from grid_core.assets import asset_path
from tests.gpu.frameworks import NAMES, framework

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]

COUNT = 100_003
TOLERANCE = {"float32": 1e-6, "float64": 1e-12}


@functools.cache
def robot(name: str, backend: str, dtype: str) -> grid_core.RobotHandle:
    return grid_core.load_robot(
        asset_path(name),
        floating_base=name == "go2",
        backend=backend,
        dtype=dtype,
        algorithm_list="regressor_gram",
    )


@functools.cache
def log(name: str, dtype: str) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(3)
    made = robot(name, "cuda", dtype)
    q = made.random_configuration(rng, COUNT)
    rest = rng.standard_normal((3, COUNT, made.nv)).astype(dtype)
    return (q, *rest)


def close(got: Any, expected: Any, tolerance: float) -> None:
    """Entry by entry in float64; in float32 in the norm alone.

    A column that should be zero is all rounding, and is judged beside the largest.
    """
    assert got.count == expected.count
    for mine, theirs in zip(got.squares, expected.squares, strict=True):
        assert np.linalg.norm(mine - theirs) <= tolerance * np.linalg.norm(theirs)
        if tolerance < TOLERANCE["float32"]:
            root = np.sqrt(np.diag(theirs))
            scale = np.where(root > 1e-12 * root.max(initial=0.0), root, root.max(initial=1.0))
            assert np.abs((mine - theirs) / (scale[:, None] * scale)).max() < tolerance


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", ["iiwa14", "go2"])
def test_host_arrays_of_any_length(name: str, dtype: str) -> None:
    for count in (0, 1, 33, COUNT):
        part = [array[:count] for array in log(name, dtype)]
        got = robot(name, "cuda", dtype).regressor_gram(*part)
        close(got, robot(name, "cpu", dtype).regressor_gram(*part), TOLERANCE[dtype])


@pytest.mark.parametrize("name", NAMES)
def test_device_arrays_give_the_same_sums_each_time(name: str) -> None:
    kind = framework(name)
    arrays = [kind.put(array) for array in log("iiwa14", "float32")]
    made = robot("iiwa14", "cuda", "float32")
    first, second = made.regressor_gram(*arrays), made.regressor_gram(*arrays)
    for a, b in zip(first.squares, second.squares, strict=True):
        np.testing.assert_array_equal(a, b)
    close(first, robot("iiwa14", "cpu", "float32").regressor_gram(*log("iiwa14", "float32")), 1e-6)


def test_another_order_and_weights() -> None:
    made, other = (robot("iiwa14", backend, "float64") for backend in ("cuda", "cpu"))
    given = {"order": "grid", "weights": np.arange(7.0), "gravity": -3.7}
    got = made.regressor_gram(*log("iiwa14", "float64"), **given)
    close(got, other.regressor_gram(*log("iiwa14", "float64"), **given), 1e-12)
