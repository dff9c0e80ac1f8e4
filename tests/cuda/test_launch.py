"""What a launch gives the driver, on a driver that is made up."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve
from cuda.bindings import driver as bindings

from grid_backend_cuda import launch
from grid_backend_cuda.launch import Launcher
from grid_backend_cuda.launch_data import Build
from grid_core.errors import BackendError

KINDS = {"float32": ctypes.c_float, "float64": ctypes.c_double}
CARD: Any = SimpleNamespace(
    index=1, name="made up", arch="sm_90", multiprocessors=10, shared_limit=1 << 16, context=5
)


class Status:
    def __init__(self, name: str = "") -> None:
        self.name, self.value = name, int(bool(name))

    def __bool__(self) -> bool:
        return bool(self.value)


class FakeDriver:
    """Reads the arguments of a kernel (gravity, q, qd; p) as the device would.

    Attributes:
        launches: (batch, aligned, gravity, q, qd, p) and the rest, for each launch.
        attributes: those of each launch.
        faults: statuses of the next launches.
    """

    CUlaunchConfig = bindings.CUlaunchConfig
    CUlaunchAttribute = bindings.CUlaunchAttribute
    CUlaunchAttributeID = bindings.CUlaunchAttributeID
    CUfunction_attribute = SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8)

    def __init__(self, dtype: str) -> None:
        self.real = KINDS[dtype]
        self.launches: list[tuple[Any, ...]] = []
        self.attributes: list[Any] = []
        self.faults: list[str] = []
        for name in ("cuModuleGetFunction", "cuModuleLoadData", "cuFuncSetAttribute"):
            setattr(self, name, lambda *_: (Status(), 77))

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, *_: Any) -> Any:  # noqa: N802 - its name
        return Status(), 2

    def cuLaunchKernelEx(self, config: Any, function: Any, *rest: Any) -> Any:  # noqa: N802 - its name
        if self.faults:
            return (Status(self.faults.pop(0)),)
        table = (ctypes.c_void_p * 6).from_address(rest[0])
        kinds = (ctypes.c_int64, ctypes.c_int, self.real, *[ctypes.c_void_p] * 3)
        values = tuple(k.from_address(at).value for k, at in zip(kinds, table, strict=True))
        block = (config.blockDimX, config.blockDimY, config.blockDimZ, config.sharedMemBytes)
        grid = (config.gridDimX, config.gridDimY, config.gridDimZ)
        self.launches.append((values, function, (*grid, *block, int(config.hStream))))
        self.attributes.append(config.attrs[: config.numAttrs])
        return (Status(),)


@pytest.fixture(params=["float32", "float64"])
def made(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    fake = FakeDriver(request.param)
    monkeypatch.setattr(launch, "driver", lambda: fake)
    monkeypatch.setattr(launch, "use", lambda _: contextlib.nullcontext())
    counts = dict.fromkeys(
        ("registers", "spill_bytes", "stack_bytes", "static_shared_bytes", "operations", "fused",
         "live"), 0,
    )  # fmt: skip
    build = Build(
        kernel="grid_product", arch="sm_90", dtype=request.param, inputs=("gravity", "q", "qd"),
        uniform=("gravity",), outputs=("p",), threads=128, shared_bytes=999, problems=64, waves=3,
        parts=1, code=b"", **counts,
    )  # fmt: skip
    return fake, build


def test_values_come_as_called_and_lie_as_the_kernel_has_them(made: Any) -> None:
    fake, build = made
    Launcher(build, CARD, bytes, ("q", "qd", "gravity"))(100, [16, 32, -2.5, 48], 7, aligned=True)
    Launcher(build, CARD, bytes)(100, [-2.5, 16, 32, 48], 7, aligned=False)
    shape = (2, 1, 1, 128, 1, 1, 999, 7)
    assert fake.launches == [
        ((100, 1, -2.5, 16, 32, 48), 77, shape),
        ((100, 0, -2.5, 16, 32, 48), 77, shape),
    ]


def test_blocks_are_as_many_as_the_batch_needs_and_the_card_takes_in_turns(made: Any) -> None:
    _, build = made
    launcher = Launcher(build, CARD, bytes)
    assert [launcher.blocks(n) for n in (1, 64, 65, 1 << 30)] == [1, 1, 2, 3 * 2 * 10]


def test_a_launch_without_its_context_is_made_again_in_it(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake, build = made
    used: list[Any] = []
    launcher = Launcher(build, CARD, bytes)
    monkeypatch.setattr(launch, "use", lambda on: used.append(on) or contextlib.nullcontext())
    for fault in ("CUDA_ERROR_INVALID_CONTEXT", "CUDA_ERROR_INVALID_HANDLE"):
        fake.faults = [fault]
        launcher(1, [1.0, 16, 32, 48], 0, aligned=True)
    assert used == [CARD, CARD]
    assert len(fake.launches) == 2


def test_only_a_kernel_that_waits_may_come_before_the_last_one_is_done(made: Any) -> None:
    fake, build = made
    for chained in (False, True):
        launcher = Launcher(evolve(build, chained=chained), CARD, bytes)
        for stream in (7, 8):
            launcher(100, [-2.5, 16, 32, 48], stream, aligned=True)
    kind = bindings.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    assert [len(attributes) for attributes in fake.attributes] == [0, 0, 1, 1]
    for (asked,) in fake.attributes[2:]:
        assert asked.id == kind
        assert asked.value.programmaticStreamSerializationAllowed == 1
    assert fake.launches[2] == fake.launches[0]


def test_launches_overlap_where_their_blocks_do_not_crowd(made: Any) -> None:
    """Of 10 multiprocessors, with two blocks of 64 problems each at a time."""
    fake, build = made
    launcher = Launcher(evolve(build, chained=True), CARD, bytes)
    for blocks in (1, 5, 6, 19, 20, 60):
        launcher(64 * blocks, [-2.5, 16, 32, 48], 7, aligned=True)
    assert [shape[0] for _, _, shape in fake.launches] == [1, 5, 6, 19, 20, 60]
    assert [len(attributes) for attributes in fake.attributes] == [1, 1, 0, 0, 1, 1]


def test_another_fault_is_told_with_its_place(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fake, build = made
    monkeypatch.setattr(
        "cuda.bindings.driver.cuGetErrorString", lambda _: (0, b"too much"), raising=False
    )
    fake.faults = ["CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"]
    with pytest.raises(BackendError, match=r"launching grid_product on device 1: .*OUT_OF_RES"):
        Launcher(build, CARD, bytes)(1, [1.0, 16, 32, 48], 0, aligned=True)


def test_threads_have_arguments_of_their_own(made: Any) -> None:
    fake, build = made
    launcher = Launcher(build, CARD, bytes)
    start = threading.Barrier(4)

    def work(k: int) -> None:
        start.wait()
        for _ in range(200):
            launcher(k, [float(k), 16 * k, 16 * k, 16 * k], k, aligned=True)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fake.launches) == 800
    for (batch, _, gravity, *pointers), _, shape in fake.launches:
        assert gravity == batch == shape[-1]
        assert pointers == [16 * batch] * 3
