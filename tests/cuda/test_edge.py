"""How device arrays are taken, on a device that is made up: its memory is the host's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grid_backend_cuda import arrays
from grid_backend_cuda.arrays import View, _Plain
from grid_core.errors import ArgumentError, InputError
from tests.cuda.pretend import Backend
from tests.plugins.builders import algorithm as product
from tests.plugins.builders import announce, load_arm, manager, plugin


class Box:
    """A device array."""

    def __init__(self, array: Any, device: int = 0, *, readonly: bool = False) -> None:
        self.array, self.device, self.readonly = np.asarray(array), device, readonly


class HostBox(Box):
    """One of the same framework in host memory."""


class OtherBox(Box):
    """One of another framework."""


class Boxes(_Plain):
    finished = 0

    def on_device(self, array: Any) -> bool:
        return not isinstance(array, HostBox)

    def view(self, array: Any, stream: int) -> View:
        assert stream in (0, 77)
        a = array.array
        contiguous = a.flags.c_contiguous
        return View(a.ctypes.data, a.shape, a.dtype.name, array.device, contiguous, array.readonly)

    def stream(self, device: int) -> int:
        assert device == 0
        return 77

    def empty(self, shape: tuple[int, ...], dtype: str, device: int) -> Any:
        return Box(np.full(shape, np.nan, dtype), device)

    def finish(self, array: Any, stream: int) -> Any:
        assert stream == 77
        Boxes.finished += 1
        return array


class OtherBoxes(Boxes):
    pass


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes = Boxes()
    known = {Box: boxes, HostBox: boxes, OtherBox: OtherBoxes()}
    monkeypatch.setattr(arrays, "_known", {**arrays._known, **known})
    return


@pytest.fixture
def call() -> Any:
    module = plugin(algorithms=[product()], backends=[Backend()])
    return load_arm(plugins=manager(announce(module))).product


Q, QD = np.arange(6.0).reshape(3, 2), np.arange(6.0, 12.0).reshape(3, 2)


def test_results_are_of_the_callers_kind(call: Any) -> None:
    got = call(Box(Q), Box(QD))
    assert type(got) is Box
    np.testing.assert_array_equal(got.array, -9.81 * QD)
    got = call(Box(Q), Box(QD), gravity=2)
    np.testing.assert_array_equal(got.array, 2.0 * QD)


def test_one_problem_and_none(call: Any) -> None:
    got = call(Box(Q[0]), Box(QD[0]))
    assert got.array.shape == (2,)
    np.testing.assert_array_equal(got.array, -9.81 * QD[0])
    assert call(Box(Q[:0]), Box(QD[:0])).array.shape == (0, 2)


def test_optional_inputs_choose_the_variant(call: Any) -> None:
    (port,) = (slot.port for slot in call.slots if slot.name == "f_ext")
    forces = np.ones((3, *port.dims))
    got = call(Box(Q), Box(QD), Box(forces))
    np.testing.assert_allclose(got.array, -9.81 * QD + forces[0].sum())


def test_out_is_filled_and_returned(call: Any) -> None:
    out = Box(np.full((3, 2), np.nan))
    assert call(Box(Q), Box(QD), out=out) is out
    np.testing.assert_array_equal(out.array, -9.81 * QD)


def test_numpy_goes_the_other_way(call: Any) -> None:
    np.testing.assert_array_equal(call(Q, QD), -9.81 * QD)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"q": Q}, r"product: q is a numpy.ndarray in host memory, and another argument"),
        ({"qd": QD}, r"product: qd is a numpy.ndarray in host memory"),
        ({"qd": QD.tolist()}, r"qd is a builtins.list in host memory"),
        ({"qd": HostBox(QD)}, r"qd is a \S+HostBox in host memory"),
        ({"qd": OtherBox(QD)}, r"qd is a \S+OtherBox on a device.* must be of one kind"),
        ({"qd": Box(QD.astype(np.float32))}, r"qd must be of the handle's dtype float64; got fl"),
        ({"qd": Box(QD, 1)}, r"qd lies on device 1, .*load the robot with device=1"),
        ({"qd": Box(np.zeros((3, 4))[:, ::2])}, r"qd is a strided view; pass a contiguous copy"),
        ({"qd": Box(np.zeros((3, 3)))}, r"qd must be \(B, nv=2\); got \(B, 3\)"),
        ({"qd": Box(np.zeros((1, 3, 2)))}, r"qd must be \(B, nv=2\); .*3 axes"),
        ({"qd": Box(QD[:2])}, r"qd must have the batch of q, B=3; got B=2"),
        ({"qd": Box(QD[0])}, r"qd must have the batch of q, B=3; got one problem"),
        ({"gravity": np.inf}, r"gravity must be finite"),
        ({"out": np.zeros((3, 2))}, r"p is a numpy.ndarray in host memory"),
        ({"out": Box(np.zeros((2, 2)))}, r"out \(p\) must be of shape \(3, 2\); got \(2, 2\)"),
        ({"out": Box(np.zeros((3, 2)), readonly=True)}, r"out \(p\) must be writable"),
        ({"out": [Box(QD), Box(QD)]}, r"out must be 1 arrays; got 2"),
    ],
    ids=range(17),
)
def test_what_is_wrong_is_named(call: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        call(**{"q": Box(Q), "qd": Box(QD), **given})


def test_results_may_not_overlap_inputs(call: Any) -> None:
    memory = np.zeros(20)
    qd = Box(memory[:6].reshape(3, 2))
    for begin in (0, 5):
        out = Box(memory[begin : begin + 6].reshape(3, 2))
        with pytest.raises(InputError, match=r"out \(p\) overlaps qd; give separate memory"):
            call(Box(Q), qd, out=out)
    call(Box(Q), qd, out=Box(memory[6:12].reshape(3, 2)))


def test_a_missing_argument_is_named(call: Any) -> None:
    with pytest.raises(ArgumentError, match="qd is missing"):
        call(Box(Q), None)
