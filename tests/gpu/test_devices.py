"""Two GPUs in one process: handles on both, side by side, in one thread and in several."""

from __future__ import annotations

import functools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from grid_backend_cuda.driver import card, check, driver
from grid_core.errors import InputError
from tests.gpu.frameworks import NAMES, framework, put
from tests.gpu.loaded import SOME, allowed, fresh, inputs_of, reference, require_close

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]

DEVICES = (0, 1)


@pytest.fixture(autouse=True)
def _two_devices() -> None:
    if check(driver().cuDeviceGetCount(), "counting devices") < len(DEVICES):
        pytest.skip("one GPU here")


@functools.cache
def robot(device: int) -> Any:
    """Load iiwa14 on a device, kept for all tests."""
    return fresh(device=device, algorithm_list=[*SOME, "regressor_gram"])


def call_on(device: int, name: str) -> Any:
    return getattr(robot(device), name)


def context() -> int:
    """The driver's current context in this thread; 0: none."""
    return int(check(driver().cuCtxGetCurrent(), "asking for the context"))


@functools.cache
def problem(name: str, batch: int, seed: int) -> tuple[dict[str, Any], Any]:
    """Inputs and what the first device makes of them, from NumPy's arrays."""
    inputs = inputs_of("iiwa14", name, batch, seed=seed)
    return inputs, call_on(0, name)(**inputs)


def require_same(got: Any, expected: Any, what: str) -> None:
    """The same bits where both GPUs are of one architecture, else what rounding allows."""
    if card(0).arch == card(1).arch:
        np.testing.assert_array_equal(got, expected, err_msg=what)
    else:
        np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3, err_msg=what)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", SOME)
def test_numpy_gives_the_textbooks_results_on_either(name: str, device: int) -> None:
    for batch in (1, 33, 1000):
        inputs = inputs_of("iiwa14", name, batch, seed=device)
        expected = reference("iiwa14", name, inputs)
        (port,) = expected
        got = {port: call_on(device, name)(**inputs)}
        require_close(got, expected, allowed("iiwa14", name, "float32", inputs), f"{name} {device}")


def test_numpy_of_several_chunks_on_the_second() -> None:
    before = context()
    inputs, expected = problem("crba", 100_003, 0)
    require_same(call_on(1, "crba")(**inputs), expected, "crba")
    out = np.full_like(expected, np.nan)
    assert call_on(1, "crba")(**inputs, out=out) is out
    require_same(out, expected, "crba, out=")
    assert context() == before


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("name", SOME)
def test_arrays_of_both_devices_in_turns(name: str, kind: str) -> None:
    there = [framework(kind, index) for index in DEVICES]
    held = []
    for step, batch in enumerate((1, 33, 4097, 33, 1, 4097, 0)):
        inputs, expected = problem(name, batch, step)
        for arrays in (*there, *reversed(there)):
            got = call_on(arrays.index, name)(**put(arrays, inputs))
            assert arrays.device_of(got) == arrays.index
            # Looked at when all were enqueued: none may have taken another's memory.
            held.append((arrays, got, expected))
    for arrays, got, expected in held:
        require_same(arrays.get(got), expected, f"{name} on device {arrays.index}")


@pytest.mark.parametrize("kind", ["torch", "cupy"])
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("current", DEVICES)
def test_the_callers_device_stays_current(current: int, device: int, kind: str) -> None:
    arrays, call = framework(kind, device), call_on(device, "inverse_dynamics")
    inputs, expected = problem("inverse_dynamics", 65, 2)
    given = put(arrays, inputs)
    one = {k: v if isinstance(v, float) else arrays.put(v[7]) for k, v in inputs.items()}
    out = arrays.put(np.full_like(expected, np.nan))
    wrong = arrays.put(np.zeros((65, 8), np.float32))
    with arrays.at(current):
        arrays.module.zeros(1) if kind == "cupy" else arrays.module.zeros(1, device="cuda")
        before = context()
        assert before == int(card(current).context)

        def unchanged() -> None:
            assert (context(), arrays.current()) == (before, current)

        for _ in range(3):
            got = call(**given)
            unchanged()
        single = call(**one)
        unchanged()
        assert call(**given, out=out) is out
        unchanged()
        with pytest.raises(InputError, match="got"):
            call(**{**given, "qd": wrong})
        unchanged()
        host = call(**inputs)
        unchanged()
    for result in (arrays.get(got), arrays.get(out), host):
        require_same(result, expected, "inverse_dynamics")
    require_same(arrays.get(single), expected[7], "one problem")


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("device", DEVICES)
def test_arrays_of_the_other_device_are_refused(device: int, kind: str) -> None:
    """By the first call, and when right ones have gone before; the message names both."""
    other = 1 - device
    here, there = framework(kind, device), framework(kind, other)
    inputs, expected = problem("inverse_dynamics", 33, 1)
    right, wrong = put(here, inputs), put(there, inputs)
    said = rf" lies on device {other}, and this handle is on device {device}; .*device={other}$"
    with fresh(device=device, algorithm_list=["inverse_dynamics"]) as made:
        call = made.inverse_dynamics
        for _ in range(2):
            for name in ("q", "qd"):
                with pytest.raises(InputError, match=name + said):
                    call(**{**right, name: wrong[name]})
            with pytest.raises(InputError, match="q" + said):
                call(**wrong)
            if kind != "jax":
                result = there.put(np.zeros_like(expected))
                with pytest.raises(InputError, match="tau" + said):
                    call(**right, out=result)
                assert not there.get(result).any()
            require_same(here.get(call(**right)), expected, "inverse_dynamics")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("current", DEVICES)
def test_pytorchs_stream_is_that_of_the_handles_device(current: int, device: int) -> None:
    arrays, call = framework("torch", device), call_on(device, "forward_dynamics")
    torch = arrays.module
    inputs, expected = problem("forward_dynamics", 4097, 3)
    ready = put(arrays, inputs)
    call(**ready)  # loaded and warm
    call(**ready)
    q = torch.full_like(ready["q"], float("nan"))
    for each in DEVICES:
        torch.cuda.synchronize(each)
    with torch.cuda.device(device):
        side, done = torch.cuda.Stream(), torch.cuda.Event()
    with torch.cuda.stream(side):
        torch.cuda._sleep(500_000_000)  # a quarter of a second, about
        q.copy_(ready["q"])
        with torch.cuda.device(current):
            got = call(**{**ready, "q": q})
        done.record(side)
        waited = done.query()
    assert not waited, "the call waited for the stream"
    side.synchronize()
    require_same(arrays.get(got), expected, "forward_dynamics")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("current", DEVICES)
def test_cupys_stream_is_that_of_the_handles_device(current: int, device: int) -> None:
    arrays, call = framework("cupy", device), call_on(device, "forward_dynamics")
    cupy = arrays.module
    inputs, expected = problem("forward_dynamics", 4097, 4)
    ready = put(arrays, inputs)
    call(**ready)
    with cupy.cuda.Device(device):
        q = cupy.full_like(ready["q"], np.nan)
        slow = cupy.zeros((8192, 8192), np.float32)
        slow @ slow  # the library is loaded, and has its memory
        cupy.cuda.Device(device).synchronize()
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            for _ in range(10):
                slow @ slow
            q[...] = ready["q"]
            with cupy.cuda.Device(current):
                got = call(**{**ready, "q": q})
            waited = stream.done
        stream.synchronize()
    assert not waited, "the call waited for the stream"
    require_same(arrays.get(got), expected, "forward_dynamics")


@pytest.mark.parametrize("device", DEVICES)
def test_jax_values_that_are_still_computed_are_waited_for(device: int) -> None:
    arrays, call = framework("jax", device), call_on(device, "forward_dynamics")
    inputs, expected = problem("forward_dynamics", 1000, 5)
    ready = put(arrays, inputs)
    slow = arrays.module.jit(lambda q: (q * 4.0) * 0.25)
    for _ in range(3):
        got = call(**{**ready, "q": slow(ready["q"])})
        require_same(np.asarray(got), expected, "forward_dynamics")
        np.testing.assert_array_equal(np.asarray(got + 1.0), np.asarray(got) + 1.0)


@pytest.mark.parametrize("device", DEVICES)
def test_a_call_can_be_captured_in_a_graph_of_its_device(device: int) -> None:
    arrays, call = framework("torch", device), call_on(device, "inverse_dynamics")
    torch = arrays.module
    inputs, _ = problem("inverse_dynamics", 333, 6)
    held = put(arrays, inputs)
    for _ in range(2):
        call(**held)
    with torch.cuda.device(device):
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        # A stream of its own: the one that PyTorch makes is of the device that captured first.
        with torch.cuda.graph(graph, stream=torch.cuda.Stream(device)):
            got = call(**held)
        other, expected = problem("inverse_dynamics", 333, 7)
        for key, value in other.items():
            if not isinstance(value, float):
                held[key].copy_(arrays.put(value))
        graph.replay()
        torch.cuda.synchronize()
    if other["gravity"] != inputs["gravity"]:
        expected = call_on(0, "inverse_dynamics")(**{**other, "gravity": inputs["gravity"]})
    require_same(arrays.get(got), expected, "inverse_dynamics")


@pytest.mark.parametrize("kind", ["numpy", *NAMES])
@pytest.mark.parametrize("own", [True, False])
def test_threads_work_on_both_devices_at_once(own: bool, kind: str) -> None:
    """Two threads with a device each, then two that each change from one to the other."""
    there = None if kind == "numpy" else [framework(kind, index) for index in DEVICES]
    names = ("forward_dynamics", "crba")
    problems = [(n, *problem(n, batch, 8)) for n in names for batch in (1, 33, 257, 1025)]
    for device in DEVICES:
        for name in names:
            call_on(device, name)
    start = threading.Barrier(2)

    def work(thread: int) -> list[str]:
        start.wait()
        faults = []
        for step in range(40):
            device = thread if own else (thread + step) % 2
            name, inputs, expected = problems[(thread + step) % len(problems)]
            arrays = None if there is None else there[device]
            result: Any = call_on(device, name)(**(put(arrays, inputs) if arrays else inputs))
            if arrays is not None and arrays.device_of(result) != device:
                faults.append(f"{name} in step {step} lies on another device than {device}")
            got = arrays.get(result) if arrays else result
            try:
                require_same(got, expected, f"{name} on device {device} in step {step}")
            except AssertionError as error:
                faults.append(str(error))
        return faults

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(work, range(2)))
    assert found == [[], []]


@pytest.mark.parametrize("kind", ["numpy", *NAMES])
def test_squares_are_summed_on_the_second(kind: str) -> None:
    made = robot(1)
    rng = np.random.default_rng(9)
    q = made.random_configuration(rng, 10_007)
    log = [q, *rng.standard_normal((3, 10_007, made.nv)).astype(np.float32)]
    expected = robot(0).regressor_gram(*log)
    given = log if kind == "numpy" else [framework(kind, 1).put(array) for array in log]
    before = context()
    got = made.regressor_gram(*given)
    if kind != "jax":  # which may leave another context than it found
        assert context() == before
    for mine, theirs in zip(got.squares, expected.squares, strict=True):
        assert np.linalg.norm(mine - theirs) <= 1e-6 * np.linalg.norm(theirs)


def test_one_handle_closes_and_the_other_works_on() -> None:
    inputs, expected = problem("crba", 40, 10)
    arrays = framework("torch", 0)
    first, second = (fresh(device=device, algorithm_list=["crba"]) for device in DEVICES)
    for _ in range(2):
        require_same(arrays.get(first.crba(arrays.put(inputs["q"]))), expected, "crba")
        require_same(second.crba(inputs["q"]), expected, "crba")
    before = context()
    second.close()
    assert context() == before
    require_same(arrays.get(first.crba(arrays.put(inputs["q"]))), expected, "crba")
    first.close()
