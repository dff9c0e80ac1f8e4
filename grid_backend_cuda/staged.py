"""Rows in shared memory: a warp's 32 problems side by side, a row each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from grid_backend_cuda.emit import Chunk
    from grid_core.program.program import Program

__all__ = ["SHARED_LIMIT", "WARP", "WHOLE", "Staged", "pitch_of", "stage_chunk", "stage_inputs"]

WARP = 32
WHOLE = 96
"""Scalars of a row up to which it is staged and written whole."""
SHARED_LIMIT = 96 * 1024
"""Bytes a block may take at most: every supported card has them."""


@frozen
class Staged:
    """A block of rows in shared memory."""

    size: int
    """Scalars of a row."""
    pitch: int
    """Distance of rows in shared memory; padded where bank conflicts would be many."""
    offset: int
    """First scalar in the warp's share."""
    each: int = 1
    """Scalars that are written and read at a time: 2 or 4 where rows are aligned to it."""


def pitch_of(size: int) -> int:
    """Rows of odd pitch meet no bank twice; a conflict of two is cheaper than unaligned rows."""
    return size if math.gcd(size, WARP) <= 2 else size + 1


def stage_inputs(program: Program, most: int) -> tuple[tuple[Staged | None, ...], int]:
    """Rows of every batched input port, one after the other; and their end.

    Where they are more than `most` scalars, the widest are left in device memory.
    """
    kept = [p for p in program.inputs if p.size and not p.uniform]
    while kept and sum(WARP * pitch_of(p.size) for p in kept) > most:
        kept.remove(max(kept, key=lambda p: p.size))
    staged: list[Staged | None] = []
    offset = 0
    for port in program.inputs:
        if port not in kept:
            staged.append(None)
            continue
        staged.append(Staged(port.size, pitch_of(port.size), offset))
        offset += WARP * pitch_of(port.size)
    return tuple(staged), offset


def stage_chunk(chunk: Chunk, width: int, offset: int, per_vector: int) -> Staged:
    """A row's piece, in vectors where it and the rows in device memory begin with whole ones.

    Args:
        chunk: the piece.
        width: scalars of the whole row.
        offset: where pieces begin in the warp's share.
        per_vector: scalars of 16 bytes.
    """
    size = len(chunk.values)
    if size == width and pitch_of(size) == size:
        return Staged(size, size, offset)
    each = math.gcd(size, width, chunk.first, per_vector)
    # An odd number of vectors: as many lanes as fill all banks once then meet no bank twice.
    return Staged(size, each * (size // each | 1), offset, each)
