"""How a program lies on the card: threads, shared memory, and the pieces outputs are written in.

One problem a thread, and each warp keeps to itself: it stages its 32 rows through its own
share of shared memory, so that device memory is touched in whole lines and no block-wide
barrier is needed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from grid_backend_cuda.cards import USUAL, block_bytes, multiprocessor_bytes
from grid_backend_cuda.emit import Chunk, Real
from grid_backend_cuda.gather import PITCH, Gathered, gather
from grid_backend_cuda.pressure import most_alive, registers
from grid_backend_cuda.split import Split, split_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_core.program.program import Program, ProgramPort

__all__ = [
    "Mapping",
    "SplitMapping",
    "Staged",
    "map_program",
    "map_split",
    "map_threads",
]

WARP = 32
_CHUNK = 64
"""Scalars of a row written at once, where the row is longer than `_WHOLE`."""
_WHOLE = 96
_EAGER_LEAST, _EAGER_USUAL = 65, 128
"""Widths of a result, in scalars, from which it is put into shared memory value by value, as fewer
fit registers, and from which only where..."""
_SECTOR = 32
"""... its rows do not end with a piece of so many bytes: written by chunks, the pieces that two
chunks share go to memory twice and are read between."""
_EAGER_WARPS = 3
"""Warps with such rows, or pieces of them, that are to fit a multiprocessor."""
_EAGER_INPUTS = 64
"""Inputs that a thread can hold at once, beside what it computes."""
_SHARED_LIMIT = 96 * 1024
"""Bytes a block may take at most: every supported card has them."""
_DOUBLE_LIMIT = 20 * 1024
"""Bytes a warp may take for two tiles; beyond, arithmetic hides the loads anyway."""

_REGISTER_BYTES = 255 * 4
"""What a thread's registers hold."""

_SPLIT_OPERATIONS = 8000
"""Operations from which a program's code outgrows the instruction cache (128 KB), and..."""
_SPLIT_LIVE_BYTES = 2000
"""... bytes of live values from which spills cost more than parts that wait for each other."""
_SPLIT_BLOCKS = 2
"""Split blocks that are to fit a multiprocessor: more would leave too few registers for a limb."""
_SPLIT_WIDE = ((_WHOLE, True), (_WHOLE, False), (_WHOLE // 2, False))
"""Longest rows that are written at once, and whether the trunk, which others wait for, has a warp
of its own, in the order in which they are tried: until shared memory allows."""
_GATHERED_BLOCKS, _GATHERED_WARPS = (3, 2, 1), 8
"""Blocks that a multiprocessor is to hold of those that gather long rows, the first that fit; and
warps of each, if they have the registers."""
_BESIDE_VALUES = 30
"""Registers for addresses, operands out of shared memory and the like."""
_HUGE_OPERATIONS = 30_000
"""Operations from which parts that fit a multiprocessor but once are still better than a whole,
which spills by the hundred kilobytes and takes the assembler many minutes."""
_SMALL_LIVE_BYTES = 4 * 32, 4 * 58
_SMALL_BLOCKS, _SMALL_WARPS = 8, 32
"""Blocks of four warps that small programs fit without a spill, in 64 registers a thread: left
alone, the assembler takes 72, and 131072 problems need a second round of blocks."""
_WAVES = 8
"""Blocks for each resident one, where blocks walk the batch: few enough that fetching ahead
pays, enough that the last ones to finish do not matter."""


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


@frozen
class Mapping:
    """The decisions for one program."""

    warps: int
    """Warps of a block."""
    inputs: tuple[Staged | None, ...]
    """One for each input port; None for a uniform one, and for one that is too wide."""
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

    waves: int
    """Blocks for each resident one, where blocks walk the batch; 0 gives every tile a warp of
    its own."""

    min_blocks: int
    """Blocks that must fit a multiprocessor; 0 leaves it to the compiler."""

    eager: bool
    """Whether each result goes to shared memory as soon as it is known, over the inputs."""

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.warps * WARP

    @property
    def problems(self) -> int:
        """Problems a block works on at a time."""
        return self.threads

    @property
    def parts(self) -> int:
        """Warps that share a problem."""
        return 1

    def shared_bytes(self, real: Real) -> int:
        """Dynamic shared memory of a block."""
        return self.share * self.warps * real.bytes


@frozen
class SplitMapping:
    """The decisions for a program over several warps: one tile of 32 problems a block."""

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
    blocks: int = _SPLIT_BLOCKS
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
    def parts(self) -> int:
        """Warps that share a problem."""
        return self.workers

    @property
    def min_blocks(self) -> int:
        """Blocks that must fit a multiprocessor."""
        return self.blocks

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
        return WARP if self.gathered is None else PITCH

    @property
    def share(self) -> int:
        """Scalars of shared memory of a block."""
        if self.gathered is None:
            return self.hand + WARP * self.split.num_slots
        share = self.hand + PITCH * self.gathered.num_slots
        return share + -share % 4

    def shared_bytes(self, real: Real) -> int:
        """Dynamic shared memory of a block; last come tables of where rows' entries lie."""
        tables = 0 if self.gathered is None else 2 * len(self.gathered.entries)
        return self.share * real.bytes + tables


def _pitch(size: int) -> int:
    """Rows of odd pitch meet no bank twice; a conflict of two is cheaper than unaligned rows."""
    return size if math.gcd(size, WARP) <= 2 else size + 1


def map_program(
    program: Program, real: Real, arch: str, even: Callable[[], Program] | None = None
) -> tuple[Program, Mapping | SplitMapping]:
    """Decide the mapping from the program's widths and counts, and the card's shared memory.

    Args:
        program: the program.
        real: its precision.
        arch: the card's architecture.
        even: traces the program anew with even signs, so that limbs that are mirror images come
            out alike and share their code where it is split.

    Returns:
        The program to compile, of the two, and how it lies on the card.
    """
    wide = any(p.size > _WHOLE for p in program.outputs)
    long = program.counts.operations > _SPLIT_OPERATIONS
    spills = program.counts.live * real.bytes > _SPLIT_LIVE_BYTES
    if any(program.regions) and (long or spills):
        fit = program if even is None else even()
        split = map_gathered(fit, real, arch) if wide else None
        if split is None and (long or not wide):
            split = map_split(fit, real, arch)
        if split is not None:
            return fit, split
    return program, map_threads(program, real, arch)


def map_threads(program: Program, real: Real, arch: str = USUAL) -> Mapping:
    """One problem a thread."""
    longest = multiprocessor_bytes(arch, _EAGER_WARPS) // (_EAGER_WARPS * WARP * real.bytes)
    eager = _is_eager(program, real, longest)
    wide = max(_CHUNK, longest - sum(_pitch(p.size) for p in program.inputs if not p.uniform))
    chunks, start = [], 0
    for index, port in enumerate(program.outputs):
        values = program.results[start : start + port.size]
        aligned = port.size * real.bytes % _SECTOR == 0
        most = port.size if eager else _CHUNK if aligned else wide
        chunks += _split(index, port, values, most)
        start += port.size
    beside = 0 if len(chunks) == 1 else WARP * (max((len(c.values) for c in chunks), default=0) + 4)
    staged, offset = _stage_inputs(program, _SHARED_LIMIT // real.bytes - beside)
    # Inputs are read out of shared memory up to the last instruction; outputs lie beside them,
    # except where one chunk is all there is and can follow them in place.
    after = 0 if len(chunks) == 1 else offset
    per_vector = 16 // real.bytes
    staged_chunks = tuple(
        _stage_chunk(c, program.outputs[c.port].size, after, per_vector) for c in chunks
    )
    tile = max([offset] + [s.offset + WARP * s.pitch for s in staged_chunks])
    tile += -tile % 4  # every tile begins on 16 bytes
    # Fetching ahead hides the reads; what mostly writes is better off with more warps.
    reads = sum(p.size for p in program.inputs)
    writes = sum(p.size for p in program.outputs)
    ahead = 2 * tile * real.bytes <= _DOUBLE_LIMIT and reads >= writes
    buffers = 2 if ahead else 1
    warps = 2 if eager else 4
    while warps > 1 and tile * buffers * warps * real.bytes > _SHARED_LIMIT // 2:
        warps //= 2
    waves = _WAVES if ahead else 0
    live = program.counts.live * real.bytes
    # Told nothing, the assembler gives up on what cannot fit and takes 32 registers.
    min_blocks = int(live > _REGISTER_BYTES)
    least, most = _SMALL_LIVE_BYTES
    if warps * _SMALL_BLOCKS == _SMALL_WARPS and least < live <= most:
        min_blocks = _SMALL_BLOCKS
    return Mapping(
        warps, staged, tuple(chunks), staged_chunks, tile, buffers, waves, min_blocks, eager
    )


def _is_eager(program: Program, real: Real, longest: int) -> bool:
    """Whether the one result is too long for registers and short enough for shared memory."""
    if len(program.outputs) != 1 or sum(p.size for p in program.inputs) > _EAGER_INPUTS:
        return False
    size = program.outputs[0].size
    if not _EAGER_LEAST <= size <= longest:
        return False
    return size <= _EAGER_USUAL or size * real.bytes % _SECTOR != 0


def map_split(program: Program, real: Real, arch: str) -> SplitMapping | None:
    """Parts of the robot across warps; None where that is no help.

    Nor is it where wide results' parts do not fit twice, unless the whole would be huge.
    """
    wide = any(port.size > _WHOLE for port in program.outputs)
    # What holds more values has to fit twice, or nobody works while a part waits.
    most = multiprocessor_bytes(arch, 2) // 2 if wide else _SHARED_LIMIT
    for longest, apart in _SPLIT_WIDE if wide else ((_WHOLE, False),):
        chunks = _wide_rows(program, longest)
        split = split_program(program, chunks, apart=apart)
        if split is None or max(split.loads()) * 2 > sum(split.loads()):
            return None
        for buffers in (1,) if chunks else (2, 1):
            mapping = _lay_out(program, real, split, chunks, buffers)
            if mapping.shared_bytes(real) <= most:
                return mapping
    huge = program.counts.operations > _HUGE_OPERATIONS
    return mapping if huge and mapping.shared_bytes(real) <= block_bytes(arch) else None


def map_gathered(
    program: Program,
    real: Real,
    arch: str,
    *,
    apart: bool = True,
    blocks: int | None = None,
    helpers: int | None = None,
) -> SplitMapping | None:
    """A limb a warp, and wide results gathered; None where that is no help.

    Args:
        program: the program, traced with even signs.
        real: its precision.
        arch: the card's architecture.
        apart: whether the trunk has a warp of its own.
        blocks: how many a multiprocessor is to hold; None: as many as shared memory and registers
            allow.
        helpers: warps that write only; None: as many as registers allow.
    """
    rows, start = {}, 0
    for index, port in enumerate(program.outputs):
        if port.size > _WHOLE:
            rows[index] = program.results[start : start + port.size]
        start += port.size
    kept = {value for row in rows.values() for value in row}
    split = split_program(program, apart=apart, kept=kept)
    if split is None or max(split.loads()) * 2 > sum(split.loads()):
        return None
    mapping = evolve(
        _lay_out(program, real, split, [], 2),
        gathered=gather(split, program.first_instruction, rows),
        waves=1,
    )
    needed = most_alive(split) * real.bytes // 4 + _BESIDE_VALUES
    for count in _GATHERED_BLOCKS if blocks is None else (blocks,):
        given = registers(count, split.warps)
        if blocks is None and count > _SPLIT_BLOCKS and given < needed:
            continue
        for buffers in (2, 1):
            fit = evolve(mapping, buffers=buffers, blocks=count)
            if fit.shared_bytes(real) > multiprocessor_bytes(arch, count) // count:
                continue
            if helpers is None:
                able = range(max(0, _GATHERED_WARPS - split.warps), -1, -1)
                least = min(needed, given)
                helpers = next(n for n in able if registers(count, split.warps + n) >= least)
            return evolve(fit, helpers=helpers)
    return None


def _lay_out(
    program: Program, real: Real, split: Split, chunks: list[Chunk], buffers: int
) -> SplitMapping:
    staged, tile = _stage_inputs(program, _SHARED_LIMIT // real.bytes)
    tile += -tile % 4
    outputs: list[Staged | None] = []
    offset = 0
    for port in program.outputs:
        if port.size > _WHOLE:
            outputs.append(None)
            continue
        outputs.append(Staged(port.size, _pitch(port.size), offset))
        offset += WARP * _pitch(port.size)
    per_vector = 16 // real.bytes
    rows = tuple(_stage_chunk(c, program.outputs[c.port].size, 0, per_vector) for c in chunks)
    return SplitMapping(split, staged, tuple(outputs), tuple(chunks), rows, tile, buffers, _WAVES)


def _wide_rows(program: Program, longest: int) -> list[Chunk]:
    """Rows of the wide results; of rows that are longer, equal pieces."""
    chunks, start = [], 0
    for index, port in enumerate(program.outputs):
        if port.size > _WHOLE:
            values = program.results[start : start + port.size]
            row = port.dims[-1]
            piece = -(-row // -(-row // longest))
            piece += -piece % 4
            chunks += [
                Chunk(index, first, values[first : min(first + piece, end)])
                for begin, end in ((k, k + row) for k in range(0, port.size, row))
                for first in range(begin, end, piece)
            ]
        start += port.size
    return chunks


def _stage_inputs(program: Program, most: int) -> tuple[tuple[Staged | None, ...], int]:
    """Rows of every batched input port, one after the other; and their end.

    Where they are more than `most` scalars, the widest are left in device memory.
    """
    kept = [p for p in program.inputs if p.size and not p.uniform]
    while kept and sum(WARP * _pitch(p.size) for p in kept) > most:
        kept.remove(max(kept, key=lambda p: p.size))
    staged: list[Staged | None] = []
    offset = 0
    for port in program.inputs:
        if port not in kept:
            staged.append(None)
            continue
        staged.append(Staged(port.size, _pitch(port.size), offset))
        offset += WARP * _pitch(port.size)
    return tuple(staged), offset


def _stage_chunk(chunk: Chunk, width: int, offset: int, per_vector: int) -> Staged:
    size = len(chunk.values)
    if size == width and _pitch(size) == size:
        return Staged(size, size, offset)
    each = math.gcd(size, width, chunk.first, per_vector)
    # An odd number of vectors: as many lanes as fill all banks once then meet no bank twice.
    return Staged(size, each * (size // each | 1), offset, each)


def _split(index: int, port: ProgramPort, values: tuple[int, ...], most: int) -> list[Chunk]:
    """Cut a row into pieces of equal length, as few as may be."""
    size = port.size
    if size == 0:
        return []
    if size <= max(_WHOLE, most):
        return [Chunk(index, 0, values)]
    piece = most
    if most != _CHUNK:
        piece = -(-size // -(-size // most))
        piece += -piece % 4
    return [Chunk(index, k, values[k : k + piece]) for k in range(0, size, piece)]
