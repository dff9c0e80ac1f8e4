"""The short way of a call: the same bits as the long one, and the long one's errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import grid_core
from grid_backend_cpu.express import HostExpress
from grid_core.assets import asset_path
from grid_core.errors import ArgumentError, HandleClosed, InputError

OPERATIONS = ["frame_placement", "inverse_dynamics"]


@pytest.fixture(scope="module")
def robot() -> Any:
    return grid_core.load_robot(
        asset_path("iiwa14"),
        algorithm_list=OPERATIONS,
        backend="cpu",
        dtype="float64",
        num_threads=1,
    )


def calls(robot: Any) -> dict[str, Any]:
    return {call.__name__: call for call in robot.calls()}


def states(batch: int | None, count: int) -> list[Any]:
    rng = np.random.default_rng(0)
    return list(rng.normal(size=(count, 7) if batch is None else (count, batch, 7)))


@pytest.mark.parametrize("batch", [None, 1, 13])
@pytest.mark.parametrize(("name", "count"), [("frame_placement", 1), ("inverse_dynamics", 3)])
def test_same_bits_as_the_long_way(robot: Any, name: str, count: int, batch: int | None) -> None:
    call, arrays = calls(robot)[name], states(batch, count)
    short = HostExpress(call)
    values = (*arrays, *(None,) * (len(call.slots) - len(call.numbers) - count), *call.numbers)
    expected = call._look_closely(values, None)
    for out in (None, np.full_like(expected, np.nan)):
        got = short(arrays, call.numbers, out)
        assert out is None or got is out
        assert got.shape == expected.shape
        np.testing.assert_array_equal(got, expected)


def test_optional_inputs_choose_the_variant(robot: Any) -> None:
    q, qd, qdd = states(9, 3)
    with_zero = robot.inverse_dynamics(q, qd, np.zeros_like(qdd))
    np.testing.assert_allclose(robot.inverse_dynamics(q, qd), with_zero, rtol=1e-12, atol=1e-12)
    assert np.abs(robot.inverse_dynamics(q, qd, qdd) - with_zero).max() > 0.1


def test_what_is_out_of_the_ordinary_goes_the_long_way(robot: Any) -> None:
    call = calls(robot)["frame_placement"]
    short, (q,) = HostExpress(call), states(8, 1)
    right = np.zeros((8, 4, 4))
    frozen = right.copy()
    frozen.flags.writeable = False
    for arrays, out in (
        ([q.astype(np.float32)], None),
        ([q[:, ::-1]], None),
        ([q[:, :6]], None),
        ([q[:0]], None),
        ([q, q], None),
        ([q], right[:7]),
        ([q], right.astype(np.float32)),
        ([q], right.transpose(0, 2, 1)),
        ([q], frozen),
        ([q], [right]),
    ):
        assert short(arrays, call.numbers, out) is NotImplemented
    assert short([q], call.numbers, right) is right


def test_results_over_an_input_are_refused(robot: Any) -> None:
    memory = np.zeros(3 * 8 * 7)
    q, qd, qdd = (memory[k * 56 : k * 56 + 56].reshape(8, 7) for k in range(3))
    for taken in (q, qd, qdd, memory[50:106].reshape(8, 7)):
        with pytest.raises(InputError, match="overlaps"):
            robot.inverse_dynamics(q, qd, qdd, out=taken)


def test_one_argument_too_many_is_refused(robot: Any) -> None:
    (q,) = states(8, 1)
    robot.frame_placement(q)
    with pytest.raises(ArgumentError):
        calls(robot)["frame_placement"](q, q)


def test_closed() -> None:
    robot = grid_core.load_robot(
        asset_path("iiwa14"), algorithm_list=["frame_placement"], backend="cpu", dtype="float64"
    )
    (q,) = states(8, 1)
    robot.frame_placement(q)
    robot.close()
    with pytest.raises(HandleClosed):
        robot.frame_placement(q)
