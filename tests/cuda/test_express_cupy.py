"""The short way of CuPy's arrays."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from grid_backend_cuda import arrays
from grid_core.errors import ArgumentError, InputError
from tests.cuda.fake_cupy import Special, fake_cupy, ndarray
from tests.cuda.pretend import Backend
from tests.plugins.builders import GRAVITY, QD, P, Q, announce, load_arm, manager, plugin
from tests.plugins.builders import algorithm as product

A, B = np.random.default_rng(0).normal(size=(2, 40, 2))
ZEROS = np.zeros((40, 2))
on = ndarray.of


@pytest.fixture(autouse=True)
def _cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    monkeypatch.setattr(arrays, "_known", {})


def loaded(*algorithms: Any, **options: Any) -> Any:
    module = plugin(algorithms=list(algorithms) or [product()], backends=[Backend()])
    return load_arm(plugins=manager(announce(module)), **options).product


@pytest.fixture
def call() -> Any:
    """An operation that was called once and goes the short way since."""
    made = loaded()
    made(on(A), on(B))
    made.kernel(0).launches.clear()
    return made


def short(call: Any, variant: int = 0) -> list[tuple[Any, ...]]:
    """Launches that came the short way: they name their blocks."""
    return [launch for launch in call.kernel(variant).launches if len(launch) == 4]


def test_arrays_numbers_and_batches(call: Any) -> None:
    for count in (40, 1, 33):
        got = call(on(A[:count]), on(B[:count]))
        assert type(got) is ndarray
        np.testing.assert_array_equal(got.array, -9.81 * B[:count])
    np.testing.assert_array_equal(call(q=on(A), qd=on(B), gravity=2.0).array, 2.0 * B)
    assert [launch[:3] for launch in short(call)] == [
        (40, 80, 2),
        (1, 80, 1),
        (33, 80, 2),
        (40, 80, 2),
    ]
    np.testing.assert_array_equal(call(on(A[0]), on(B[0])).array, -9.81 * B[0])
    assert short(call)[4][:3] == (1, 80, 1)
    (port,) = (slot.port for slot in call.slots if slot.name == "f_ext")
    force = np.ones((40, *port.dims))
    got = call(on(A), on(B), on(force))
    np.testing.assert_allclose(got.array, -9.81 * B + force[0].sum())
    assert len(short(call, 1)) == 1


def test_what_takes_the_long_way(call: Any) -> None:
    assert call(on(A[:0]), on(B[:0])).shape == (0, 2)
    assert call(Special.of(A), on(B)).shape == (40, 2)
    assert call(on(A), on(B), gravity=1).shape == (40, 2)
    assert not short(call)


def test_out_is_filled_and_returned(call: Any) -> None:
    out = on(ZEROS.copy())
    for given in (out, [out]):
        out.array[:] = np.nan
        assert call(on(A), on(B), out=given) is out
        np.testing.assert_array_equal(out.array, -9.81 * B)
    assert len(short(call)) == 2


def both(ctx: Any) -> dict[str, Any]:
    return {"p": ctx["gravity"] * ctx["qd"], "r": 2.0 * ctx["q"]}


def test_several_results() -> None:
    other = P.__class__(name="r", shape=("nq",), doc="double", unit="rad")
    ports = {"inputs": (Q, QD, GRAVITY), "outputs": (P, other)}
    call = loaded(product(**ports, reference=both, program=both))
    for _ in range(2):
        got = call(on(A), on(B))
    np.testing.assert_array_equal(got.p.array, -9.81 * B)
    np.testing.assert_array_equal(got.r.array, 2.0 * A)
    out = type(got)(on(ZEROS.copy()), on(ZEROS.copy()))
    assert call(on(A), on(B), out=out).r is out.r
    assert len(short(call)) == 2
    with pytest.raises(InputError, match=r"out \(r\) overlaps out \(p\)"):
        call(on(A), on(B), out=(out.p, out.p))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"qd": B}, r"product: qd is a numpy.ndarray in host memory"),
        ({"q": on(A.astype(np.float32))}, r"q must be of the handle's dtype float64; got float32"),
        ({"qd": on(B, 1)}, r"qd lies on device 1, and this handle is on device 0; .*device=1"),
        ({"q": on(np.zeros((40, 4))[:, ::2])}, r"q is a strided view; pass a contiguous copy"),
        ({"q": on(np.zeros((40, 3)))}, r"q must be \(B, nq=2\); got \(B, 3\)"),
        ({"qd": on(B[:2])}, r"qd must have the batch of q, B=40; got B=2"),
        ({"out": ZEROS}, r"p is a numpy.ndarray in host memory"),
        ({"out": on(np.zeros((2, 2)))}, r"out \(p\) must be of shape \(40, 2\); got \(2, 2\)"),
        ({"out": on(ZEROS, 1)}, r"p lies on device 1"),
        ({"out": [on(ZEROS), on(ZEROS)]}, r"out must be 1 arrays; got 2"),
        ({"out": on(A)}, r"out \(p\) overlaps q"),
        ({"gravity": np.nan}, r"gravity must be finite"),
    ],
    ids=range(12),
)
def test_what_is_wrong_is_named(call: Any, given: dict[str, Any], said: str) -> None:
    for made in (call, loaded()):
        with pytest.raises(InputError, match=said):
            made(**{"q": on(A), "qd": on(B), **given})
    assert not call.kernel(0).launches


def test_arguments_that_are_missing(call: Any) -> None:
    with pytest.raises(ArgumentError, match="qd is missing"):
        call(on(A))


@pytest.mark.parametrize("current", [0, 1])
def test_results_lie_on_the_handles_device(current: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the short way where it is the current one, else on the long way, which changes it."""
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(current=current))
    call = loaded(device=1)
    for _ in range(3):
        got = call(on(A, 1), on(B, 1))
        assert got.data.device_id == 1
        assert ndarray.current == current
    assert {launch[1] for launch in call.kernel(0).launches} == {81}
    assert len(short(call)) == (2 if current == 1 else 0)
