"""What of a problem goes through shared memory on its way to and from a raw-block kernel.

A warp reads the rows of its 32 problems side by side, so that neighbouring threads read
neighbouring addresses; then each thread computes its own row. What would take too much shared
memory goes straight from and to device memory, results in vectors where rows are aligned to them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from grid_backend_cuda.header.functions import HeaderReal
    from grid_backend_cuda.header.interface import Interface, Parameter

__all__ = ["Stages", "stages"]

BUDGET = 24 * 1024
"""Bytes of shared memory of a block, which is a warp: nine of them on a multiprocessor."""
VECTOR = 16
"""Bytes that a thread stores at most at once."""


@frozen
class Stages:
    """Widths in shared memory, by what is staged; what is not there is not staged."""

    block: int
    """Entries of the input block that are read; 0: it is not staged."""
    outputs: dict[str, int]
    """Scalars of the staged outputs, by parameter."""
    vectors: dict[str, int]
    """Scalars of a vector of the other outputs, by parameter; 1 where rows are not aligned."""
    bytes: int
    """Of a scalar."""

    def alignment(self, name: str) -> int:
        """Bytes that an output's rows, and so its array, are aligned to."""
        return self.vectors[name] * self.bytes

    @staticmethod
    def pitch(width: int) -> int:
        """Entries from row to row: odd, so that a warp's rows begin in different banks."""
        return width | 1


def stages(face: Interface, real: HeaderReal) -> Stages:
    """Choose what is staged: the input block first, then the outputs as long as there is room."""
    left = BUDGET // (32 * real.bytes)
    block = max((_end(p) for p in face.slots), default=0)
    if Stages.pitch(block) > left:
        block = 0
    left -= Stages.pitch(block) if block else 0
    outputs, vectors = {}, {}
    for parameter in face.outputs:
        if parameter.size and Stages.pitch(parameter.size) <= left:
            outputs[parameter.name] = parameter.size
            left -= Stages.pitch(parameter.size)
        else:
            aligned = math.gcd(parameter.size * real.bytes, VECTOR) or VECTOR
            vectors[parameter.name] = aligned // real.bytes
    return Stages(block, outputs, vectors, real.bytes)


def _end(parameter: Parameter) -> int:
    """Entry of the block after the last that is read."""
    return parameter.slot.offset + parameter.slot.width if parameter.slot else 0
