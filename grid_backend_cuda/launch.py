"""A kernel loaded on one device, launched with pointers on a stream."""

from __future__ import annotations

import ctypes
import struct
import threading
from typing import TYPE_CHECKING, Any

from grid_backend_cuda.driver import Card, check, driver, use
from grid_core.errors import BackendError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grid_backend_cuda.launch_data import Build

__all__ = ["ALIGNMENT", "Launcher"]

ALIGNMENT = 16
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
        real = "f" if build.dtype == "float32" else "d"
        kinds = [real if name in build.uniform else "P" for name in build.inputs]
        kinds += ["P"] * len(build.outputs)
        self._pack, self._places = _packing(kinds)
        self._local = threading.local()
        most = build.waves * self.resident * on.multiprocessors
        self._most_blocks = most if build.waves else 2**31 - 1
        self._launch = driver().cuLaunchKernel
        self._handle = int(self._function)
        self._shape = (build.threads, 1, 1, build.shared_bytes)

    def __call__(
        self, batch: int, values: Sequence[int | float], stream: int, *, aligned: bool
    ) -> None:
        """Enqueue the kernel.

        Args:
            batch: number of problems, at least 1.
            values: pointers and uniform values in argument order, inputs then outputs.
            stream: the stream's handle; nothing is synchronised.
            aligned: whether every pointer is a multiple of `ALIGNMENT`.
        """
        local = self._local
        try:
            buffer, addresses = local.buffer, local.addresses
        except AttributeError:
            buffer, addresses = self._new_buffer()
        self._pack(buffer, 0, batch, aligned, *values)
        grid = min(-(-batch // self.build.problems), self._most_blocks)
        result = self._launch(self._handle, grid, 1, 1, *self._shape, stream, addresses, 0)
        if result[0]:
            self._again(result, grid, stream, addresses)

    def _again(self, result: Any, grid: int, stream: int, addresses: int) -> None:
        """Launch in the kernel's own context where this thread had another, or none."""
        if result[0].name in ("CUDA_ERROR_INVALID_CONTEXT", "CUDA_ERROR_INVALID_HANDLE"):
            with use(self.card):
                result = self._launch(self._handle, grid, 1, 1, *self._shape, stream, addresses, 0)
        check(result, f"launching {self.build.kernel} on device {self.card.index}")

    def _new_buffer(self) -> tuple[Any, int]:
        """Make this thread's argument block, and the table of the arguments' addresses."""
        local, size = self._local, self._places[-1] + 8
        local.buffer = ctypes.create_string_buffer(size)
        base = ctypes.addressof(local.buffer)
        local.table = (ctypes.c_void_p * len(self._places))(*(base + p for p in self._places))
        local.addresses = ctypes.addressof(local.table)
        return local.buffer, local.addresses

    def close(self) -> None:
        """Unload the module."""
        if self._module is not None:
            with use(self.card):
                # Work that was enqueued may still run it.
                check(driver().cuCtxSynchronize(), f"waiting for {self.build.kernel}")
                check(driver().cuModuleUnload(self._module), self.build.kernel)
            self._module = None


def _packing(kinds: Sequence[str]) -> tuple[Callable[..., None], list[int]]:
    """How batch, alignment flag and the arguments lie in one block: packer and offsets."""
    layout, places, at = "@qi", [0, 8], 12
    for kind in kinds:
        size = struct.calcsize(kind)
        at += -at % size
        places.append(at)
        layout += kind
        at += size
    return struct.Struct(layout).pack_into, places


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
