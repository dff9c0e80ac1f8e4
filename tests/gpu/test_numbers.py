"""Every operation on the GPU against the textbook in double precision."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from tests.cuda.kernels import DTYPES, ROBOTS
from tests.gpu.loaded import (
    allowed,
    as_results,
    call_of,
    handle,
    inputs_of,
    only,
    operations,
    possible,
    reference,
    require_close,
    variants,
)

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]

BATCHES = (0, 1, 31, 33)
LARGE = 4097
CASES = [
    pytest.param(robot, name, id=f"{robot}-{name}")
    for robot in ROBOTS
    for name in operations(robot)
]


def run(robot: str, name: str, dtype: str, inputs: dict[str, Any]) -> dict[str, Any]:
    call = call_of(robot, name, dtype)
    return as_results(call, call(**inputs))


@functools.cache
def large(robot: str, name: str, dtype: str, present: tuple[str, ...]) -> Any:
    inputs = inputs_of(robot, name, LARGE, present, dtype)
    return inputs, run(robot, name, dtype, inputs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("robot", "name"), CASES)
def test_against_the_reference_in_any_batch(robot: str, name: str, dtype: str) -> None:
    if not possible(robot, name):
        pytest.skip("this robot cannot have it")
    assert handle(robot, dtype).backend == "cuda"
    for present in variants(call_of(robot, name, dtype).algorithm):
        inputs, got = large(robot, name, dtype, present)
        what = f"{name} of {robot} with {present or 'nothing else'}, {dtype}"
        rows = np.r_[0:100, LARGE - 33 : LARGE]
        some = only(inputs, rows)
        require_close(
            {k: v[rows] for k, v in got.items()},
            reference(robot, name, some),
            allowed(robot, name, dtype, some),
            what,
        )
        for value in got.values():
            assert value.dtype == dtype
            assert np.isfinite(value).all(), what
        # The same bits, whatever else there is in the batch.
        for batch in BATCHES:
            part = run(robot, name, dtype, only(inputs, slice(LARGE - batch, LARGE)))
            for port, value in part.items():
                np.testing.assert_array_equal(value, got[port][LARGE - batch :], err_msg=what)
        again = run(robot, name, dtype, inputs)
        for port, value in again.items():
            np.testing.assert_array_equal(value, got[port], err_msg=what)


@pytest.mark.parametrize("robot", ["iiwa14", "humanoid"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_a_million_and_three(robot: str, name: str) -> None:
    """A batch of more than one staging chunk; its rows are those of small batches."""
    batch = 1_000_003
    inputs = inputs_of(robot, name, 1009)
    order = np.arange(batch) % 1009
    whole = run(robot, name, "float32", only(inputs, order))
    small = run(robot, name, "float32", inputs)
    for port, value in whole.items():
        np.testing.assert_array_equal(value, small[port][order])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("robot", ["iiwa14", "go2", "humanoid"])
def test_one_problem_without_a_batch_axis(robot: str, dtype: str) -> None:
    inputs = inputs_of(robot, "inverse_dynamics", 3, ("qdd",), dtype)
    whole = run(robot, "inverse_dynamics", dtype, inputs)["tau"]
    one = {k: v if isinstance(v, float) else v[1] for k, v in inputs.items()}
    got = run(robot, "inverse_dynamics", dtype, one)["tau"]
    assert got.shape == whole.shape[1:]
    np.testing.assert_array_equal(got, whole[1])


def test_gravity_is_an_argument() -> None:
    inputs = inputs_of("go2", "generalized_gravity", 64)
    for gravity in (-9.81, 0.0, -1.62):
        given = {**inputs, "gravity": float(np.float32(gravity))}
        got = run("go2", "generalized_gravity", "float32", given)
        expected = reference("go2", "generalized_gravity", given)
        require_close(got, expected, allowed("go2", "generalized_gravity", "float32", given), "g")
    assert not run("go2", "generalized_gravity", "float32", {**inputs, "gravity": 0.0})["g"].any()


@pytest.mark.parametrize("name", ["inverse_dynamics", "end_effector_pose", "crba"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_far_angles_are_finite_and_right(dtype: str, name: str) -> None:
    """Past the range of the short reduction the library's own takes over.

    For each angle in one operation, for all of a row that has one in the other.
    """
    present = ("qdd",) if name == "inverse_dynamics" else ()
    inputs = inputs_of("iiwa14", name, 333, present, dtype)
    rng = np.random.default_rng(1)
    for size in (100.0, 1e4, 1e7):
        inputs["q"] = (rng.uniform(-1.0, 1.0, inputs["q"].shape) * size).astype(dtype)
        got = run("iiwa14", name, dtype, inputs)
        expected = reference("iiwa14", name, inputs)
        require_close(got, expected, allowed("iiwa14", name, dtype, inputs), f"{size:g} rad")


@pytest.mark.parametrize("robot", ["iiwa14", "humanoid"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_row_stays_alone(robot: str, bad: float) -> None:
    inputs = inputs_of(robot, "forward_dynamics", 321)
    alone = run(robot, "forward_dynamics", "float32", inputs)["qdd"]
    spoilt = [0, 37, 320]
    for name in ("q", "qd", "u"):
        changed = {**inputs, name: inputs[name].copy()}
        changed[name][spoilt, -1] = bad
        got = run(robot, "forward_dynamics", "float32", changed)["qdd"]
        kept = np.delete(np.arange(321), spoilt)
        np.testing.assert_array_equal(got[kept], alone[kept])
        if np.isnan(bad):
            assert np.isnan(got[spoilt]).any(axis=1).all()


def test_float64_inputs_are_converted_for_a_float32_handle() -> None:
    inputs = inputs_of("iiwa14", "inverse_dynamics", 40, ("qdd",))
    doubled = {k: v if isinstance(v, float) else v.astype(np.float64) for k, v in inputs.items()}
    expected = run("iiwa14", "inverse_dynamics", "float32", inputs)["tau"]
    got = run("iiwa14", "inverse_dynamics", "float32", doubled)["tau"]
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, expected)
