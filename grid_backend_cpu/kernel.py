"""A compiled operation as a callable over NumPy arrays, split over threads."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from grid_backend_cpu.addresses import address_of
from grid_backend_cpu.compiler import LoadedCode
from grid_backend_cpu.layout import SCRATCH_HEADER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grid_backend_cpu.layout import Layout
    from grid_backend_cpu.vector import Lanes

__all__ = ["CpuKernel"]

_MIN_WORK = 40_000.0
"""Instructions over lanes below which a part is not worth a thread's wake-up (some 20 µs)."""
_STEP_WORK = 2e7
"""Instructions over lanes between two looks for Ctrl-C: at most some 10 ms of them."""
_BYTE_WORK = 2.0
"""Instructions that a byte of a batched port counts for: fresh memory is slow to come by."""


@functools.cache
def _math_addresses() -> tuple[int, ...]:
    """Addresses of the C library's double-precision sin, cos and atan2."""
    library = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
    if not hasattr(library, "sin"):
        from ctypes.util import find_library  # noqa: PLC0415 - hardly ever needed

        library = ctypes.CDLL(find_library("m"))
    functions = (library.sin, library.cos, library.atan2)
    return tuple(int(ctypes.cast(f, ctypes.c_void_p).value or 0) for f in functions)


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="grid")


if hasattr(os, "register_at_fork"):
    # A forked child has none of these threads and would wait for them for ever.
    os.register_at_fork(after_in_child=_pool.cache_clear)


class CpuKernel:
    """Calls compiled code; each thread has its own scratch block.

    The GIL is released while the code runs. A long call returns to Python now and then, so that
    Ctrl-C ends it soon; outputs are then written in part.
    """

    def __init__(self, code: bytes, lanes: Lanes, layout: Layout, num_threads: int) -> None:
        self._code = LoadedCode(code)
        self._layout = layout
        self._width = lanes.width
        self._threads = num_threads
        self._local = threading.local()
        real = ctypes.c_float if lanes.dtype == "float32" else ctypes.c_double
        pointers = [ctypes.c_void_p]
        self._function = ctypes.CFUNCTYPE(
            None,
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.c_void_p,
            *pointers * len(layout.inputs),
            *[real] * len(layout.uniform),
            *pointers * len(layout.outputs),
        )(self._code.address)
        self._tile_work = max(1.0, float(layout.work))
        # Whole tiles, so that no problem changes its place in one.
        step_work = self._tile_work + _BYTE_WORK * (layout.scratch - layout.kept - SCRATCH_HEADER)
        self._step = lanes.width * max(1, int(_STEP_WORK / step_work))

    def __call__(self, batch: int, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Evaluate `batch` problems into `outputs`."""
        layout = self._layout
        arguments = [address_of(inputs[n]) for n in layout.inputs]
        arguments += [inputs[n] for n in layout.uniform]
        arguments += [address_of(outputs[n]) for n in layout.outputs]
        tiles = -(-batch // self._width)
        parts = self._parts(tiles)
        if parts < 2:
            if batch <= self._step:
                self._function(0, batch, self._scratch(), *arguments)
            else:
                self._part(0, batch, arguments, (inputs, outputs, threading.Event()))
            return
        bounds = [min(batch, self._width * (tiles * k // parts)) for k in range(parts)] + [batch]
        pool = _pool(self._threads - 1)
        # Each part holds the arrays: an interrupt here must not free what is still written.
        stop = threading.Event()
        held = (inputs, outputs, stop)
        try:
            futures = [
                pool.submit(self._part, bounds[k], bounds[k + 1], arguments, held)
                for k in range(1, parts)
            ]
            self._part(bounds[0], bounds[1], arguments, held)
            for future in futures:
                future.result()
        except BaseException:
            stop.set()
            raise

    def at_once(self, batch: int) -> Callable[..., None] | None:
        """Return what evaluates that many problems in one go, on the caller's thread.

        It takes what the code takes after the scratch block, whose arrays the caller must hold.
        None where several threads or steps do it.
        """
        if batch > self._step or self._parts(-(-batch // self._width)) > 1:
            return None
        function, scratch, local = self._function, self._scratch, self._local

        def run(*arguments: float) -> None:
            function(0, batch, getattr(local, "address", None) or scratch(), *arguments)

        return run

    def _parts(self, tiles: int) -> int:
        """Count the threads that so many tiles are worth."""
        return min(self._threads, tiles, int(tiles * self._tile_work / _MIN_WORK))

    def _part(
        self,
        begin: int,
        end: int,
        arguments: list[Any],
        held: tuple[Mapping[str, Any], Mapping[str, Any], threading.Event],
    ) -> None:
        """Evaluate some problems step by step, until told to stop."""
        scratch, stop = self._scratch(), held[2]
        for start in range(begin, end, self._step):
            if stop.is_set():
                return
            self._function(start, min(end, start + self._step), scratch, *arguments)

    def _scratch(self) -> int:
        address: int | None = getattr(self._local, "address", None)
        if address is None:
            block = np.zeros(self._layout.scratch + 64, np.uint8)
            start = -block.ctypes.data % 64
            aligned = block[start : start + self._layout.scratch]
            aligned[:24].view(np.uint64)[:] = _math_addresses()
            self._local.block = block
            address = self._local.address = int(aligned.ctypes.data)
        return address
