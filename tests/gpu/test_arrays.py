"""Arrays of PyTorch, CuPy and JAX on the GPU: the same bits as NumPy's, and clear refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import grid_backend_cuda.build as module
import grid_core
from grid_core.errors import ArgumentError, BackendUnavailable, HandleClosed, InputError
from tests.cuda.kernels import DTYPES, ROBOTS
from tests.gpu.frameworks import NAMES, framework, put
from tests.gpu.loaded import (
    SOME,
    as_results,
    call_of,
    fresh,
    handle,
    inputs_of,
    possible,
    variants,
)

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]


def run(call: Any, inputs: dict[str, Any], **options: Any) -> dict[str, Any]:
    return as_results(call, call(**inputs, **options))


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("robot", ["iiwa14", "go2", "kinds", "humanoid"])
def test_the_same_bits_as_from_numpy(robot: str, dtype: str, kind: str) -> None:
    arrays = framework(kind)
    for name in SOME:
        if not possible(robot, name):
            continue
        call = call_of(robot, name, dtype)
        for present in variants(call.algorithm):
            for batch in (0, 1, 31, 33, 4097):
                inputs = inputs_of(robot, name, batch, present, dtype)
                expected = run(call, inputs)
                on_device = put(arrays, inputs)
                got = run(call, on_device)
                for port, value in got.items():
                    assert type(value) is type(on_device["q"])
                    back = arrays.get(value)
                    assert back.dtype == dtype
                    np.testing.assert_array_equal(back, expected[port], err_msg=f"{name} {batch}")


@pytest.mark.parametrize("kind", NAMES)
def test_one_problem_without_a_batch_axis(kind: str) -> None:
    arrays, call = framework(kind), call_of("go2", "inverse_dynamics")
    inputs = inputs_of("go2", "inverse_dynamics", 2, ("qdd",))
    one = {k: v if isinstance(v, float) else v[1] for k, v in inputs.items()}
    got = arrays.get(call(**put(arrays, one)))
    assert got.shape == (18,)
    np.testing.assert_array_equal(got, call(**one))


@pytest.mark.parametrize("kind", ["torch", "cupy"])
def test_results_into_given_arrays(kind: str) -> None:
    arrays, call = framework(kind), call_of("iiwa14", "crba")
    inputs = inputs_of("iiwa14", "crba", 33)
    expected = call(**inputs)
    out = arrays.put(np.full((33, 7, 7), np.nan, np.float32))
    assert call(**put(arrays, inputs), out=out) is out
    np.testing.assert_array_equal(arrays.get(out), expected)
    in_host = np.full((33, 7, 7), np.nan, np.float32)
    assert call(**inputs, out=in_host) is in_host
    np.testing.assert_array_equal(in_host, expected)


def test_any_other_kind_writes_into_out() -> None:
    """An object with nothing but `__cuda_array_interface__`, as Numba's arrays have."""
    arrays, call = framework("cupy"), call_of("iiwa14", "crba")

    class Bare:
        def __init__(self, array: Any) -> None:
            self.array = array
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    inputs = inputs_of("iiwa14", "crba", 5)
    out = arrays.put(np.zeros((5, 7, 7), np.float32))
    arrays.module.cuda.Device().synchronize()
    call(q=Bare(arrays.put(inputs["q"])), out=Bare(out))
    arrays.module.cuda.Device().synchronize()
    np.testing.assert_array_equal(arrays.get(out), call(**inputs))
    with pytest.raises(InputError, match="out="):
        call(q=Bare(arrays.put(inputs["q"])))


@pytest.mark.parametrize("robot", ["iiwa14", "go2", "humanoid"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_pointers_that_are_not_aligned(robot: str, dtype: str) -> None:
    """A contiguous view one element into its memory, for inputs and for results."""
    arrays, call = framework("torch"), call_of(robot, "forward_dynamics", dtype)
    torch = arrays.module
    for batch in (1, 32, 33, 257):
        inputs = inputs_of(robot, "forward_dynamics", batch, (), dtype)
        expected = call(**inputs)

        def shifted(array: Any) -> Any:
            base = torch.empty(array.size + 1, dtype=arrays.put(array).dtype, device="cuda:0")
            view = base[1:].view(array.shape)
            view.copy_(arrays.put(array))
            return view

        moved = {k: v if isinstance(v, float) else shifted(v) for k, v in inputs.items()}
        np.testing.assert_array_equal(arrays.get(call(**moved)), expected)
        out = shifted(np.full(expected.shape, np.nan, dtype))
        call(**put(arrays, inputs), out=out)
        np.testing.assert_array_equal(arrays.get(out), expected)


@pytest.mark.parametrize("kind", ["torch", "cupy"])
def test_wrong_arrays_are_named(kind: str) -> None:
    arrays, call = framework(kind), call_of("go2", "inverse_dynamics")
    inputs = inputs_of("go2", "inverse_dynamics", 8, ("qdd",))
    good = put(arrays, inputs)

    def refused(match: str, **changes: Any) -> None:
        with pytest.raises(InputError, match=match):
            call(**{**good, **changes})

    refused(
        r"qd must be of the handle's dtype float32; got float64",
        qd=arrays.put(inputs["qd"].astype(np.float64)),
    )
    refused(r"qd is a strided view", qd=arrays.put(np.zeros((8, 36), np.float32))[:, ::2])
    refused(r"qd must be \(B, nv=18\); got \(B, 19\)", qd=arrays.put(np.zeros((8, 19), np.float32)))
    refused(r"qd must have the batch of q", qd=arrays.put(np.zeros((7, 18), np.float32)))
    refused(r"qd is a numpy.ndarray in host memory", qd=inputs["qd"])
    refused(r"q is a numpy.ndarray in host memory", q=inputs["q"])
    refused(r"out .* must be of shape", out=arrays.put(np.zeros((8, 17), np.float32)))
    refused(r"out is|out .*host memory|tau is", out=np.zeros((8, 18), np.float32))
    refused(r"overlaps qd", out=good["qd"])
    refused(r"gravity must be finite", gravity=float("nan"))
    with pytest.raises(ArgumentError, match="qd is missing"):
        call(q=good["q"], qd=None)


def test_tensors_in_host_memory_give_numpy_arrays() -> None:
    torch = pytest.importorskip("torch")
    call = call_of("iiwa14", "crba")
    inputs = inputs_of("iiwa14", "crba", 5)
    got = call(q=torch.from_numpy(inputs["q"]))
    assert isinstance(got, np.ndarray)
    np.testing.assert_array_equal(got, call(**inputs))


def test_two_frameworks_do_not_mix() -> None:
    torch, cupy = framework("torch"), framework("cupy")
    call, inputs = call_of("iiwa14", "inverse_dynamics"), inputs_of("iiwa14", "inverse_dynamics", 4)
    with pytest.raises(InputError, match="must be of one kind"):
        call(q=torch.put(inputs["q"]), qd=cupy.put(inputs["qd"]))


def test_a_closed_handle_says_so_and_another_works_on() -> None:
    arrays = framework("torch")
    inputs = inputs_of("iiwa14", "crba", 4)
    first, second = fresh(), fresh()
    expected = second.crba(inputs["q"])
    np.testing.assert_array_equal(first.crba(inputs["q"]), expected)
    first.close()
    first.close()
    for q in (inputs["q"], arrays.put(inputs["q"])):
        with pytest.raises(HandleClosed, match="load the robot again"):
            first.crba(q)
        got = second.crba(q)
        np.testing.assert_array_equal(
            got if isinstance(got, np.ndarray) else arrays.get(got), expected
        )
    second.close()


def test_auto_takes_the_gpu() -> None:
    with fresh(backend="auto") as robot:
        assert robot.backend == "cuda"


def test_a_device_that_is_not_there_is_refused() -> None:
    robot = fresh(device=97)
    with pytest.raises(BackendUnavailable, match="there is no CUDA device 97"):
        robot.crba(np.zeros((1, 7), np.float32))


def test_builds_come_from_the_cache(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"cache_dir": tmp_path, "algorithm_list": ["crba"]}
    with fresh(**options) as robot:
        expected = robot.crba(np.ones((3, 7), np.float32))
    if not list(tmp_path.glob("*.build")):
        pytest.skip("the sources were edited while this process runs")

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("compiled")

    monkeypatch.setattr("grid_backend_cuda.build.compile_cubin", never)
    with fresh(**options) as robot:
        np.testing.assert_array_equal(robot.crba(np.ones((3, 7), np.float32)), expected)


def test_code_that_the_driver_refuses_falls_back_to_ptx(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code for another card is what a driver refuses."""
    other = "sm_120"
    compile_cubin = module.compile_cubin
    monkeypatch.setattr(module, "compile_cubin", lambda t, k, _: compile_cubin(t, k, other))
    monkeypatch.setattr("grid_core.artifact.fetching.operation_key", lambda *_: None)
    q = np.ones((33, 7), np.float32)
    with fresh() as robot:
        got = robot.crba(q)
    np.testing.assert_allclose(got, handle("iiwa14").crba(q), rtol=1e-4, atol=1e-5)


def test_the_plain_backend_agrees() -> None:
    inputs = inputs_of("go2", "inverse_dynamics", 100, ("qdd",))
    found, floating = ROBOTS["go2"]
    plain = grid_core.load_robot(
        urdf_string=found.source(), floating_base=floating, backend="cpu", dtype="float32"
    )
    expected = plain.inverse_dynamics(**inputs)
    got = handle("go2").inverse_dynamics(**inputs)
    np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3)
