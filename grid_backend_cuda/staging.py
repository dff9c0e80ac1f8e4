"""NumPy in, NumPy out: pinned staging in chunks, so copies overlap with work.

Two slots take turns: while one is on the card, the other is filled and emptied by the
processor. A chunk has a fixed size, so a batch may be larger than the card's memory.
"""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from grid_backend_cuda.driver import check, driver, use

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_backend_cuda.launch import Launcher

__all__ = ["Staging"]

_CHUNK_BYTES = 8 << 20
"""Bytes of rows in one chunk, inputs and outputs together."""


class _Slot:
    """Pinned memory, device memory and a stream for one chunk."""

    def __init__(self, rows: int, widths: Mapping[str, int], dtype: np.dtype[Any]) -> None:
        cu = driver()
        self.stream = check(cu.cuStreamCreate(1), "making a stream")  # 1: non-blocking
        self.host: dict[str, Any] = {}
        self.device: dict[str, int] = {}
        self._pinned: list[Any] = []
        for name, width in widths.items():
            size = max(rows * width * dtype.itemsize, 16)
            address = check(cu.cuMemHostAlloc(size, 0), f"pinning {size} bytes")
            self._pinned.append(address)
            buffer: Any = (ctypes.c_byte * size).from_address(int(address))
            self.host[name] = np.frombuffer(buffer, dtype)[: rows * width].reshape(rows, width)
            self.device[name] = int(check(cu.cuMemAlloc(size), f"taking {size} bytes"))
        self.pending: tuple[int, int] | None = None

    def close(self) -> None:
        """Give the memory back."""
        cu = driver()
        cu.cuStreamSynchronize(self.stream)
        self.host.clear()
        for address in self._pinned:
            cu.cuMemFreeHost(address)
        for pointer in self.device.values():
            cu.cuMemFree(pointer)
        cu.cuStreamDestroy(self.stream)


class Staging:
    """Runs a launcher over NumPy arrays; one call at a time."""

    def __init__(self, launcher: Launcher, widths: Mapping[str, int], dtype: Any) -> None:
        self._launcher = launcher
        self._widths = dict(widths)
        self._dtype = np.dtype(dtype)
        row = max(1, sum(widths.values()) * self._dtype.itemsize)
        self._rows = max(32, _CHUNK_BYTES // row // 32 * 32)
        self._slots: list[_Slot] = []
        self._lock = threading.Lock()

    def run(self, batch: int, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Evaluate `batch` problems into `outputs` and wait for them."""
        with self._lock, use(self._launcher.card):
            rows = min(self._rows, 1 << max(5, (batch - 1).bit_length()))
            self._require(rows, 2 if batch > self._rows else 1)
            flat_in = {n: a.reshape(batch, -1) for n, a in inputs.items() if n in self._widths}
            flat_out = {n: a.reshape(batch, -1) for n, a in outputs.items()}
            size = len(self._slots[0].host[next(iter(self._widths))]) if self._widths else rows
            try:
                for k, first in enumerate(range(0, batch, size)):
                    slot = self._slots[k % len(self._slots)]
                    self._finish(slot, flat_out)
                    self._start(slot, first, min(first + size, batch), inputs, flat_in)
            finally:
                for slot in self._slots:
                    self._finish(slot, flat_out)

    def _require(self, rows: int, count: int) -> None:
        """Have `count` slots of at least `rows` rows."""
        have = min((len(next(iter(s.host.values()))) for s in self._slots), default=0)
        if len(self._slots) >= count and have >= rows:
            return
        self._release()
        self._slots = [_Slot(rows, self._widths, self._dtype) for _ in range(count)]

    def _start(
        self,
        slot: _Slot,
        begin: int,
        end: int,
        inputs: Mapping[str, Any],
        flat: Mapping[str, Any],
    ) -> None:
        cu, build, count = driver(), self._launcher.build, end - begin
        what = f"staging {build.kernel}"
        values: list[int | float] = []
        for name in self._launcher.inputs:
            if name in build.uniform:
                values.append(float(inputs[name]))
                continue
            np.copyto(slot.host[name][:count], flat[name][begin:end])
            size = count * self._widths[name] * self._dtype.itemsize
            source = slot.host[name].ctypes.data
            check(cu.cuMemcpyHtoDAsync(slot.device[name], source, size, slot.stream), what)
            values.append(slot.device[name])
        values += [slot.device[name] for name in build.outputs]
        self._launcher(count, values, int(slot.stream), aligned=True)
        for name in build.outputs:
            size = count * self._widths[name] * self._dtype.itemsize
            target = slot.host[name].ctypes.data
            check(cu.cuMemcpyDtoHAsync(target, slot.device[name], size, slot.stream), what)
        slot.pending = (begin, end)

    def _finish(self, slot: _Slot, outputs: Mapping[str, Any]) -> None:
        if slot.pending is None:
            return
        (begin, end), slot.pending = slot.pending, None
        what = f"waiting for {self._launcher.build.kernel}"
        check(driver().cuStreamSynchronize(slot.stream), what)
        for name in self._launcher.build.outputs:
            np.copyto(outputs[name][begin:end], slot.host[name][: end - begin])

    def close(self) -> None:
        """Give the slots back, once no call uses them."""
        with self._lock, use(self._launcher.card):
            self._release()

    def _release(self) -> None:
        for slot in self._slots:
            slot.close()
        self._slots = []
