"""Sums of squares over a batch, for host arrays and for device pointers."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from grid_backend_cuda.driver import check, driver, use
from grid_backend_cuda.launch import Launcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from grid_backend_cuda.driver import Card
    from grid_backend_cuda.launch_data import Build
    from grid_backend_cuda.squares import SquaresPlan
    from grid_core.model.types import Array

__all__ = ["CudaSquares", "assemble"]

_CHUNK_BYTES = 64 << 20
"""Bytes of a host's samples that are on the card at a time."""


def assemble(plan: SquaresPlan, total: NDArray[np.float64]) -> list[Array]:
    """Return the matrix of every segment, from the tiles' entries, (64, plan.padded)."""
    lane = np.arange(8)
    tiles = np.array([(t.segment, t.row, t.column, t.step) for t in plan.tiles]).reshape(-1, 4)
    matrices = []
    first = 0
    for segment, width in enumerate(plan.segments):
        step = -(-width // 8)
        (which,) = np.nonzero(tiles[:, 0] == segment)
        # A tile's row k is one of a pair; its pairs are `step` apart.
        rows, columns = (
            2 * (tiles[which, side, None] - first + step * (lane // 2)) + lane % 2
            for side in (1, 2)
        )
        blocks = total[:, which].T.reshape(-1, 8, 8)
        matrix = np.zeros((8 * step, 8 * step))
        matrix[rows[:, :, None], columns[:, None, :]] = blocks
        matrix[columns[:, None, :], rows[:, :, None]] = blocks
        matrices.append(np.ascontiguousarray(matrix[:width, :width]))
        first += 4 * step
    return matrices


class CudaSquares:
    """Runs one build on one device; one sum at a time."""

    def __init__(
        self,
        plan: SquaresPlan,
        build: Build,
        on: Card,
        ptx: Callable[[], bytes],
        widths: Mapping[str, int],
    ) -> None:
        self._plan = plan
        self._build = build
        self._card = on
        self._widths = dict(widths)
        self._launcher = Launcher(build, on, ptx)
        self._blocks = self._launcher.resident * on.multiprocessors
        self._entries = 64 * plan.padded
        self._lock = threading.Lock()
        with use(on):
            cu = driver()
            what = f"memory for {build.kernel}"
            self._stream = int(check(cu.cuStreamCreate(1), what))  # 1: non-blocking
            self._partial = int(check(cu.cuMemAlloc(8 * self._entries * self._blocks), what))
            self._total = int(check(cu.cuMemAlloc(8 * self._entries), what))

    def __call__(self, batch: int, inputs: Mapping[str, Any]) -> list[Array]:
        """Sum over NumPy arrays, some of them on the card at a time."""
        dtype = np.dtype(self._build.dtype)
        each = dtype.itemsize * sum(self._widths.values())
        step = max(_CHUNK_BYTES // max(each, 1) // 1024, 1) * 1024
        rows = min(step, batch)
        cu = driver()
        with self._lock, use(self._card):
            what = f"samples for {self._build.kernel}"
            there = {
                name: int(check(cu.cuMemAlloc(max(rows * width * dtype.itemsize, 16)), what))
                for name, width in self._widths.items()
            }
            try:
                self._clear(self._stream)
                for first in range(0, batch, step):
                    count = min(step, batch - first)
                    for name, pointer in there.items():
                        part = inputs[name][first : first + count]
                        source = part.ctypes.data
                        check(
                            cu.cuMemcpyHtoDAsync(pointer, source, part.nbytes, self._stream), what
                        )
                    self._add(count, {**inputs, **there}, self._stream)
                return self._result(self._stream)
            finally:
                cu.cuStreamSynchronize(self._stream)
                for pointer in there.values():
                    cu.cuMemFree(pointer)

    def launch(self, batch: int, arguments: Sequence[int | float], stream: int) -> list[Array]:
        """Sum over device pointers, arrays before numbers as the call has them; waits."""
        arrays = [n for n in self._build.inputs if n not in self._build.uniform]
        numbers = [n for n in self._build.inputs if n in self._build.uniform and n != "group"]
        with self._lock, use(self._card):
            self._clear(stream)
            if batch:
                self._add(batch, dict(zip([*arrays, *numbers], arguments, strict=True)), stream)
            return self._result(stream)

    def _clear(self, stream: int) -> None:
        size = 8 * self._entries * self._blocks
        what = f"clearing the sums of {self._build.kernel}"
        check(driver().cuMemsetD8Async(self._partial, 0, size, stream), what)

    def _add(self, batch: int, values: Mapping[str, Any], stream: int) -> None:
        for group in range(self._plan.groups):
            self._fire(batch, values, float(group), stream)

    def _result(self, stream: int) -> list[Array]:
        """Add the blocks' sums and read them."""
        still = dict.fromkeys(self._build.inputs, 0)
        numbers = dict.fromkeys(self._build.uniform, 0.0)
        every = self._blocks * self._build.problems
        self._fire(every, {**still, **numbers}, -float(self._blocks), stream)
        total = np.empty((64, self._plan.padded))
        what = f"reading the sums of {self._build.kernel}"
        cu = driver()
        check(cu.cuMemcpyDtoHAsync(total.ctypes.data, self._total, total.nbytes, stream), what)
        check(cu.cuStreamSynchronize(stream), what)
        return assemble(self._plan, total)

    def _fire(self, batch: int, values: Mapping[str, Any], group: float, stream: int) -> None:
        given = {**values, "group": group}
        arguments = [given[name] for name in self._build.inputs]
        self._launcher(batch, [*arguments, self._partial, self._total], stream, aligned=True)

    def close(self) -> None:
        """Free what it holds on the device."""
        with self._lock, use(self._card):
            cu = driver()
            cu.cuStreamSynchronize(self._stream)
            cu.cuMemFree(self._partial)
            cu.cuMemFree(self._total)
            cu.cuStreamDestroy(self._stream)
        self._launcher.close()
