"""From a program to one LLVM function over a range of problems.

The function walks the batch in tiles of one problem a lane. A full tile reads and writes the
caller's rows in place; the last, partial one goes through the scratch block, so that one body
serves every batch size and a problem's result never depends on where in the batch it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_backend_cpu.ahead import Ahead
from grid_backend_cpu.atan2 import special_function
from grid_backend_cpu.body import Body
from grid_backend_cpu.layout import KERNEL, SCRATCH_HEADER
from grid_backend_cpu.parts import Parts
from grid_backend_cpu.trig import far_functions
from grid_backend_cpu.vector import Emitter, Lanes
from grid_core.program.ops import Op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.program.program import Program, ProgramPort

__all__ = ["lower"]


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
            f"attributes #0 = {{ nounwind {wide} }}",
            '!0 = !{!"branch_weights", i32 1, i32 100000}',
            '!1 = !{!"branch_weights", i32 100000, i32 1}',
        ]
    )


def _has(program: Program, op: Op) -> bool:
    return any(op is other for other, _, _ in program.instructions)


def _loop(
    e: Emitter, inputs: Sequence[ProgramPort], outputs: Sequence[ProgramPort], program: Program
) -> list[str]:
    t = e.lanes
    e.label("entry")
    buffers = _buffers(e, [*inputs, *outputs])
    rows_bytes = t.bytes * sum(port.size for port in (*inputs, *outputs))
    kept = e.let(f"getelementptr i8, ptr %scratch, i64 {SCRATCH_HEADER + rows_bytes}")
    e.do("%empty = icmp sge i64 %begin, %end")
    e.do("br i1 %empty, label %exit, label %tile")
    e.label("tile")
    e.do("%row = phi i64 [ %begin, %entry ], [ %next_row, %advance ]")
    e.do(f"%next_row = add i64 %row, {t.width}")
    e.do("%full = icmp sle i64 %next_row, %end")
    e.do("%left = sub i64 %end, %row")
    places = [_offset(e, f"%in{k}", "%row", port.size) for k, port in enumerate(inputs)]
    places += [_offset(e, f"%out{k}", "%row", port.size) for k, port in enumerate(outputs)]
    e.do("br i1 %full, label %body, label %stage")
    e.label("stage")
    for k, port in enumerate(inputs):
        _copy(e, f"in{k}", places[k], buffers[k], port.size)
    e.do("br label %staged")
    e.label("staged")
    e.do("br label %body")
    e.label("body")
    pointers = [
        e.let(f"phi ptr [ {place}, %tile ], [ {buffer}, %staged ]")
        for place, buffer in zip(places, buffers, strict=True)
    ]
    rows = zip(places[len(inputs) :], (port.size for port in outputs), strict=True)
    ahead = Ahead(e, rows, len(program.instructions))
    body = Body(e, program, Parts.of(program), kept)
    body.emit(pointers[: len(inputs)], pointers[len(inputs) :], ahead)
    e.do("br i1 %full, label %advance, label %unstage")
    e.label("unstage")
    for k, port in enumerate(outputs):
        at = len(inputs) + k
        _copy(e, f"out{k}", buffers[at], places[at], port.size)
    e.do("br label %advance")
    e.label("advance")
    e.do("%more = icmp slt i64 %next_row, %end")
    e.do("br i1 %more, label %tile, label %exit")
    e.label("exit")
    e.do("ret void")
    return body.tables


def _buffers(e: Emitter, ports: Sequence[ProgramPort]) -> list[str]:
    """Where each port's tile lies in the scratch block."""
    offset = SCRATCH_HEADER
    buffers = []
    for port in ports:
        buffers.append(e.let(f"getelementptr i8, ptr %scratch, i64 {offset}"))
        offset += port.size * e.lanes.width * e.lanes.itemsize
    return buffers


def _offset(e: Emitter, base: str, row: str, size: int) -> str:
    index = e.let(f"mul i64 {row}, {size}")
    return e.let(f"getelementptr {e.lanes.scalar}, ptr {base}, i64 {index}")


def _copy(e: Emitter, tag: str, source: str, target: str, size: int) -> None:
    """Copy the rows that are left, scalar by scalar; opens new basic blocks."""
    if size == 0:
        return
    scalar = e.lanes.scalar
    count = e.let(f"mul i64 %left, {size}")
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
