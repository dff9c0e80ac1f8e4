"""Sums of squares on the card: how they lie there, and the kernel that takes them.

One or two warps of a block evaluate problems into shared memory, in double; the others hold the
sums in registers, 8 by 8 entries a thread, and add every problem's products to them. A block goes
on where its last launch ended, and the blocks' sums are added in an order of their own, so that the
same batch on the same card gives the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_backend_cuda.build import template_digest
from grid_backend_cuda.cards import block_bytes
from grid_backend_cuda.compiler import compile_cubin, compile_ptx, compiler_version
from grid_backend_cuda.emit import Chunk, Real, emit
from grid_backend_cuda.launch_data import Build
from grid_backend_cuda.squares_launch import CudaSquares
from grid_backend_cuda.templating import TEMPLATES, environment
from grid_backend_cuda.trig import far_functions
from grid_core.artifact import fetch_build
from grid_core.artifact.identity import source_digest
from grid_core.errors import BackendError
from grid_core.program.trace import trace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from grid_backend_cuda.driver import Card
    from grid_core.backend import BuildSettings, Operation
    from grid_core.program.program import Program

__all__ = [
    "SquaresPlan",
    "Tile",
    "build_squares",
    "compile_squares",
    "make_squares",
    "plan_squares",
    "squares_source",
]

_EDGE = 8
"""Rows and columns of a tile."""
_WARP = 32
_WARPS = 8
"""Warps of a block at most: two for each scheduler, so that a thread may have 255 registers. 64
doubles are in them, and what is being read."""


@frozen
class Tile:
    """8 by 8 entries of one segment's products, on or below the diagonal of its tiles.

    Its rows are four pairs, `step` apart, and so are its columns: pairs of neighbouring tiles are
    neighbours in memory, and the threads of a warp read them without a conflict.
    """

    segment: int
    row: int
    """First pair of its rows, in a problem's row of shared memory."""
    column: int
    step: int


@frozen
class SquaresPlan:
    """The decisions."""

    segments: tuple[int, ...]
    """Widths of the vectors whose outer products are summed."""
    tiles: tuple[Tile, ...]
    width: int
    """Threads that hold tiles, and tiles that a launch works on."""
    groups: int
    """Launches that it takes to work on all tiles."""
    pitch: int
    """Pairs of doubles from one problem's row to the next, odd."""
    samples: int
    """Problems in a buffer."""
    buffers: int
    """Buffers, with a warp for each that fills it."""

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return _WARP * self.buffers + self.width

    @property
    def padded(self) -> int:
        """Tiles that there is room for."""
        return self.width * self.groups

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a block."""
        return 16 * self.pitch * self.samples * self.buffers


def plan_squares(segments: Sequence[int], arch: str) -> SquaresPlan:
    """Decide how sums lie on a card.

    Raises:
        BackendError: one problem's values are more than a block's shared memory holds.
    """
    tiles: list[Tile] = []
    begin = 0
    for segment, width in enumerate(segments):
        step = -(-width // _EDGE)
        tiles += [
            Tile(segment, begin + i, begin + j, step) for i in range(step) for j in range(i + 1)
        ]
        begin += _EDGE // 2 * step
    most = block_bytes(arch)
    pitch = begin | 1
    # Few problems at a time leave lanes idle, one buffer alone leaves warps idle: lanes cost less.
    for samples, buffers in ((32, 2), (16, 2), (32, 1), (16, 1), (8, 1), (4, 1), (2, 1), (1, 1)):
        if 16 * pitch * samples * buffers <= most:
            warps = min(-(-len(tiles) // _WARP), _WARPS - buffers)
            return SquaresPlan(
                segments=tuple(segments),
                tiles=tuple(tiles),
                width=warps * _WARP,
                groups=-(-len(tiles) // (warps * _WARP)),
                pitch=pitch,
                samples=samples,
                buffers=buffers,
            )
    raise BackendError(
        f"the sums of squares of {sum(segments)} values do not fit {arch}: a block has {most} "
        f"bytes of shared memory, and they take {16 * pitch}"
    )


def squares_source(program: Program, plan: SquaresPlan, real: Real) -> str:
    """Render the kernel of a traced program with one output."""
    return (
        environment(TEMPLATES)
        .get_template("squares.cu.j2")
        .render(
            program=program,
            plan=plan,
            real=real,
            kernel=f"grid_{program.name}",
            far_functions=far_functions(real),
            body=_body(program, plan, real),
        )
    )


def _body(program: Program, plan: SquaresPlan, real: Real) -> list[str]:
    """Statements of one problem: its results as pairs of doubles, segment by segment."""
    sources: list[str] = []
    for port in program.inputs:
        at = "in_{}" if port.uniform else f"in_{{}}[(first + at) * {port.size} + {{}}]"
        sources += [at.format(port.name, k) for k in range(port.size)]
    chunks: dict[Chunk, int] = {}
    begin = pair = 0
    for width in plan.segments:
        for k in range(0, width, 2):
            values = program.results[begin + k : begin + min(k + 2, width)]
            chunks[Chunk(0, begin + k, values)] = pair + k // 2
        begin += width
        pair += _EDGE // 2 * -(-width // _EDGE)

    def write(chunk: Chunk, values: list[str]) -> list[str]:
        second = values[1] if len(values) > 1 else "0"
        return [f"row[{chunks[chunk]}] = make_double2({values[0]}, {second});"]

    return emit(program, real, lambda v: sources[v], list(chunks), write)


def compile_squares(operation: Operation, plan: SquaresPlan, arch: str) -> Build:
    """Trace, render and compile."""
    program, real = trace(operation), Real(operation.dtype.name)
    text = squares_source(program, plan, real)
    kernel = f"grid_{program.name}"
    code, used = compile_cubin(text, kernel, arch)
    counts = program.counts
    return Build(
        kernel=kernel,
        arch=arch,
        dtype=real.dtype,
        inputs=(*(p.name for p in program.inputs), "group"),
        uniform=(*(p.name for p in program.inputs if p.uniform), "group"),
        outputs=("partial", "total"),
        threads=plan.threads,
        shared_bytes=plan.shared_bytes,
        problems=plan.samples,
        waves=1,
        parts=1,
        **used.as_dict(),
        operations=counts.operations,
        fused=counts.fused,
        live=counts.live,
        code=code,
        chained=False,
    )


def build_squares(
    operation: Operation, plan: SquaresPlan, arch: str, cache_dir: Path | None
) -> Build:
    """Return the build, from the store when it is there."""
    target = {
        "backend": "cuda",
        "arch": arch,
        "nvrtc": compiler_version(),
        "lowering": source_digest("grid_backend_cuda") or "",
        "templates": template_digest(operation),
        "sums": ",".join(map(str, plan.segments)),
    }
    shown = {"arch": arch, "nvrtc": target["nvrtc"], "sums": "of squares"}

    def make() -> bytes:
        return compile_squares(operation, plan, arch).pack()

    return Build.unpack(fetch_build(operation, cache_dir, target, shown, make))


def make_squares(
    operation: Operation, segments: Sequence[int], settings: BuildSettings, on: Card
) -> CudaSquares:
    """Build for a device and load it there."""
    plan = plan_squares(segments, on.arch)
    build = build_squares(operation, plan, on.arch, settings.cache_dir)

    def ptx() -> bytes:
        text = squares_source(trace(operation), plan, Real(operation.dtype.name))
        return compile_ptx(text, build.kernel, on.arch)

    ports = {port.name: port for port in operation.algorithm.inputs}
    arrays = [name for name in build.inputs if name not in build.uniform]
    widths = {name: ports[name].size(operation.model, operation.options) for name in arrays}
    return CudaSquares(plan, build, on, ptx, widths)
