"""A problem's result is its own: not its place's, its neighbours', nor the threads'."""

from __future__ import annotations

import functools
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_backend_cpu import kernel as kernel_module
from grid_backend_cpu.compiler import host
from grid_core.assets import asset_path
from grid_core.model import load_urdf
from tests.cpu.kernels import DTYPES, LANES, Compiled
from tests.program.operations import traced

if TYPE_CHECKING:
    from grid_backend_cpu.vector import Lanes
    from grid_core.program.program import Program

BATCHES = (1, 2, 31, 33, 4097)


@functools.cache
def program(name: str) -> Program:
    return traced(load_urdf(asset_path("iiwa14")), name)


@functools.cache
def compiled(lanes: Lanes, threads: int = 1, name: str = "forward_dynamics") -> Compiled:
    return Compiled(program(name), lanes, num_threads=threads)


def inputs(batch: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    arrays: dict[str, Any] = {name: rng.normal(size=(batch, 7)) for name in ("q", "qd", "u")}
    return {**arrays, "gravity": -9.81}


def rows(given: dict[str, Any], which: Any) -> dict[str, Any]:
    return {k: v if isinstance(v, float) else v[which] for k, v in given.items()}


@pytest.fixture(autouse=True)
def eager_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Split every batch that has two tiles, however little work it is."""
    monkeypatch.setattr(kernel_module, "_MIN_WORK", 1.0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_a_row_has_the_same_bits_wherever_it_stands(lanes: Lanes, threads: int) -> None:
    everything = inputs(4097)
    whole = compiled(lanes)(4097, everything)["qdd"]
    for batch in (*BATCHES, lanes.width - 1, lanes.width, lanes.width + 1):
        for start in (0, 5, 4097 - batch):
            part = rows(everything, slice(start, start + batch))
            count = len(part["q"])
            got = compiled(lanes, threads)(count, part)["qdd"]
            np.testing.assert_array_equal(got, whole[start : start + count])
    order = np.random.default_rng(1).permutation(4097)
    np.testing.assert_array_equal(
        compiled(lanes, threads)(4097, rows(everything, order))["qdd"], whole[order]
    )


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_any_number_of_threads_gives_the_same_bits(threads: int) -> None:
    lanes = host().lanes("float32")
    for batch in (2 * lanes.width, 97, 4097):
        given = inputs(batch)
        expected = compiled(lanes)(batch, given)["qdd"]
        np.testing.assert_array_equal(compiled(lanes, threads)(batch, given)["qdd"], expected)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e30])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_bad_row_stays_in_its_row(dtype: str, bad: float) -> None:
    kernel, given = compiled(host().lanes(dtype)), inputs(67)
    alone = kernel(67, given)["qdd"]
    spoilt = [0, 30, 66]
    for name in ("q", "qd", "u"):
        given_bad = {**given, name: given[name].copy()}
        given_bad[name][spoilt, 3] = bad
        got = kernel(67, given_bad)["qdd"]
        kept = np.delete(np.arange(67), spoilt)
        np.testing.assert_array_equal(got[kept], alone[kept])
        if np.isnan(bad):
            assert np.isnan(got[spoilt]).any(axis=1).all()


def test_a_bad_row_leaves_nothing_behind() -> None:
    """The scratch block still holds it when the next, shorter batch comes."""
    kernel, given = compiled(host().lanes("float32")), inputs(3)
    expected = kernel(3, given)["qdd"]
    kernel(5, {**inputs(5), "q": np.full((5, 7), np.nan)})
    np.testing.assert_array_equal(kernel(3, given)["qdd"], expected)


def test_one_tile_is_the_calling_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much work it is: there is nothing to share."""
    monkeypatch.setattr(kernel_module, "_pool", None)
    lanes = host().lanes("float64")
    assert np.isfinite(compiled(lanes, 7)(lanes.width, inputs(lanes.width))["qdd"]).all()


def test_outputs_are_written_in_full_and_inputs_not_at_all() -> None:
    kernel, given = compiled(host().lanes("float64"), 2, "crba"), inputs(1000)
    kept = given["q"].copy()
    assert np.isfinite(kernel(1000, given)["M"]).all()
    np.testing.assert_array_equal(given["q"], kept)


def test_many_threads_may_call_one_kernel_at_once() -> None:
    kernel = compiled(host().lanes("float32"), 2)
    problems = [(batch, inputs(batch, seed=batch)) for batch in (1, 3, 40, 333, 1025, 5, 64, 777)]
    expected = [kernel(batch, given)["qdd"] for batch, given in problems]
    start = threading.Barrier(8)

    def work(k: int) -> bool:
        start.wait()
        same = True
        for step in range(40):
            at = (k + step) % len(problems)
            batch, given = problems[at]
            same &= bool(np.array_equal(kernel(batch, given)["qdd"], expected[at]))
        return same

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_the_interpreter_runs_on_beside_a_kernel() -> None:
    """The GIL is released: another thread counts while this one is in compiled code."""
    kernel, batch = compiled(host().lanes("float64"), 1), 200_000
    given, counted, done = inputs(batch), [0], threading.Event()

    def count() -> None:
        while not done.is_set():
            counted[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    arrays = {k: v if isinstance(v, float) else np.ascontiguousarray(v) for k, v in given.items()}
    out = {"qdd": np.empty((batch, 7))}
    before = counted[0]
    for _ in range(5):
        kernel.kernel(batch, arrays, out)
    after = counted[0]
    done.set()
    thread.join()
    assert after - before > 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_computes_too() -> None:
    """Workers that fork a process whose threads have run must not wait for those threads."""
    kernel, given = compiled(host().lanes("float32"), 2), inputs(4096)
    expected = kernel(4096, given)["qdd"]
    child = os.fork()
    if child == 0:
        try:
            same = np.array_equal(kernel(4096, given)["qdd"], expected)
        except BaseException:  # noqa: BLE001 - the child must end here whatever happens
            same = False
        os._exit(0 if same else 1)
    deadline = time.monotonic() + 30.0
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended == (0, 0):
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert ended == (child, 0)


def test_arrays_outlive_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a thread still writes is not freed when the calling thread is interrupted."""
    kernel = compiled(host().lanes("float32"), 2).kernel
    release, part = threading.Event(), kernel._part
    seen: list[Any] = []

    def slow(begin: int, end: int, arguments: list[Any], held: Any) -> None:
        if begin == 0:
            raise KeyboardInterrupt
        release.wait(10.0)
        seen.append(held)
        part(begin, end, arguments, held)

    monkeypatch.setattr(kernel, "_part", slow)
    batch = 512
    given = {
        k: v if isinstance(v, float) else v.astype(np.float32) for k, v in inputs(batch).items()
    }
    outputs = {"qdd": np.empty((batch, 7), np.float32)}
    with pytest.raises(KeyboardInterrupt):
        kernel(batch, given, outputs)
    release.set()
    kernel_module._pool(1).submit(int).result()
    assert seen
    assert seen[0][0] is given
    assert seen[0][1] is outputs


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_steps_change_no_bit(monkeypatch: pytest.MonkeyPatch, dtype: str, threads: int) -> None:
    lanes, given = host().lanes(dtype), inputs(4097)
    expected = compiled(lanes)(4097, given)["qdd"]
    for work in (1.0, 1e4, 1e5):
        monkeypatch.setattr(kernel_module, "_STEP_WORK", work)
        stepping = Compiled(program("forward_dynamics"), lanes, num_threads=threads)
        assert stepping.kernel._step % lanes.width == 0
        np.testing.assert_array_equal(stepping(4097, given)["qdd"], expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_long_call_can_be_interrupted(threads: int) -> None:
    """All of its threads stop soon, and the kernel still works afterwards."""
    kernel, batch = compiled(host().lanes("float64"), threads), 1024
    calls = kernel.kernel
    given, small = inputs(batch), kernel(batch, inputs(batch))["qdd"]
    # Each step is some 10 ms and computes one problem, so that a call of 10 s needs no memory.
    whole = calls._function

    def again(begin: int, end: int, *rest: Any) -> None:
        time.sleep(0.01)
        assert end - begin <= calls._step
        whole(0, 1, *rest)

    calls._function = again
    timer = threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT])
    arrays = {k: v if isinstance(v, float) else np.ascontiguousarray(v) for k, v in given.items()}
    start = time.monotonic()
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            calls(1000 * calls._step, arrays, {"qdd": np.empty((batch, 7))})
        assert time.monotonic() - start < 3.0
        kernel_module._pool(1).submit(int).result(timeout=3.0)
    finally:
        timer.join()
        calls._function = whole
    np.testing.assert_array_equal(kernel(batch, given)["qdd"], small)
