"""A compiled operation on one device, for host arrays and for device pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grid_backend_cuda.launch import ALIGNMENT, Launcher
from grid_backend_cuda.staging import Staging
from grid_core.uniform import UniformArray

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from grid_backend_cuda.driver import Card
    from grid_backend_cuda.launch_data import Build
    from grid_core.backend import Operation

__all__ = ["CudaKernel"]


class CudaKernel:
    """Runs one build on one device."""

    def __init__(
        self, operation: Operation, build: Build, on: Card, ptx: Callable[[], bytes]
    ) -> None:
        self.build = build
        self._card = on
        self._launcher = Launcher(build, on, ptx)
        ports = {p.name: p for p in (*operation.algorithm.inputs, *operation.algorithm.outputs)}
        batched = [n for n in (*build.inputs, *build.outputs) if n not in build.uniform]
        widths = {n: ports[n].size(operation.model, operation.options) for n in batched}
        self._staging = Staging(self._launcher, widths, operation.dtype)
        self._order = self._argument_order(operation)

    def _argument_order(self, operation: Operation) -> list[int]:
        """Where each kernel argument stands among the call's: arrays first, then numbers."""
        present = [
            p for p in operation.algorithm.inputs if not p.optional or p.name in operation.present
        ]
        as_called = [p.name for p in present if not p.uniform]
        for port in present:
            if port.uniform:
                as_called += UniformArray.of(port, operation.model, operation.options).names
        return [as_called.index(name) for name in self.build.inputs]

    def __call__(self, batch: int, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Evaluate over NumPy arrays and wait."""
        self._staging.run(batch, inputs, outputs)

    def launch(
        self, batch: int, arguments: Sequence[int | float], results: Sequence[int], stream: int
    ) -> None:
        """Enqueue over device pointers, inputs in the order of the call's arguments."""
        merged = 0
        for value in (*arguments, *results):
            if type(value) is int:
                merged |= value
        self.fire(batch, arguments, results, stream, aligned=merged % ALIGNMENT == 0)

    def fire(
        self,
        batch: int,
        arguments: Sequence[int | float],
        results: Sequence[int],
        stream: int,
        *,
        aligned: bool,
    ) -> None:
        """Enqueue, knowing whether every pointer is a multiple of `ALIGNMENT`."""
        values = [arguments[k] for k in self._order]
        self._launcher(batch, [*values, *results], stream, aligned=aligned)

    def close(self) -> None:
        """Free what it holds on the device."""
        self._staging.close()
        self._launcher.close()
