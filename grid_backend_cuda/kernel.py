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
    """Runs one build on one device.

    Attributes:
        build: the build.
        launcher: takes values in the order of the call's arguments.
    """

    def __init__(
        self, operation: Operation, build: Build, on: Card, ptx: Callable[[], bytes]
    ) -> None:
        self.build = build
        self.launcher = Launcher(build, on, ptx, _as_called(operation))
        ports = {p.name: p for p in (*operation.algorithm.inputs, *operation.algorithm.outputs)}
        batched = [n for n in (*build.inputs, *build.outputs) if n not in build.uniform]
        widths = {n: ports[n].size(operation.model, operation.options) for n in batched}
        self._staging = Staging(self.launcher, widths, operation.dtype)

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
        self.launcher(batch, [*arguments, *results], stream, aligned=merged % ALIGNMENT == 0)

    def close(self) -> None:
        """Free what it holds on the device."""
        self._staging.close()
        self.launcher.close()


def _as_called(operation: Operation) -> list[str]:
    """Name the inputs that are given in the order of the call's arguments: numbers come last."""
    present = [
        p for p in operation.algorithm.inputs if not p.optional or p.name in operation.present
    ]
    names = [p.name for p in present if not p.uniform]
    for port in present:
        if port.uniform:
            names += UniformArray.of(port, operation.model, operation.options).names
    return names
