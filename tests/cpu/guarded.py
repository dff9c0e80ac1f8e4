"""Run kernels on arrays between unreadable pages; a touch outside them ends the process.

Inputs lie in pages that cannot be written. Every case is run with the arrays flush against
the page after them, then against the page before them, the scratch block too.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from grid_backend_cpu.kernel import _math_addresses
from grid_core.assets import asset_path
from grid_core.model import load_urdf
from tests.cpu.kernels import LANES, Compiled
from tests.program.expressions import program_of
from tests.program.operations import traced

if TYPE_CHECKING:
    from grid_core.program.program import Program

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
_LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_NONE, _READ, _WRITE = 0, 1, 2
_PAGE = mmap.PAGESIZE


class Guarded:
    """Bytes with an unreadable page on each side.

    Args:
        size: how many.
        at_end: whether they end where the page after them begins, or begin where the page
            before them ends.
    """

    def __init__(self, size: int, *, at_end: bool) -> None:
        self.inner = max(1, -(-size // _PAGE)) * _PAGE
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self.base = _LIBC.mmap(None, self.inner + 2 * _PAGE, _NONE, flags, -1, 0)
        assert self.base not in (None, ctypes.c_void_p(-1).value)
        self.protect(_READ | _WRITE)
        self.address = self.base + _PAGE + (self.inner - size if at_end else 0)

    def protect(self, mode: int) -> None:
        assert _LIBC.mprotect(self.base + _PAGE, self.inner, mode) == 0

    def array(self, shape: tuple[int, ...], dtype: str) -> Any:
        count = int(np.prod(shape))
        kind = ctypes.c_float if dtype == "float32" else ctypes.c_double
        return np.ctypeslib.as_array((kind * count).from_address(self.address)).reshape(shape)

    def free(self) -> None:
        assert _LIBC.munmap(self.base, self.inner + 2 * _PAGE) == 0


def guarded_array(shape: tuple[int, ...], dtype: str, *, at_end: bool) -> tuple[Guarded, Any]:
    block = Guarded(int(np.prod(shape)) * np.dtype(dtype).itemsize, at_end=at_end)
    return block, block.array(shape, dtype)


def run(kernel: Compiled, batch: int, *, at_end: bool) -> None:
    """Run once and compare with the same on ordinary arrays."""
    dtype, program = kernel.lanes.dtype, kernel.program
    rng = np.random.default_rng(batch)
    blocks, inputs, outputs = [], {}, {}
    for port in program.inputs:
        if port.uniform:
            inputs[port.name] = -9.81
            continue
        block, array = guarded_array((batch, *port.dims), dtype, at_end=at_end)
        array[...] = rng.normal(size=array.shape)
        block.protect(_READ)
        blocks.append(block)
        inputs[port.name] = array
    for port in program.outputs:
        block, outputs[port.name] = guarded_array((batch, *port.dims), dtype, at_end=at_end)
        outputs[port.name].fill(np.nan)
        blocks.append(block)
    expected = kernel(batch, inputs)
    plain = kernel.kernel._local.address
    scratch = Guarded(kernel.kernel._layout.scratch, at_end=at_end)
    (ctypes.c_uint64 * 3).from_address(scratch.address)[:] = list(_math_addresses())
    kernel.kernel._local.address = scratch.address
    kernel.kernel(batch, inputs, outputs)
    kernel.kernel._local.address = plain
    for name, array in outputs.items():
        np.testing.assert_array_equal(array, expected[name])
    for block in (*blocks, scratch):
        block.free()


def copies(size: int) -> Program:
    return program_of(lambda p: {"back": p[::-1], "first": p[:1]}, p=(size,))


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run every case, its name first."""
    robot = load_urdf(asset_path("iiwa14"))
    dynamics = {
        name: traced(robot, name, present)
        for name, present in (("inverse_dynamics", ("qdd", "f_ext")), ("crba", ()))
    }
    for lanes in LANES:
        w = lanes.width
        programs = {f"copy {size}": copies(size) for size in (*range(1, 10), 15, 16, 17, 33)}
        for name, program in (programs | dynamics).items():
            kernel = Compiled(program, lanes)
            for batch in (1, 2, w - 1, w, w + 1, 2 * w + 3):
                for at_end in (True, False):
                    say(f"{lanes} {name} batch {batch} {'end' if at_end else 'start'}")
                    run(kernel, batch, at_end=at_end)
    say("done")


if __name__ == "__main__":
    main()
