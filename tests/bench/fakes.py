"""PyTorch and grid-rbd without a GPU: just what the harness asks of them, over NumPy."""

from __future__ import annotations

import contextlib
import time
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core import load_robot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Tensor(np.ndarray):
    """Lies in host memory and says nothing about it."""

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return self.view(np.ndarray)

    def to(self, _device: str) -> Tensor:
        return self.copy()

    def fill_(self, value: float) -> None:
        self.fill(value)

    def copy_(self, other: Tensor) -> None:
        self[...] = other


def tensor(array: Any) -> Tensor:
    return np.array(array, order="C").view(Tensor)


class Graph:
    """What was recorded is run again."""

    recording: Graph | None = None

    def __init__(self) -> None:
        self.steps: list[Callable[[], object]] = []
        self.replays = 0

    def replay(self) -> None:
        self.replays += 1
        for step in self.steps:
            step()


def record(step: Callable[[], object]) -> None:
    if Graph.recording is not None:
        Graph.recording.steps.append(step)


@contextlib.contextmanager
def graph(made: Graph) -> Iterator[None]:
    Graph.recording = made
    try:
        yield
    finally:
        Graph.recording = None


class Event:
    def __init__(self, *, enable_timing: bool) -> None:
        assert enable_timing
        self.at = 0.0

    def record(self) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, other: Event) -> float:
        return 1e3 * (other.at - self.at)


def fake_torch(*, gpu: bool = True) -> ModuleType:
    module: Any = ModuleType("torch")
    stream = SimpleNamespace(wait_stream=lambda _: None)
    properties = SimpleNamespace(
        name="Fake H200", major=9, minor=0, multi_processor_count=132, L2_cache_size=1 << 16
    )
    module.__version__ = "0"
    module.__spec__ = ModuleSpec("torch", None)
    module.float32, module.float64 = np.float32, np.float64
    module.from_numpy = tensor
    module.cat = lambda parts: tensor(np.concatenate(parts))
    module.roll = lambda x, shift, axis: tensor(np.roll(x, shift, axis))
    module.full = lambda shape, value, dtype, device: tensor(np.full(shape, value, dtype))
    module.zeros = lambda size, dtype, device: tensor(np.zeros(min(size, 4096), dtype))
    module.zeros_like = lambda x: tensor(np.zeros_like(x))
    module.equal = np.array_equal
    module.isnan = np.isnan
    module.cuda = SimpleNamespace(
        is_available=lambda: gpu,
        current_device=lambda: 0,
        get_device_properties=lambda _: properties,
        synchronize=lambda: None,
        Event=Event,
        CUDAGraph=Graph,
        graph=graph,
        Stream=lambda: stream,
        current_stream=lambda: stream,
        stream=lambda _: contextlib.nullcontext(),
    )
    return module


class Peer:
    """grid-rbd's handle; its joints are in the opposite order."""

    def __init__(self, path: str, module: Any, **options: Any) -> None:
        self.module = module
        self.options = options
        self.ours = load_robot(
            path,
            backend="reference",
            dtype="float64",
            floating_base=options["floating_base"],
            algorithm_list=options["algorithm_list"],
        )
        base = int(options["floating_base"])
        self.q = np.r_[: 7 * base, self.ours.nq - 1 : 7 * base - 1 : -1] if base else None
        self.v = np.r_[: 6 * base, self.ours.nv - 1 : 6 * base - 1 : -1] if base else None
        if not base:
            self.q = self.v = np.arange(self.ours.nq)[::-1]
        self.num_joints, self.num_vel = self.ours.nq, self.ours.nv
        names = list(self.ours.joint_names)
        fixed = ["floating_base_joint"] if base else []
        self._base = SimpleNamespace(joint_names=fixed + names[base:][::-1])

    def __getattr__(self, name: str) -> Any:
        if name not in self.options["algorithm_list"]:
            raise AttributeError(name)

        def call(q: Tensor, *rest: Tensor) -> Tensor:
            self.module.calls.append((name, len(q)))
            if Graph.recording is not None and self.module.refuses:
                raise RuntimeError("operation not permitted when stream is capturing\nmore")
            result = tensor(self.compute(name, q, *rest))

            def again() -> None:
                result[...] = self.compute(name, q, *rest)

            record(again)
            return result

        return call

    def compute(self, name: str, q: Tensor, *rest: Tensor) -> Any:
        # Theirs to ours: entry k of theirs is entry self.v[k] of ours, and back the same way.
        qs, vs = np.argsort(self.q), np.argsort(self.v)
        states = [np.asarray(q)[:, qs], *(np.asarray(x)[:, vs] for x in rest)]
        right = getattr(self.ours, name)(*states)[:, self.v]
        right = right if right.ndim < 3 else right[:, :, self.v]
        return (self.module.factor * right).astype(np.float32)


def fake_grid_rbd(*, factor: float = 1.0, refuses: bool = False) -> ModuleType:
    module: Any = ModuleType("grid_rbd")
    module.factor, module.refuses = factor, refuses
    module.calls, module.loads = [], []

    def load(path: str, **options: Any) -> Peer:
        module.loads.append(options)
        return Peer(path, module, **options)

    module.load_robot = load
    return module
