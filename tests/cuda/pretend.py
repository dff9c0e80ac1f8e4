"""A backend whose device is made up: its memory is the host's, its kernels are references."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from grid_backend_cuda.edge import CudaEdge
from tests.plugins.builders import FakeBackend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.backend import BuildSettings, Operation


class Kernel:
    """Runs the reference over pointers.

    Attributes:
        launches: batch and stream of each launch, and what else it was given.
        launcher: the same with values in one row, as the short way launches.
    """

    def __init__(self, operation: Operation, host: Any) -> None:
        self.operation, self.host = operation, host
        self.launches: list[tuple[Any, ...]] = []
        card = SimpleNamespace(index=0)
        self.launcher = SimpleNamespace(fire=self._fire, blocks=lambda n: -(-n // 32), card=card)

    def __call__(self, batch: int, inputs: Any, outputs: Any) -> None:
        self.host(batch, inputs, outputs)

    def launch(self, batch: int, arguments: Any, results: Any, stream: int) -> None:
        self.launches.append((batch, stream))
        self._run(batch, arguments, results)

    def _fire(
        self, batch: int, blocks: int, aligned: bool, values: Sequence[Any], stream: int
    ) -> None:
        self.launches.append((batch, stream, blocks, aligned))
        count = len(values) - len(self.operation.algorithm.outputs)
        self._run(batch, values[:count], values[count:])

    def _run(self, batch: int, arguments: Sequence[Any], results: Sequence[Any]) -> None:
        op = self.operation
        ports = [p for p in op.algorithm.inputs if not p.optional or p.name in op.present]
        ports.sort(key=lambda p: p.uniform)
        inputs = {
            p.name: a if p.uniform else self._array(a, (batch, *p.dims(op.model, op.options)))
            for p, a in zip(ports, arguments, strict=True)
        }
        outputs = {
            p.name: self._array(a, (batch, *p.dims(op.model, op.options)))
            for p, a in zip(op.algorithm.outputs, results, strict=True)
        }
        self.host(batch, inputs, outputs)

    def _array(self, pointer: int, shape: tuple[int, ...]) -> Any:
        kind = np.ctypeslib.as_ctypes_type(self.operation.dtype) * int(np.prod(shape))
        return np.ctypeslib.as_array(kind.from_address(pointer)).reshape(shape)


class HostEdge(CudaEdge):
    """Its device has no context."""

    def _current(self) -> contextlib.nullcontext[None]:
        return contextlib.nullcontext()


@frozen
class Backend(FakeBackend):
    """Has kernels over pointers, and an edge."""

    def build(self, operation: Operation, settings: Any) -> Any:
        return Kernel(operation, super().build(operation, settings))

    def edge(self, settings: BuildSettings) -> CudaEdge:
        return HostEdge(settings.device or 0)
