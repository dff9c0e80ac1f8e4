"""What the peer returns, in our order: joints, bodies and the ten of each, end effectors."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.bench.grid_rbd_order import METHODS, Order
from grid_core.model.parameters import INERTIAL


def labels(rows: list[str], bodies: list[str], order: str) -> np.ndarray:
    columns = [f"{body}.{part}" for body in bodies for part in INERTIAL[order]]
    return np.array([[f"{row}:{column}" for column in columns] for row in rows])


@pytest.mark.parametrize("base", [False, True], ids=["fixed", "floating"])
def test_entries_are_where_ours_are(base: bool) -> None:
    free, root = ([f"v{k}" for k in range(6)], ["base"]) if base else ([], [])
    theirs = labels([*free, "c", "a", "b"], [*root, "c", "a", "b"], "grid")
    back = [*range(len(free)), *(len(free) + k for k in (1, 2, 0))]
    got = Order(tuple(back)).regressor(theirs[None])
    expected = labels([*free, "a", "b", "c"], [*root, "a", "b", "c"], "pinocchio")
    np.testing.assert_array_equal(got[0], expected)


def test_gradients_and_poses_too() -> None:
    joints, ends = ["b", "c", "a"], ["y", "x"]
    order = Order(joints=(2, 0, 1), ends=(1, 0))
    halves = [f"d{j}" for j in joints] + [f"r{j}" for j in joints]
    theirs = np.array([[f"{row}:{column}" for column in halves] for row in joints])
    expected = [[f"{row}:{half}{j}" for half in "dr" for j in "abc"] for row in "abc"]
    np.testing.assert_array_equal(order.gradient(theirs[None])[0], expected)
    second = np.array(
        [[[f"{e}{k}:{i}{j}" for j in joints] for i in joints] for e in ends for k in range(6)]
    )
    expected = [[[f"{e}{k}:{i}{j}" for j in "abc"] for i in "abc"] for e in "xy" for k in range(6)]
    np.testing.assert_array_equal(order.poses(second[None])[0], expected)
    assert not order.same
    assert Order((0, 1), (0,)).same


class OnDevice:
    """An array that is indexed where it lies, and cannot be brought to the host by itself."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.ndim, self.shape = array.ndim, array.shape

    def __getitem__(self, index: object) -> OnDevice:
        return OnDevice(self.array[index])

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise TypeError("can't convert cuda:0 device type tensor to numpy")


@pytest.mark.parametrize("name", METHODS)
def test_results_are_arranged_where_they_lie(name: str) -> None:
    shapes = {
        Order.vectors: (2, 3),
        Order.gradient: (2, 3, 6),
        Order.regressor: (2, 3, 30),
        Order.poses: (2, 12, 3, 3),
        Order.targets: (2, 2, 6, 3),
    }
    shape = shapes[METHODS[name].arrange]
    array = np.arange(np.prod(shape)).reshape(shape)
    order = Order(joints=(2, 0, 1), ends=(1, 0))
    (got,) = METHODS[name].in_order([OnDevice(array)], order=order)
    (expected,) = METHODS[name].in_order([array], order=order)
    np.testing.assert_array_equal(got.array, expected)
