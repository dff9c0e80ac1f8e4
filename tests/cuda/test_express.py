"""The short way of tensors: what it takes, what it leaves to the long way, what is said then."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import numpy as np
import pytest

from grid_backend_cuda import arrays, express
from grid_core import short_way
from grid_core.errors import ArgumentError, HandleClosed, InputError
from tests.cuda.fake_torch import Parameter, Tensor, fake_torch
from tests.cuda.pretend import Backend
from tests.plugins.builders import GRAVITY, QD, P, Q, announce, load_arm, manager, plugin
from tests.plugins.builders import algorithm as product

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, 40, 2))
ONE = np.zeros((40, 2))


@pytest.fixture(autouse=True)
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = fake_torch()
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setattr(arrays, "_known", {})
    return module


def loaded(*algorithms: Any, **options: Any) -> Any:
    module = plugin(algorithms=list(algorithms) or [product()], backends=[Backend()])
    return load_arm(plugins=manager(announce(module)), **options)


@pytest.fixture
def call() -> Any:
    """An operation that was called once and goes the short way since."""
    made = loaded().product
    made(Tensor(A), Tensor(B))
    made.kernel(0).launches.clear()
    return made


def short(call: Any, variant: int = 0) -> list[tuple[Any, ...]]:
    """Launches that came the short way: they name their blocks."""
    return [launch for launch in call.kernel(variant).launches if len(launch) == 4]


def test_the_first_call_opens_the_short_way() -> None:
    call = loaded().product
    for _ in range(3):
        got = call(Tensor(A), Tensor(B))
        assert type(got) is Tensor
        np.testing.assert_array_equal(got.array, -9.81 * B)
    assert [len(launch) for launch in call.kernel(0).launches] == [2, 4, 4]
    assert short(call)[0][:3] == (40, 70, 2)


def test_keywords_numbers_and_optional_arrays(call: Any) -> None:
    q, qd = Tensor(A), Tensor(B)
    for args, keywords, factor in (
        ((q,), {"qd": qd}, -9.81),
        ((), {"qd": qd, "q": q, "gravity": 2.0}, 2.0),
        ((q, qd), {"gravity": 3.0}, 3.0),
        ((q, qd, None), {}, -9.81),
    ):
        np.testing.assert_array_equal(call(*args, **keywords).array, factor * B)
    assert len(short(call)) == 4
    (port,) = (slot.port for slot in call.slots if slot.name == "f_ext")
    force = Tensor(RNG.normal(size=(40, *port.dims)))
    expected = -9.81 * B + force.array.sum(axis=(1, 2))[:, None]
    np.testing.assert_allclose(call(q, qd, force).array, expected)
    np.testing.assert_allclose(call(q, qd=qd, f_ext=force).array, expected)
    assert len(short(call, 1)) == 2


def test_other_numbers_take_the_long_way(call: Any) -> None:
    np.testing.assert_array_equal(call(Tensor(A), Tensor(B), gravity=2).array, 2.0 * B)
    assert not short(call)
    for wrong in (np.inf, np.nan, -np.inf):
        with pytest.raises(InputError, match="gravity must be finite"):
            call(Tensor(A), Tensor(B), gravity=wrong)


def test_batches_follow_one_another(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_way, "_MOST_PLANS", 3)
    for count in (1, 2, 33, 40, 7, 1, 40):
        got = call(Tensor(A[:count]), Tensor(B[:count]))
        np.testing.assert_array_equal(got.array, -9.81 * B[:count])
    assert [launch[0] for launch in short(call)] == [1, 2, 33, 40, 7, 1, 40]
    assert len(call._edge.short[Tensor].__self__._plans) <= 3


def test_one_problem_without_a_batch_axis(call: Any) -> None:
    for _ in range(2):
        got = call(Tensor(A[0]), Tensor(B[0]))
        assert got.shape == (2,)
        np.testing.assert_array_equal(got.array, -9.81 * B[0])
    out = Tensor(np.zeros(2))
    assert call(Tensor(A[0]), Tensor(B[0]), out=out) is out
    np.testing.assert_array_equal(out.array, -9.81 * B[0])
    assert [launch[0] for launch in short(call)] == [1, 1, 1]
    with pytest.raises(InputError, match=r"qd must have the batch of q, one problem .*; got B=1"):
        call(Tensor(A[0]), Tensor(B[:1]))
    with pytest.raises(InputError, match=r"out \(p\) must be of shape \(2,\); got \(1, 2\)"):
        call(Tensor(A[0]), Tensor(B[0]), out=Tensor(np.zeros((1, 2))))


def test_no_problems_and_another_type_take_the_long_way(call: Any) -> None:
    assert call(Tensor(A[:0]), Tensor(B[:0])).shape == (0, 2)
    assert call(Parameter(A), Parameter(B)).shape == (40, 2)
    assert call(Tensor(A), Parameter(B)).shape == (40, 2)
    assert not short(call)
    np.testing.assert_array_equal(call(A, B), -9.81 * B)


def test_out_is_filled_and_returned(call: Any) -> None:
    out = Tensor(np.full((40, 2), np.nan))
    assert call(Tensor(A), Tensor(B), out=out) is out
    np.testing.assert_array_equal(out.array, -9.81 * B)
    assert call(Tensor(A), Tensor(B), out=[out]) is out
    assert len(short(call)) == 2


def test_alignment_is_that_of_every_pointer(call: Any) -> None:
    memory = np.zeros(100)
    at = memory.ctypes.data // 8 % 2
    even, odd = (memory[k : k + 80].reshape(40, 2) for k in (at, at + 1))
    apart = np.zeros(102)
    at = apart.ctypes.data // 8 % 2
    right, wrong = (apart[k : k + 80].reshape(40, 2) for k in (at, at + 1))
    for q, out, aligned in ((even, right, True), (odd, right, False), (even, wrong, False)):
        call.kernel(0).launches.clear()
        call(Tensor(q), Tensor(q), out=Tensor(out))
        assert short(call)[0][3] is aligned


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"q": A}, r"product: q is a numpy.ndarray in host memory, and another argument"),
        ({"qd": B}, r"product: qd is a numpy.ndarray in host memory"),
        ({"qd": Tensor(B, None)}, r"qd is a torch.Tensor in host memory"),
        ({"qd": Tensor(B.astype(np.float32))}, r"qd must be of the handle's dtype float64; got fl"),
        (
            {"q": Tensor(A.astype(np.float16))},
            r"q must be of the handle's dtype float64; got float",
        ),
        ({"q": Tensor(A, 1)}, r"q lies on device 1, and this handle is on device 0; .*device=1"),
        ({"qd": Tensor(B, 1)}, r"qd lies on device 1, .*load the robot with device=1"),
        ({"q": Tensor(np.zeros((40, 4))[:, ::2])}, r"q is a strided view; pass a contiguous copy"),
        ({"qd": Tensor(np.zeros((2, 40)).T)}, r"qd is a strided view; pass a contiguous copy"),
        ({"q": Tensor(np.zeros((40, 3)))}, r"q must be \(B, nq=2\); got \(B, 3\)"),
        ({"q": Tensor(np.zeros(()))}, r"q must be \(B, nq=2\); .*0 axes"),
        ({"qd": Tensor(np.zeros((1, 40, 2)))}, r"qd must be \(B, nv=2\); .*3 axes"),
        ({"qd": Tensor(B[:2])}, r"qd must have the batch of q, B=40; got B=2"),
        ({"qd": Tensor(B[0])}, r"qd must have the batch of q, B=40; got one problem"),
        ({"out": ONE}, r"p is a numpy.ndarray in host memory"),
        ({"out": Tensor(np.zeros((2, 2)))}, r"out \(p\) must be of shape \(40, 2\); got \(2, 2\)"),
        ({"out": Tensor(ONE, 1)}, r"p lies on device 1"),
        ({"out": Tensor(ONE.astype(np.float32))}, r"p must be of the handle's dtype float64"),
        ({"out": Tensor(np.zeros((40, 4))[:, ::2])}, r"p is a strided view"),
        ({"out": [Tensor(ONE), Tensor(ONE)]}, r"out must be 1 arrays; got 2"),
    ],
    ids=range(20),
)
def test_what_is_wrong_is_named_as_by_the_long_way(
    call: Any, given: dict[str, Any], said: str
) -> None:
    right = {"q": Tensor(A), "qd": Tensor(B)}
    for made in (call, loaded().product):
        with pytest.raises(InputError, match=said):
            made(**{**right, **given})
    if "out" not in given:
        arguments = {**right, **given}
        with pytest.raises(InputError, match=said):
            call(arguments["q"], arguments["qd"])
    assert not call.kernel(0).launches


def test_results_may_not_overlap_inputs(call: Any) -> None:
    memory = np.zeros(400)
    qd = Tensor(memory[80:160].reshape(40, 2))
    for begin in (80, 1, 159):
        out = Tensor(memory[begin : begin + 80].reshape(40, 2))
        with pytest.raises(InputError, match=r"out \(p\) overlaps qd; give separate memory"):
            call(Tensor(A), qd, out=out)
    for begin in (0, 160):
        call(Tensor(A), qd, out=Tensor(memory[begin : begin + 80].reshape(40, 2)))
    assert len(short(call)) == 2


def test_arguments_that_are_missing_or_too_many(call: Any) -> None:
    q, qd = Tensor(A), Tensor(B)
    for args in ((q,), (q, None)):
        with pytest.raises(ArgumentError, match="qd is missing"):
            call(*args)
    with pytest.raises(ArgumentError, match="4 positional arguments"):
        call(q, qd, None, -9.81)
    with pytest.raises(ArgumentError, match="there is no argument 'qdot'"):
        call(q, qdot=qd)
    with pytest.raises(ArgumentError, match="q is given twice"):
        call(q, qd, q=q)
    assert not call.kernel(0).launches


def both(ctx: Any) -> dict[str, Any]:
    return {"p": ctx["gravity"] * ctx["qd"], "r": 2.0 * ctx["q"]}


def test_several_results_are_named() -> None:
    twice = product(
        inputs=(Q, QD, GRAVITY),
        outputs=(P, P.__class__(name="r", shape=("nq",), doc="double", unit="rad")),
        reference=both,
        program=both,
    )
    call = loaded(twice).product
    call(Tensor(A), Tensor(B))
    got = call(Tensor(A), Tensor(B))
    np.testing.assert_array_equal(got.p.array, -9.81 * B)
    np.testing.assert_array_equal(got.r.array, 2.0 * A)
    out = type(got)(Tensor(ONE.copy()), Tensor(ONE.copy()))
    assert call(Tensor(A), Tensor(B), out=out).r is out.r
    assert len(short(call)) == 2
    with pytest.raises(InputError, match=r"out \(r\) overlaps out \(p\)"):
        call(Tensor(A), Tensor(B), out=(out.p, out.p))


def test_single_precision() -> None:
    call = loaded(dtype="float32").product
    q, qd = Tensor(A.astype(np.float32)), Tensor(B.astype(np.float32))
    for _ in range(2):
        got = call(q, qd)
    assert got.array.dtype == np.float32
    np.testing.assert_allclose(got.array, -9.81 * B, rtol=1e-6)
    assert len(short(call)) == 1


def test_a_closed_handle_says_so() -> None:
    robot = loaded()
    call = robot.product
    for _ in range(2):
        call(Tensor(A), Tensor(B))
    robot.close()
    with pytest.raises(HandleClosed, match="load the robot again"):
        call(Tensor(A), Tensor(B))


def test_pytorch_without_its_raw_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", fake_torch(raw_stream=False))
    call = loaded().product
    for _ in range(2):
        call(Tensor(A), Tensor(B))
    assert short(call) == [(40, 70, 2, short(call)[0][3])]


@pytest.mark.parametrize("current", [0, 1])
def test_another_current_device_is_changed_for_the_launch(
    current: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[Any] = []
    monkeypatch.setattr(express, "use", lambda on: used.append(on) or contextlib.nullcontext())
    monkeypatch.setitem(sys.modules, "torch", fake_torch(devices=2, current=current))
    call = loaded(device=1).product
    for _ in range(2):
        got = call(Tensor(A, 1), Tensor(B, 1))
    assert got.get_device() == 1
    assert [launch[1] for launch in call.kernel(0).launches] == [71, 71]
    assert len(used) == (current == 0)
    with pytest.raises(InputError, match=r"q lies on device 0, and this handle is on device 1"):
        call(Tensor(A), Tensor(B))
