"""Writing into the caller's own arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grid_core.algorithm import Port
from grid_core.errors import InputError
from tests.plugins.builders import QD, P, algorithm, load_arm

TWO = algorithm(
    "two_results",
    inputs=(QD,),
    outputs=(P, Port(name="energy", shape=(), doc="one number", unit="J")),
    reference=lambda ctx: {"p": ctx["qd"], "energy": (ctx["qd"] ** 2).sum(-1)},
)
ROBOT = load_arm(algorithm(), TWO)
QD3 = np.arange(6.0).reshape(3, 2)


def test_the_result_is_the_array_given() -> None:
    out = np.empty((3, 2))
    assert ROBOT.product(QD3, QD3, out=out) is out
    np.testing.assert_allclose(out, -9.81 * QD3)
    one = np.empty(2)
    assert ROBOT.product(QD3[1], QD3[1], out=one) is one
    np.testing.assert_allclose(one, -9.81 * QD3[1])


def test_several_results_go_into_a_tuple() -> None:
    p, energy = np.empty((3, 2)), np.empty(3)
    result = ROBOT.two_results(QD3, out=(p, energy))
    assert result.p is p
    assert result.energy is energy
    assert energy.tolist() == [1.0, 13.0, 41.0]
    p, energy = np.empty(2), np.empty(())
    ROBOT.two_results(QD3[1], out=[p, energy])
    assert energy == 13.0


def test_an_empty_batch_is_left_alone() -> None:
    out = np.empty((0, 2))
    assert ROBOT.product(QD3[:0], QD3[:0], out=out) is out


def frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty((3, 3)), "out must be of shape (3, 2); got (3, 3)"),
        (np.empty(2), "out must be of shape (3, 2); got (2,)"),
        (np.empty((3, 2), np.float32), "out must be of the handle's dtype float64; got float32"),
        (np.empty((2, 3)).T, "out must be C-contiguous"),
        (np.empty((6, 2))[::2], "out must be C-contiguous"),
        (frozen(np.empty((3, 2))), "out must be writable"),
        ([[0.0, 0.0]] * 3, "out must be a NumPy array (p); got list"),
        (3, "out must be a NumPy array (p); got int"),
        (["x"], "out must be a NumPy array; got str"),
    ],
)
def test_an_array_that_cannot_take_the_result_is_refused(out: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        ROBOT.product(QD3, QD3, out=out)
    assert str(caught.value) == f"product: {message}"


def test_memory_shared_with_an_input_is_refused() -> None:
    memory = np.zeros((4, 2))
    with pytest.raises(InputError, match="product: out overlaps qd; give separate memory"):
        ROBOT.product(np.zeros((3, 2)), memory[:3], out=memory[1:])
    with pytest.raises(InputError, match="product: out overlaps q;"):
        ROBOT.product(memory[0], np.zeros(2), out=memory[0])


def test_outputs_that_share_memory_are_refused() -> None:
    memory = np.zeros((3, 2))
    with pytest.raises(InputError, match=r"out\[1\] \(energy\) overlaps out\[0\]"):
        ROBOT.two_results(QD3, out=(memory, memory.ravel()[:3]))


@pytest.mark.parametrize("out", [np.empty((3, 2)), (np.empty((3, 2)),), {}])
def test_as_many_outputs_as_results_are_wanted(out: Any) -> None:
    with pytest.raises(
        InputError, match=r"out must be a tuple of 2 NumPy arrays \(p, energy\); got"
    ):
        ROBOT.two_results(QD3, out=out)
