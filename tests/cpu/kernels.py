"""Compile programs straight to kernels, with lanes and processor of the test's choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from grid_backend_cpu.compiler import compile_program, host
from grid_backend_cpu.kernel import CpuKernel
from grid_backend_cpu.layout import Layout
from grid_backend_cpu.vector import Lanes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_backend_cpu.compiler import Host
    from grid_core.program.program import Program

__all__ = ["DTYPES", "LANES", "Compiled", "baseline"]

DTYPES = ("float32", "float64")
LANES = [
    Lanes(dtype, bits // (32 if dtype == "float32" else 64))
    for bits in (128, 256, 512)
    for dtype in DTYPES
]
"""Every vector width that a processor may have, in both precisions."""


def baseline(level: int) -> Host:
    """Return a processor of that x86-64 level: 2 has SSE4, 3 AVX2 and FMA, 4 AVX-512."""
    return evolve(host(), cpu=f"x86-64-v{level}", features="", vector_bits={2: 128, 3: 256}[level])


class Compiled:
    """A program compiled for some lanes.

    Attributes:
        program: the program.
        lanes: the lanes.
        kernel: what calls the code.
    """

    def __init__(
        self,
        program: Program,
        lanes: Lanes,
        machine: Host | None = None,
        num_threads: int = 1,
    ) -> None:
        self.program = program
        self.lanes = lanes
        self.dtype = np.dtype(lanes.dtype)
        code = compile_program(program, lanes, machine)
        self.kernel = CpuKernel(code, lanes, Layout.of(program, lanes), num_threads)

    def __call__(self, batch: int, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Evaluate on inputs of any dtype; outputs start out as NaN."""
        given = {
            p.name: float(inputs[p.name])
            if p.uniform
            else np.ascontiguousarray(inputs[p.name], dtype=self.dtype)
            for p in self.program.inputs
        }
        outputs = {
            p.name: np.full((batch, *p.dims), np.nan, self.dtype) for p in self.program.outputs
        }
        self.kernel(batch, given, outputs)
        return outputs

    def expected(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Evaluate the program in NumPy, float64, on the inputs as rounded to the dtype."""
        rounded = {
            p.name: float(np.asarray(inputs[p.name], self.dtype))
            if p.uniform
            else np.asarray(inputs[p.name], self.dtype).astype(np.float64)
            for p in self.program.inputs
        }
        return self.program.evaluate(rounded)
