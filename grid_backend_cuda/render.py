"""From a program to the source text of its kernel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from grid_backend_cuda.emit import Chunk, Real, emit
from grid_backend_cuda.gather import rows_at_a_time
from grid_backend_cuda.parts import Cell, Targets, emit_blocks
from grid_backend_cuda.split_mapping import SplitMapping
from grid_backend_cuda.templating import TEMPLATES, environment
from grid_backend_cuda.trig import far_functions, reach_statements
from grid_core.errors import BackendError
from grid_core.program.ops import Op

if TYPE_CHECKING:
    import jinja2

    from grid_backend_cuda.jobs import Job
    from grid_backend_cuda.parts import Shift
    from grid_backend_cuda.rows import Rows
    from grid_backend_cuda.staged import Staged
    from grid_backend_cuda.thread_mapping import Mapping
    from grid_core.program.program import Program, ProgramPort

__all__ = ["Argument", "kernel_name", "render"]

SHARED_TEMPLATE = "kernel.cu.j2"
SPLIT_TEMPLATE = "split.cu.j2"
_VECTORS = {"float32": ("float4", 4), "float64": ("double2", 2)}
"""CUDA's type of 16 bytes, and how many scalars it holds."""


@frozen
class Argument:
    """A port as a kernel argument."""

    port: ProgramPort
    symbol: str
    staged: Staged | None = None


@frozen
class Gather:
    """A wide result whose rows all warps write."""

    symbol: str
    width: int
    rows: int
    """Rows written by a step of all warps."""
    start: int
    """Where its table begins, in entries."""


def kernel_name(program: Program) -> str:
    """Name of the kernel in the module."""
    return f"grid_{program.name}"


def render(program: Program, real: Real, mapping: Mapping | SplitMapping, **options: Any) -> str:
    """Return the kernel's source.

    Args:
        program: the program.
        real: its precision.
        mapping: how it lies on the card.
        options: ``robot`` (name for the heading), ``min_blocks`` (in place of the mapping's),
            ``template`` (path of an algorithm's own template, or None).
    """
    inputs = [
        Argument(port, f"in_{port.name}", staged)
        for port, staged in zip(program.inputs, mapping.inputs, strict=True)
    ]
    outputs = [Argument(port, f"out_{port.name}") for port in program.outputs]
    if isinstance(mapping, SplitMapping):
        template = _template(None, SPLIT_TEMPLATE)
        code = _split_code(program, real, mapping, inputs, outputs)
    else:
        template = _template(options.get("template"), SHARED_TEMPLATE)
        code = {"body": _body(program, real, mapping, inputs, outputs)}
    return template.render(
        program=program,
        counts=program.counts,
        robot=_comment(str(options.get("robot", ""))),
        real=real,
        kernel=kernel_name(program),
        mapping=mapping,
        min_blocks=options.get("min_blocks", mapping.min_blocks),
        inputs=inputs,
        outputs=outputs,
        vector=_VECTORS[real.dtype][0],
        per_vector=_VECTORS[real.dtype][1],
        far_functions=far_functions(real),
        **code,
    )


def _comment(text: str) -> str:
    """Keep a robot's name inside a one-line comment."""
    return "".join(c if c.isprintable() and c != "\\" else "?" for c in text)


def _template(own: str | None, name: str) -> jinja2.Template:
    """Return a shared template, or an algorithm's own, whatever its file is called.

    Raises:
        BackendError: the algorithm's own cannot be read.
    """
    if own is None:
        return environment(TEMPLATES).get_template(name)
    try:
        text = Path(own).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BackendError(f"the template {own} cannot be read: {error}") from error
    return environment(TEMPLATES, Path(own).parent).from_string(text)


def _sources(inputs: list[Argument]) -> list[Cell]:
    """Where every input scalar lies."""
    sources: list[Cell] = []
    for argument in inputs:
        if argument.port.uniform:
            sources += [Cell(argument.symbol)] * argument.port.size
        elif argument.staged is None:
            n = argument.port.size
            before = f"{argument.symbol}[(first + at) * {n} + "
            sources += [Cell(before, k, "]") for k in range(n)]
        else:
            s = argument.staged
            sources += [Cell("tile[", s.offset + k, f" + at * {s.pitch}]") for k in range(s.size)]
    return sources


def _split_code(
    program: Program,
    real: Real,
    mapping: SplitMapping,
    inputs: list[Argument],
    outputs: list[Argument],
) -> dict[str, Any]:
    staged = dict(zip(mapping.chunks, mapping.staged_chunks, strict=True))
    places: dict[int, list[Cell]] = {}
    for (_, values), s in zip(program.results_by_port(), mapping.outputs, strict=True):
        if s is not None:
            for k, value in enumerate(values):
                cell = Cell("result[", s.offset + k, f" + lane * {s.pitch}]")
                places.setdefault(value, []).append(cell)

    def write(rows: Rows, job: Job, values: list[str], shift: Shift) -> list[str]:
        chunk = rows.chunks[0]
        s, width = staged[chunk], outputs[chunk.port].port.size
        row = f"share + {mapping.row + job.first * mapping.row_size}"
        target = f"{outputs[chunk.port].symbol} + first * {width} + {chunk.first}"
        if job.size > 1:
            row += f" + place * {mapping.row_size}"
            target += shift(tuple(c.first for c in rows.chunks))
            cells = [
                f"({row})[{s.offset + at[0]}{shift(at)} + lane * {s.pitch}]"
                for at, _ in rows.entries
            ]
            staging = [f"{cell} = {value};" for cell, value in zip(cells, values, strict=True)]
        else:
            staging = _staging(s, values, real, row)
        return ["__syncwarp();", *staging, "__syncwarp();", _store(s, width, target, row)]

    gathers = []
    if mapping.gathered is not None:
        for value, slot in mapping.gathered.known.items():
            cell = Cell("hand[", slot * mapping.pitch, " + lane]")
            places.setdefault(value, []).append(cell)
        starts = mapping.gathered.starts
        gathers = [
            Gather(
                outputs[index].symbol,
                len(t),
                rows_at_a_time(len(t), real.bytes, mapping.tile_problems),
                starts[index],
            )
            for index, t in mapping.gathered.tables.items()
        ]
    targets = Targets(_sources(inputs), places, write, mapping.pitch)
    blocks = emit_blocks(program, real, mapping.split, targets)
    stores = [
        Argument(a.port, a.symbol, s)
        for a, s in zip(outputs, mapping.outputs, strict=True)
        if a.port.size and s is not None
    ]
    return {"blocks": blocks, "stores": stores, "gathers": gathers}


def _body(
    program: Program,
    real: Real,
    mapping: Mapping,
    inputs: list[Argument],
    outputs: list[Argument],
) -> list[str]:
    sources = [cell.at() for cell in _sources(inputs)]
    # Angles computed beside one another take registers, which a capped program lacks.
    near = _angles(program, inputs) if mapping.min_blocks <= 1 else frozenset()
    staged = dict(zip(mapping.chunks, mapping.staged_chunks, strict=True))
    # The first chunk to be written shares its memory with nothing, but for the only one, which
    # lies over the inputs. The order is that in which values are known, not that of the chunks.
    fresh = len(mapping.chunks) > 1

    def store(chunk: Chunk, _: list[str]) -> list[str]:
        s, width = staged[chunk], outputs[chunk.port].port.size
        target = f"{outputs[chunk.port].symbol} + first * {width} + {chunk.first}"
        return ["__syncwarp();", _store(s, width, target, f"tile + {s.offset}")]

    def write(chunk: Chunk, values: list[str]) -> list[str]:
        nonlocal fresh
        lines = [] if fresh else ["__syncwarp();"]
        fresh = False
        return [*lines, *_staging(staged[chunk], values, real, "tile"), *store(chunk, values)]

    if mapping.eager:
        (chunk,), (s,) = mapping.chunks, mapping.staged_chunks
        places: dict[int, list[int]] = {}
        for position, value in enumerate(chunk.values):
            places.setdefault(value, []).append(position)

        def place(value: int, name: str) -> list[str]:
            return [
                f"tile[{s.offset + k} + lane * {s.pitch}] = {name};" for k in places.get(value, ())
            ]

        body = emit(
            program, real, lambda v: sources[v], mapping.chunks, store, place=place, near=near
        )
    else:
        body = emit(program, real, lambda v: sources[v], mapping.chunks, write, near=near)
    return [*reach_statements(real, [sources[v] for v in sorted(near)]), *body]


def _angles(program: Program, inputs: list[Argument]) -> frozenset[int]:
    """Inputs in shared memory of which sine and cosine are taken, and nothing else."""
    taken: set[int] = set()
    other = set(program.results)
    for op, a, b in program.instructions:
        (taken if op in (Op.SIN, Op.COS) else other).add(a)
        other.add(b)
    staged: set[int] = set()
    start = 0
    for argument in inputs:
        if argument.staged is not None:
            staged.update(range(start, start + argument.port.size))
        start += argument.port.size
    return frozenset((taken - other) & staged)


def _store(s: Staged, width: int, to: str, tile: str) -> str:
    """Statement that writes a warp's rows of a chunk to device memory."""
    return f"grid_store<{s.size}, {s.pitch}, {width}, {s.each}>({to}, {tile}, rows, lane, vectors);"


def _staging(s: Staged, values: list[str], real: Real, tile: str) -> list[str]:
    """Statements that write a chunk's values into the thread's row of shared memory."""
    if s.each == 1:
        return [f"({tile})[{s.offset + k} + lane * {s.pitch}] = {v};" for k, v in enumerate(values)]
    vector, each = f"{real.name}{s.each}", s.each
    row = f"reinterpret_cast<{vector}*>({tile} + {s.offset} + lane * {s.pitch})"
    groups = [values[k : k + each] for k in range(0, len(values), each)]
    return [f"{row}[{k}] = {{{', '.join(group)}}};" for k, group in enumerate(groups)]
