"""From a program to one LLVM function over a range of problems.

The function walks the batch in tiles of one problem a lane. A full tile reads and writes the
caller's rows in place; the last, partial one goes through the scratch block, so that one body
serves every batch size and a problem's result never depends on where in the batch it stands.
A program is cut into parts (`grid_backend_cpu.parts`), and each is run over a few tiles before
the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_backend_cpu.ahead import Ahead
from grid_backend_cpu.atan2 import special_function
from grid_backend_cpu.body import Body, steps
from grid_backend_cpu.layout import KERNEL, SCRATCH_HEADER
from grid_backend_cpu.parts import Parts, tiles
from grid_backend_cpu.trig import far_functions
from grid_backend_cpu.vector import Emitter, Lanes
from grid_core.program.ops import Op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.program.program import Program, ProgramPort

__all__ = ["lower"]


_ALIGNED = '"stackrealign" "frame-pointer"="all"'
"""What is spilled lies within cache lines; LLVM aligns no stack that has no frame pointer."""


def lower(program: Program, lanes: Lanes) -> str:
    """Return the module's IR as text."""
    batched = [p for p in program.inputs if not p.uniform]
    uniform = [p for p in program.inputs if p.uniform]
    arguments = ["i64 %begin", "i64 %end", "ptr noalias %scratch"]
    arguments += [f"ptr noalias readonly %in{i}" for i in range(len(batched))]
    arguments += [f"{lanes.scalar} %uniform{i}" for i in range(len(uniform))]
    arguments += [f"ptr noalias %out{i}" for i in range(len(program.outputs))]
    body = Emitter(lanes)
    tables = _loop(body, batched, program.outputs, program)
    bits = lanes.width * lanes.bits
    wide = f'"prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}"'
    return "\n".join(
        [
            far_functions(lanes),
            *([special_function(lanes)] if _has(program, Op.ATAN2) else []),
            *tables,
            f"define void @{KERNEL}({', '.join(arguments)}) #0 {{",
            *body.lines,
            "}",
            f"attributes #0 = {{ nounwind {_ALIGNED} {wide} }}",
            '!0 = !{!"branch_weights", i32 1, i32 100000}',
            '!1 = !{!"branch_weights", i32 100000, i32 1}',
        ]
    )


def _has(program: Program, op: Op) -> bool:
    return any(op is other for other, _, _ in program.instructions)


def _loop(
    e: Emitter, inputs: Sequence[ProgramPort], outputs: Sequence[ProgramPort], program: Program
) -> list[str]:
    """Emit the walk over the batch: block by block, and in a block part by part."""
    t, parts = e.lanes, Parts.of(program)
    e.label("entry")
    offset = SCRATCH_HEADER
    for k, port in enumerate((*inputs, *outputs)):
        name = f"%in_buffer{k}" if k < len(inputs) else f"%out_buffer{k - len(inputs)}"
        e.do(f"{name} = getelementptr i8, ptr %scratch, i64 {offset}")
        offset += port.size * t.bytes
    e.do(f"%kept = getelementptr i8, ptr %scratch, i64 {offset}")
    e.do("%empty = icmp sge i64 %begin, %end")
    e.do("br i1 %empty, label %exit, label %block")
    e.label("block")
    e.do("%first = phi i64 [ %begin, %entry ], [ %last, %advance ]")
    e.do(f"%far = add i64 %first, {t.width * tiles(program, parts, t)}")
    e.do("%short = icmp slt i64 %far, %end")
    e.do("%last = select i1 %short, i64 %far, i64 %end")
    e.do("br label %tile0")
    body = Body(e, program, parts, Ahead(e, [p.size for p in outputs], steps(program, parts)))
    for part, stretch in enumerate(parts.stretches):
        _tile(e, part, parts.count * t.bytes)
        rows = [_offset(e, f"%out{k}", f"%row{part}", p.size) for k, p in enumerate(outputs)]
        if part == 0:
            body.open(_staged(e, inputs), rows)
        else:
            body.compute(part, stretch, rows)
        if part == len(parts.stretches) - 1:
            _write(e, body, outputs, part, rows)
        e.do(f"br label %next{part}")
        e.label(f"next{part}")
        after = f"tile{part + 1}" if part < len(parts.stretches) - 1 else "advance"
        e.do(f"%again{part} = icmp slt i64 %next_row{part}, %last")
        e.do(f"br i1 %again{part}, label %tile{part}, label %{after}")
    e.label("advance")
    e.do("%more = icmp slt i64 %last, %end")
    e.do("br i1 %more, label %block, label %exit")
    e.label("exit")
    e.do("ret void")
    return body.tables


def _tile(e: Emitter, part: int, kept_bytes: int) -> None:
    """Begin the loop of a part over the tiles of a block."""
    before, own = "block" if part == 0 else f"next{part - 1}", f"next{part}"
    e.label(f"tile{part}")
    e.do(f"%row{part} = phi i64 [ %first, %{before} ], [ %next_row{part}, %{own} ]")
    e.do(f"%kept{part} = phi ptr [ %kept, %{before} ], [ %next_kept{part}, %{own} ]")
    e.do(f"%next_row{part} = add i64 %row{part}, {e.lanes.width}")
    e.do(f"%next_kept{part} = getelementptr i8, ptr %kept{part}, i64 {kept_bytes}")


def _staged(e: Emitter, inputs: Sequence[ProgramPort]) -> list[str]:
    """Point at a tile's rows: in place, or copied where fewer are left than lanes."""
    places = [_offset(e, f"%in{k}", "%row0", port.size) for k, port in enumerate(inputs)]
    e.do("%whole = icmp sle i64 %next_row0, %end")
    e.do("%left = sub i64 %end, %row0")
    e.do("br i1 %whole, label %body, label %stage, !prof !1")
    e.label("stage")
    for k, port in enumerate(inputs):
        _copy(e, f"in{k}", (places[k], f"%in_buffer{k}"), "%left", port.size)
    e.do("br label %staged")
    e.label("staged")
    e.do("br label %body")
    e.label("body")
    return [
        e.let(f"phi ptr [ {place}, %tile0 ], [ %in_buffer{k}, %staged ]")
        for k, place in enumerate(places)
    ]


def _write(
    e: Emitter, body: Body, outputs: Sequence[ProgramPort], part: int, rows: Sequence[str]
) -> None:
    """Write a tile's results, by way of the scratch block where fewer are left than lanes."""
    e.do(f"%full = icmp sle i64 %next_row{part}, %end")
    body.write(
        [e.let(f"select i1 %full, ptr {row}, ptr %out_buffer{k}") for k, row in enumerate(rows)]
    )
    e.do("br i1 %full, label %written, label %unstage, !prof !1")
    e.label("unstage")
    e.do(f"%rest = sub i64 %end, %row{part}")
    for k, port in enumerate(outputs):
        _copy(e, f"out{k}", (f"%out_buffer{k}", rows[k]), "%rest", port.size)
    e.do("br label %written")
    e.label("written")


def _offset(e: Emitter, base: str, row: str, size: int) -> str:
    index = e.let(f"mul i64 {row}, {size}")
    return e.let(f"getelementptr {e.lanes.scalar}, ptr {base}, i64 {index}")


def _copy(e: Emitter, tag: str, way: tuple[str, str], rows: str, size: int) -> None:
    """Copy so many rows from here to there, scalar by scalar; opens new basic blocks."""
    if size == 0:
        return
    scalar = e.lanes.scalar
    source, target = way
    count = e.let(f"mul i64 {rows}, {size}")
    e.do(f"br label %copy_{tag}_start")
    e.label(f"copy_{tag}_start")
    e.do(f"br label %copy_{tag}")
    e.label(f"copy_{tag}")
    e.do(f"%k_{tag} = phi i64 [ 0, %copy_{tag}_start ], [ %n_{tag}, %copy_{tag} ]")
    from_ = e.let(f"getelementptr {scalar}, ptr {source}, i64 %k_{tag}")
    to = e.let(f"getelementptr {scalar}, ptr {target}, i64 %k_{tag}")
    value = e.let(f"load {scalar}, ptr {from_}")
    e.do(f"store {scalar} {value}, ptr {to}")
    e.do(f"%n_{tag} = add i64 %k_{tag}, 1")
    again = e.let(f"icmp slt i64 %n_{tag}, {count}")
    e.do(f"br i1 {again}, label %copy_{tag}, label %copied_{tag}")
    e.label(f"copied_{tag}")
