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

_SHAPE = struct.Struct("@7I4xQQI")
"""A ``CUlaunchConfig``: blocks, threads of one, each in x, y and z, its shared memory, the stream,
where attributes lie, and how many there are."""
_AHEAD = 4
"""Blocks for each multiprocessor from which a launch may come before the last one is done."""


class Launcher:
    """Launches one build on one device; safe to share between threads.

    Args:
        build: the build.
        on: the device.
        ptx: makes PTX of the same source, for a driver that refuses the machine code.
        inputs: the build's inputs in the order in which launches give their values; None: that of
            the kernel's arguments.

    Attributes:
        inputs: the same; results follow.
    """

    def __init__(
        self,
        build: Build,
        on: Card,
        ptx: Callable[[], bytes],
        inputs: Sequence[str] | None = None,
    ) -> None:
        self.build = build
        self.card = on
        self.inputs = tuple(build.inputs if inputs is None else inputs)
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
        self._pack, self._places = _packing(build, self.inputs)
        self._local = threading.local()
        most = build.waves * self.resident * on.multiprocessors
        self._most_blocks = most if build.waves else 2**31 - 1
        self._few, self._many = _overlapping(build, self.resident, on.multiprocessors)
        self._launch = cu.cuLaunchKernelEx
        self._shape = (1, 1, build.threads, 1, 1, build.shared_bytes)

    def __call__(
        self, batch: int, values: Sequence[int | float], stream: int, *, aligned: bool
    ) -> None:
        """Enqueue the kernel.

        Args:
            batch: number of problems, at least 1.
            values: pointers and uniform values, those of `inputs`, then the outputs' pointers.
            stream: the stream's handle; nothing is synchronised.
            aligned: whether every pointer is a multiple of `ALIGNMENT`.
        """
        self.fire(batch, self.blocks(batch), aligned, values, stream)

    def blocks(self, batch: int) -> int:
        """Return how many blocks a batch is launched with."""
        return min(-(-batch // self.build.problems), self._most_blocks)

    def fire(
        self, batch: int, blocks: int, aligned: bool, values: Sequence[int | float], stream: int
    ) -> None:
        """Enqueue the kernel as a call does, with as many `blocks` as the batch has.

        An eager call has few microseconds: this is its whole way from pointers to the driver.
        """
        try:
            buffer, addresses, config, where, attributes = self._local.block
        except AttributeError:
            buffer, addresses, config, where, attributes = self._new_block()
        self._pack(buffer, 0, batch, aligned, *values)
        overlaps = blocks <= self._few or blocks >= self._many
        _SHAPE.pack_into(where, 0, blocks, *self._shape, stream, attributes, overlaps)
        result = self._launch(config, self._function, addresses, 0)
        if result[0]:
            self._again(result, config, addresses)

    def _again(self, result: Any, config: Any, addresses: int) -> None:
        """Launch in the kernel's own context where this thread had another, or none."""
        if result[0].name in ("CUDA_ERROR_INVALID_CONTEXT", "CUDA_ERROR_INVALID_HANDLE"):
            with use(self.card):
                result = self._launch(config, self._function, addresses, 0)
        check(result, f"launching {self.build.kernel} on device {self.card.index}")

    def _new_block(self) -> tuple[Any, int, Any, Any, int]:
        """Make this thread's arguments, the table of their addresses, and its launch's record."""
        local = self._local
        buffer = ctypes.create_string_buffer(max(self._places) + 8)
        base = ctypes.addressof(buffer)
        local.table = (ctypes.c_void_p * len(self._places))(*(base + p for p in self._places))
        config = driver().CUlaunchConfig()
        config.attrs, config.numAttrs = [_chaining()], 1
        # The driver's own record, whose numbers are written in one go: setters take a microsecond.
        where = (ctypes.c_char * _SHAPE.size).from_address(config.getPtr())
        attributes: int = _SHAPE.unpack(where)[-2]
        made = (buffer, ctypes.addressof(local.table), config, where, attributes)
        local.block = made
        return made

    def close(self) -> None:
        """Unload the module."""
        if self._module is not None:
            with use(self.card):
                # Work that was enqueued may still run it.
                check(driver().cuCtxSynchronize(), f"waiting for {self.build.kernel}")
                check(driver().cuModuleUnload(self._module), self.build.kernel)
            self._module = None


def _overlapping(build: Build, resident: int, multiprocessors: int) -> tuple[int, int]:
    """Return up to how many blocks, and from how many on, a launch may overlap with the last.

    Either both stand side by side, or blocks come as those before them leave. In between the new
    ones crowd on the few multiprocessors that are free: go2's gradient of poses, 128 blocks on 132
    multiprocessors, then took twice as long.
    """
    if not build.chained:
        return 0, 2**31
    return multiprocessors // 2, multiprocessors * min(resident, _AHEAD)


def _chaining() -> Any:
    """Ask that a kernel may come to the card before the one ahead of it on the stream is done."""
    cu = driver()
    asked = cu.CUlaunchAttribute()
    asked.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    asked.value.programmaticStreamSerializationAllowed = 1
    return asked


def _packing(build: Build, inputs: Sequence[str]) -> tuple[Callable[..., None], list[int]]:
    """How batch, alignment flag, inputs in this order and outputs lie in one block.

    Returns:
        The packer, and where each argument of the kernel lies, in the kernel's own order.
    """
    real = "f" if build.dtype == "float32" else "d"
    layout, places, at = "@qi", {"batch": 0, "aligned": 8}, 12
    kinds = [(f"input {name}", real if name in build.uniform else "P") for name in inputs]
    kinds += [(f"output {name}", "P") for name in build.outputs]
    for name, kind in kinds:
        size = struct.calcsize(kind)
        at += -at % size
        places[name] = at
        layout += kind
        at += size
    order = ["batch", "aligned", *(f"input {n}" for n in build.inputs)]
    order += [f"output {n}" for n in build.outputs]
    return struct.Struct(layout).pack_into, [places[name] for name in order]


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
