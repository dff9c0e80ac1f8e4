"""A program over several warps: a block's problems are all its warps', a part of the robot each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_backend_cuda.cards import block_bytes, multiprocessor_bytes
from grid_backend_cuda.emit import Chunk
from grid_backend_cuda.jobs import limbs_of
from grid_backend_cuda.split import split_program
from grid_backend_cuda.staged import (
    SHARED_LIMIT,
    WARP,
    WHOLE,
    Staged,
    pitch_of,
    stage_chunk,
    stage_inputs,
)
from grid_backend_cuda.thread_mapping import WAVES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_backend_cuda.emit import Real
    from grid_backend_cuda.gather import Gathered
    from grid_backend_cuda.split import Split
    from grid_core.program.program import Program

__all__ = ["SPLIT_BLOCKS", "SplitMapping", "lay_out", "map_split"]

SPLIT_BLOCKS = 2
"""Split blocks that are to fit a multiprocessor: more would leave too few registers for a limb."""
_WIDE = ((WHOLE, True), (WHOLE, False), (WHOLE // 2, False))
"""Longest rows that are written at once, and whether the trunk, which others wait for, has a warp
of its own, in the order in which they are tried: until shared memory allows."""
_HUGE_OPERATIONS = 30_000
"""Operations from which parts that fit a multiprocessor but once are still better than a whole,
which spills by the hundred kilobytes and takes the assembler many minutes."""


@frozen
class SplitMapping:
    """The decisions for a program over several warps: a tile of 32 problems or fewer a block."""

    split: Split
    inputs: tuple[Staged | None, ...]
    outputs: tuple[Staged | None, ...]
    """One for each output port, in the result part of shared memory; None for a wide one."""
    chunks: tuple[Chunk, ...]
    """Rows of the wide ones, each written by one warp as soon as it has it."""
    staged_chunks: tuple[Staged, ...]
    """Of each chunk, in its warp's own part of shared memory."""
    tile: int
    """Scalars of shared memory for the inputs of one tile."""
    buffers: int
    waves: int
    gathered: Gathered | None = None
    """Where the distinct values of wide results lie, in place of chunks."""
    min_blocks: int = SPLIT_BLOCKS
    """Blocks that must fit a multiprocessor."""
    helpers: int = 0
    """Warps that compute nothing, and write rows like the others."""

    @property
    def workers(self) -> int:
        """Warps that compute."""
        return self.split.warps

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return self.workers + self.helpers

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.warps * WARP

    @property
    def problems(self) -> int:
        """Problems a block works on at a time; at the least, where a small batch is spread."""
        return WARP if self.gathered is None else 1

    @property
    def tile_problems(self) -> int:
        """Problems of a tile."""
        return WARP if self.gathered is None else self.gathered.problems

    @property
    def parts(self) -> int:
        """Warps that share a problem."""
        return self.workers

    @property
    def result(self) -> int:
        """First scalar of the results in shared memory."""
        return self.tile * self.buffers

    @property
    def row(self) -> int:
        """First scalar of the rows that warps write, one after the other."""
        return self.result + sum(WARP * s.pitch for s in self.outputs if s is not None)

    @property
    def row_size(self) -> int:
        """Scalars that a warp has for a row of each problem."""
        most = max((WARP * s.pitch for s in self.staged_chunks), default=0)
        return most + -most % 4

    @property
    def hand(self) -> int:
        """First scalar of what warps hand over."""
        return self.row + self.warps * self.row_size

    @property
    def pitch(self) -> int:
        """Scalars from a value that is handed over, or gathered, to the next."""
        return WARP if self.gathered is None else self.gathered.pitch

    @property
    def share(self) -> int:
        """Scalars of shared memory of a block."""
        slots = self.split.num_slots if self.gathered is None else self.gathered.num_slots
        share = self.hand + self.pitch * slots
        return share + -share % 4

    def shared_bytes(self, real: Real) -> int:
        """Dynamic shared memory of a block; last come tables of where rows' entries lie."""
        tables = 0
        if self.gathered is not None and self.gathered.near:
            tables = 2 * len(self.gathered.entries)
        return self.share * real.bytes + tables


def map_split(program: Program, real: Real, arch: str) -> SplitMapping | None:
    """Parts of the robot across warps; None where that is no help.

    Nor is it where wide results' parts do not fit twice, unless the whole would be huge.
    """
    wide = any(port.size > WHOLE for port in program.outputs)
    # What holds more values has to fit twice, or nobody works while a part waits.
    half = multiprocessor_bytes(arch, 2) // 2
    most = half if wide else max(SHARED_LIMIT, half)
    limbs = limbs_of(program)
    if limbs is None:
        return None
    tried: list[SplitMapping] = []
    for longest, apart in _WIDE if wide else ((WHOLE, False),):
        chunks = _wide_rows(program, longest)
        split = split_program(limbs, chunks, apart=apart)
        if split is None or not split.balanced:
            return None
        for buffers in (1,) if chunks else (2, 1):
            mapping = lay_out(program, real, split, chunks, buffers=buffers)
            if mapping.shared_bytes(real) <= most:
                return mapping
            tried.append(mapping)
    if program.counts.operations <= _HUGE_OPERATIONS:
        return None
    fits = [mapping for mapping in tried if mapping.shared_bytes(real) <= block_bytes(arch)]
    return min(fits, key=lambda mapping: len(mapping.split.jobs), default=None)


def lay_out(
    program: Program, real: Real, split: Split, chunks: Sequence[Chunk] = (), *, buffers: int
) -> SplitMapping:
    """Lay inputs, short results and rows of `chunks` out in shared memory.

    Args:
        program: the program.
        real: its precision.
        split: which warp does what.
        chunks: rows of wide results that are written warp by warp.
        buffers: tiles of inputs: 2 where the next one is fetched while one is computed.
    """
    staged, tile = stage_inputs(program, SHARED_LIMIT // real.bytes)
    tile += -tile % 4
    outputs: list[Staged | None] = []
    offset = 0
    for port in program.outputs:
        if port.size > WHOLE:
            outputs.append(None)
            continue
        outputs.append(Staged(port.size, pitch_of(port.size), offset))
        offset += WARP * pitch_of(port.size)
    per_vector = 16 // real.bytes
    rows = tuple(stage_chunk(c, program.outputs[c.port].size, 0, per_vector) for c in chunks)
    return SplitMapping(split, staged, tuple(outputs), tuple(chunks), rows, tile, buffers, WAVES)


def _wide_rows(program: Program, longest: int) -> list[Chunk]:
    """Rows of the wide results; of rows that are longer, equal pieces."""
    chunks = []
    for index, (port, values) in enumerate(program.results_by_port()):
        if port.size > WHOLE:
            row = port.dims[-1]
            piece = -(-row // -(-row // longest))
            piece += -piece % 4
            chunks += [
                Chunk(index, first, values[first : min(first + piece, end)])
                for begin, end in ((k, k + row) for k in range(0, port.size, row))
                for first in range(begin, end, piece)
            ]
    return chunks
