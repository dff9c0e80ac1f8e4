"""A kernel loaded on one device, launched with pointers on a stream."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any

from grid_backend_cuda.build import Build
from grid_backend_cuda.driver import Card, check, driver, use
from grid_core.errors import BackendError

__all__ = ["Launcher"]

_ALIGNMENT = 16
"""Bytes: rows are copied in vectors of this size where every pointer allows it."""


class Launcher:
    """Launches one build on one device; safe to share between threads.

    Args:
        build: the build.
        on: the device.
        ptx: makes PTX of the same source, for a driver that refuses the machine code.
    """

    def __init__(self, build: Build, on: Card, ptx: Callable[[], bytes]) -> None:
        self.build = build
        self.card = on
        if build.shared_bytes > on.shared_limit:
            raise BackendError(
                f"{build.kernel}: a block needs {build.shared_bytes} bytes of shared memory and "
                f"{on.name} gives {on.shared_limit}"
            )
        with use(on):
            self._module = _load(build, on, ptx)
            cu = driver()
            what = f"{build.kernel} on device {on.index}"
            self._function = check(
                cu.cuModuleGetFunction(self._module, build.kernel.encode()), what
            )
            attribute = cu.CUfunction_attribute
            check(
                cu.cuFuncSetAttribute(
                    self._function,
                    attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    build.shared_bytes,
                ),
                what,
            )
            self.resident = int(
                check(
                    cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                        self._function, build.threads, build.shared_bytes
                    ),
                    what,
                )
            )
        self._handle = int(self._function)
        real = ctypes.c_float if build.dtype == "float32" else ctypes.c_double
        self._kinds = [
            real if name in build.uniform else ctypes.c_void_p for name in build.inputs
        ] + [ctypes.c_void_p] * len(build.outputs)
        self._local = threading.local()
        self._most_blocks = self.resident * on.multiprocessors if build.persistent else 2**31 - 1
        self._cuLaunchKernel = driver().cuLaunchKernel

    def __call__(self, batch: int, values: Sequence[int | float], stream: int) -> None:
        """Enqueue the kernel.

        Args:
            batch: number of problems, at least 1.
            values: pointers and uniform values in argument order, inputs then outputs.
            stream: the stream's handle; nothing is synchronised.
        """
        block = self._block()
        cells, addresses = block
        cells[0].value = batch
        merged = 0
        for cell, value in zip(cells[2:], values, strict=True):
            cell.value = value
            if type(value) is int:
                merged |= value
        cells[1].value = merged % _ALIGNMENT == 0
        threads = self.build.threads
        grid = min(-(-batch // threads), self._most_blocks)
        result = self._cuLaunchKernel(
            self._handle, grid, 1, 1, threads, 1, 1, self.build.shared_bytes, stream, addresses, 0
        )
        if result[0].value:
            check(result, f"launching {self.build.kernel} on device {self.card.index}")

    def _block(self) -> tuple[list[Any], int]:
        """This thread's argument cells, and the address of the array of their addresses."""
        block: tuple[list[Any], int] | None = getattr(self._local, "block", None)
        if block is None:
            cells = [ctypes.c_longlong(), ctypes.c_int(), *(kind() for kind in self._kinds)]
            table = (ctypes.c_void_p * len(cells))(*(ctypes.addressof(c) for c in cells))
            self._local.table = table
            block = self._local.block = (cells, ctypes.addressof(table))
        return block

    def close(self) -> None:
        """Unload the module."""
        if self._module is not None:
            with use(self.card):
                # Work that was enqueued may still run it.
                check(driver().cuCtxSynchronize(), f"waiting for {self.build.kernel}")
                check(driver().cuModuleUnload(self._module), self.build.kernel)
            self._module = None


def _load(build: Build, on: Card, ptx: Callable[[], bytes]) -> Any:
    cu = driver()
    status, module = cu.cuModuleLoadData(build.code)
    if not status.value:
        return module
    refused = ("NO_BINARY_FOR_GPU", "INVALID_IMAGE", "UNSUPPORTED", "INVALID_PTX", "INVALID_SOURCE")
    if not any(word in status.name for word in refused):
        check((status, module), f"loading {build.kernel}")
    again, module = cu.cuModuleLoadData(ptx() + b"\0")
    if again.value:
        raise BackendError(
            f"{build.kernel}: the driver refuses the machine code for {build.arch} "
            f"({status.name}) and the PTX too ({again.name}): it is older than NVRTC; install a "
            f"driver of version 580 or newer (device {on.index}: {on.name}, {on.arch})"
        )
    return module
