"""How a program lies on the card: threads, shared memory, and the pieces outputs are written in.

One problem a thread, and each warp keeps to itself: it stages its 32 rows through its own
share of shared memory, so that device memory is touched in whole lines and no block-wide
barrier is needed.
"""

from __future__ import annotations

import math

from attrs import frozen

from grid_backend_cuda.emit import Chunk, Real
from grid_core.program.program import Program, ProgramPort

__all__ = ["Mapping", "Staged", "map_program"]

WARP = 32
_CHUNK = 64
"""Scalars of a row written at once, where the row is longer than `_WHOLE`."""
_WHOLE = 96
_SHARED_LIMIT = 96 * 1024
"""Bytes a block may take at most: every supported card has them."""
_DOUBLE_LIMIT = 20 * 1024
"""Bytes a warp may take for two tiles; beyond, arithmetic hides the loads anyway."""


@frozen
class Staged:
    """A block of rows in shared memory."""

    size: int
    """Scalars of a row."""
    pitch: int
    """Distance of rows in shared memory; padded where bank conflicts would be many."""
    offset: int
    """First scalar in the warp's share."""

    @property
    def contiguous(self) -> bool:
        """Whether rows lie in shared memory as in device memory."""
        return self.pitch == self.size


@frozen
class Mapping:
    """The decisions for one program."""

    warps: int
    """Warps of a block."""
    inputs: tuple[Staged | None, ...]
    """One for each input port; None for a uniform one."""
    chunks: tuple[Chunk, ...]
    staged_chunks: tuple[Staged, ...]
    tile: int
    """Scalars of shared memory for one tile of 32 problems."""
    buffers: int
    """Tiles a warp holds: 2 where the next one is fetched while one is computed."""

    @property
    def share(self) -> int:
        """Scalars of shared memory a warp has."""
        return self.tile * self.buffers

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.warps * WARP

    def shared_bytes(self, real: Real) -> int:
        """Dynamic shared memory of a block."""
        return self.share * self.warps * real.bytes


def _pitch(size: int) -> int:
    """Rows of odd pitch meet no bank twice; a conflict of two is cheaper than unaligned rows."""
    return size if math.gcd(size, WARP) <= 2 else size + 1  # noqa: PLR2004


def map_program(program: Program, real: Real) -> Mapping:
    """Decide the mapping from the program's widths."""
    staged: list[Staged | None] = []
    offset = 0
    for port in program.inputs:
        if port.uniform or port.size == 0:
            staged.append(None)
            continue
        staged.append(Staged(port.size, _pitch(port.size), offset))
        offset += WARP * _pitch(port.size)
    chunks, start = [], 0
    for index, port in enumerate(program.outputs):
        chunks += _split(index, port, program.results[start : start + port.size])
        start += port.size
    # Inputs are read out of shared memory up to the last instruction; outputs lie beside them,
    # except where one chunk is all there is and can follow them in place.
    after = 0 if len(chunks) == 1 else offset
    staged_chunks = tuple(Staged(len(c.values), _pitch(len(c.values)), after) for c in chunks)
    tile = max([offset] + [s.offset + WARP * s.pitch for s in staged_chunks])
    tile += -tile % 4  # every tile begins on 16 bytes
    reads = sum(p.size for p in program.inputs)
    writes = sum(p.size for p in program.outputs)
    buffers = 2 if 2 * tile * real.bytes <= _DOUBLE_LIMIT and reads >= writes else 1
    warps = 4
    while warps > 1 and tile * buffers * warps * real.bytes > _SHARED_LIMIT // 2:
        warps //= 2
    return Mapping(warps, tuple(staged), tuple(chunks), staged_chunks, tile, buffers)


def _split(index: int, port: ProgramPort, values: tuple[int, ...]) -> list[Chunk]:
    if port.size == 0:
        return []
    if port.size <= _WHOLE:
        return [Chunk(index, 0, values)]
    return [
        Chunk(index, first, values[first : first + _CHUNK])
        for first in range(0, port.size, _CHUNK)
    ]
