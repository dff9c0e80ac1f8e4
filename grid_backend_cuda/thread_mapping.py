"""One problem a thread, and each warp keeps to itself.

It stages its 32 rows through its own share of shared memory, so that device memory is touched in
whole lines and no block-wide barrier is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_backend_cuda.cards import USUAL, multiprocessor_bytes
from grid_backend_cuda.emit import Chunk
from grid_backend_cuda.staged import (
    SHARED_LIMIT,
    WARP,
    WHOLE,
    Staged,
    pitch_of,
    stage_chunk,
    stage_inputs,
)

if TYPE_CHECKING:
    from grid_backend_cuda.emit import Real
    from grid_core.program.program import Program, ProgramPort

__all__ = ["WAVES", "Mapping", "map_threads"]

_CHUNK = 64
"""Scalars of a row written at once, where the row is longer than `WHOLE`."""
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
_DOUBLE_LIMIT = 20 * 1024
"""Bytes a warp may take for two tiles; beyond, arithmetic hides the loads anyway."""
_REGISTER_BYTES = 255 * 4
"""What a thread's registers hold."""
_SMALL_LIVE_BYTES = 4 * 32, 4 * 58
_SMALL_BLOCKS, _SMALL_WARPS = 8, 32
"""Blocks of four warps that small programs fit without a spill, in 64 registers a thread: left
alone, the assembler takes 72, and 131072 problems need a second round of blocks."""
WAVES = 8
"""Blocks for each resident one, where blocks walk the batch: few enough that fetching ahead
pays, enough that the last ones to finish do not matter."""


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


def map_threads(program: Program, real: Real, arch: str = USUAL) -> Mapping:
    """One problem a thread."""
    longest = multiprocessor_bytes(arch, _EAGER_WARPS) // (_EAGER_WARPS * WARP * real.bytes)
    eager = _is_eager(program, real, longest)
    wide = max(_CHUNK, longest - sum(pitch_of(p.size) for p in program.inputs if not p.uniform))
    chunks = []
    for index, (port, values) in enumerate(program.results_by_port()):
        aligned = port.size * real.bytes % _SECTOR == 0
        most = port.size if eager else _CHUNK if aligned else wide
        chunks += _pieces(index, port, values, most)
    beside = 0 if len(chunks) == 1 else WARP * (max((len(c.values) for c in chunks), default=0) + 4)
    staged, offset = stage_inputs(program, SHARED_LIMIT // real.bytes - beside)
    # Inputs are read out of shared memory up to the last instruction; outputs lie beside them,
    # except where one chunk is all there is and can follow them in place.
    after = 0 if len(chunks) == 1 else offset
    per_vector = 16 // real.bytes
    staged_chunks = tuple(
        stage_chunk(c, program.outputs[c.port].size, after, per_vector) for c in chunks
    )
    tile = max([offset] + [s.offset + WARP * s.pitch for s in staged_chunks])
    tile += -tile % 4  # every tile begins on 16 bytes
    # Fetching ahead hides the reads; what mostly writes is better off with more warps.
    reads = sum(p.size for p in program.inputs)
    writes = sum(p.size for p in program.outputs)
    ahead = 2 * tile * real.bytes <= _DOUBLE_LIMIT and reads >= writes
    buffers = 2 if ahead else 1
    warps = 2 if eager else 4
    while warps > 1 and tile * buffers * warps * real.bytes > SHARED_LIMIT // 2:
        warps //= 2
    waves = WAVES if ahead else 0
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


def _pieces(index: int, port: ProgramPort, values: tuple[int, ...], most: int) -> list[Chunk]:
    """Cut a row into pieces of equal length, as few as may be."""
    size = port.size
    if size == 0:
        return []
    if size <= max(WHOLE, most):
        return [Chunk(index, 0, values)]
    piece = most
    if most != _CHUNK:
        piece = -(-size // -(-size // most))
        piece += -piece % 4
    return [Chunk(index, k, values[k : k + piece]) for k in range(0, size, piece)]
