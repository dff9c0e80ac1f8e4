"""The caller's stream is used and not waited for; threads and graphs may call."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tests.gpu.frameworks import NAMES, framework, put
from tests.gpu.loaded import call_of, handle, inputs_of

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]


@pytest.mark.parametrize("robot", ["iiwa14", "humanoid"])
def test_work_on_a_side_stream_is_seen_and_not_waited_for(robot: str) -> None:
    arrays, call = framework("torch"), call_of(robot, "forward_dynamics")
    torch = arrays.module
    inputs = inputs_of(robot, "forward_dynamics", 4097)
    expected = call(**inputs)
    ready = put(arrays, inputs)
    call(**ready)  # loaded and warm
    q = torch.full_like(ready["q"], float("nan"))
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    done = torch.cuda.Event()
    with torch.cuda.stream(side):
        torch.cuda._sleep(500_000_000)  # a quarter of a second, about
        q.copy_(ready["q"])
        got = call(**{**ready, "q": q})
        done.record(side)
        waited = done.query()
    assert not waited, "the call waited for the stream"
    side.synchronize()
    np.testing.assert_array_equal(arrays.get(got), expected)


def test_cupys_current_stream_is_used() -> None:
    arrays, call = framework("cupy"), call_of("iiwa14", "forward_dynamics")
    cupy = arrays.module
    inputs = inputs_of("iiwa14", "forward_dynamics", 1000)
    expected = call(**inputs)
    ready = put(arrays, inputs)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        twice = ready["q"] + ready["q"]
        got = call(**{**ready, "q": twice - ready["q"]})
        back = cupy.asnumpy(got, stream=stream)
        stream.synchronize()
    np.testing.assert_array_equal(back, expected)


def test_jax_values_that_are_still_computed_are_waited_for() -> None:
    arrays, call = framework("jax"), call_of("iiwa14", "forward_dynamics")
    jax = arrays.module
    inputs = inputs_of("iiwa14", "forward_dynamics", 1000)
    ready = put(arrays, inputs)
    slow = jax.jit(lambda q: (q * 4.0) * 0.25)
    got = call(**{**ready, "q": slow(ready["q"])})
    np.testing.assert_array_equal(np.asarray(got), call(**inputs))
    # What comes out is an ordinary array, for JAX to go on with.
    np.testing.assert_array_equal(np.asarray(got + 1.0), np.asarray(got) + 1.0)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("robot", ["iiwa14", "humanoid"])
def test_a_call_can_be_captured_in_a_graph(robot: str, name: str) -> None:
    arrays, call = framework("torch"), call_of(robot, name)
    torch = arrays.module
    inputs = inputs_of(robot, name, 333)
    held = put(arrays, inputs)
    call(**held)  # built and loaded before the capture
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        got = call(**held)
    other = inputs_of(robot, name, 333, seed=5)
    for key, value in other.items():
        if not isinstance(value, float):
            held[key].copy_(arrays.put(value))
    graph.replay()
    torch.cuda.synchronize()
    expected = call(**{**other, "gravity": inputs["gravity"]})
    np.testing.assert_array_equal(arrays.get(got), expected)


@pytest.mark.parametrize("on_device", [False, True])
def test_many_threads_may_call_one_handle(on_device: bool) -> None:
    arrays, call = framework("torch"), call_of("go2", "forward_dynamics")
    problems = [inputs_of("go2", "forward_dynamics", b, seed=b) for b in (1, 5, 33, 257, 1025)]
    expected = [call(**inputs) for inputs in problems]
    start = threading.Barrier(6)

    def work(k: int) -> bool:
        start.wait()
        same = True
        for step in range(25):
            at = (k + step) % len(problems)
            given = put(arrays, problems[at]) if on_device else problems[at]
            result: Any = call(**given)
            same &= bool(np.array_equal(arrays.get(result) if on_device else result, expected[at]))
        return same

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(6)))


@pytest.mark.parametrize("kind", ["numpy", *NAMES])
def test_a_thread_that_never_touched_cuda_may_call(kind: str) -> None:
    inputs = inputs_of("iiwa14", "crba", 40)
    expected = handle("iiwa14").crba(**inputs)
    arrays = None if kind == "numpy" else framework(kind)
    given = inputs if arrays is None else put(arrays, inputs)
    found: list[Any] = []

    def work() -> None:
        found.extend(handle("iiwa14").crba(**given) for _ in range(3))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    # Each has memory of its own: all three are looked at in the end.
    assert len(found) == 3
    for got in found:
        np.testing.assert_array_equal(got if arrays is None else arrays.get(got), expected)


@pytest.mark.parametrize("kind", NAMES)
def test_results_that_are_kept_stay_as_they_are(kind: str) -> None:
    arrays, call = framework(kind), call_of("iiwa14", "forward_dynamics")
    problems = [inputs_of("iiwa14", "forward_dynamics", 33, seed=seed) for seed in range(5)]
    kept = [call(**put(arrays, inputs)) for inputs in problems]
    for got, inputs in zip(kept, problems, strict=True):
        np.testing.assert_array_equal(arrays.get(got), call(**inputs))
