"""From a program to one LLVM function over a range of problems.

The function walks the batch in tiles of one problem a lane. A full tile reads and writes the
caller's rows in place; the last, partial one goes through the scratch block, so that one body
serves every batch size and a problem's result never depends on where in the batch it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_backend_cpu.ahead import Ahead
from grid_backend_cpu.atan2 import arctangent2
from grid_backend_cpu.layout import KERNEL, SCRATCH_HEADER
from grid_backend_cpu.trig import far_functions, sine_and_cosine, within_reach
from grid_backend_cpu.vector import Emitter, Lanes
from grid_core.program.ops import Op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.program.program import Program, ProgramPort

__all__ = ["lower"]

_INFIX = {Op.ADD: "fadd", Op.SUB: "fsub", Op.MUL: "fmul", Op.DIV: "fdiv"}
_CALLS = {Op.SQRT: "sqrt", Op.ABS: "fabs", Op.MIN: "minnum", Op.MAX: "maxnum"}
"""Intrinsics; those of MIN and MAX ignore a NaN, see `_instruction`."""
_FLAGS = "contract reassoc nsz"
"""Products may join sums, and sums be ordered anew: an eighth quicker, all within rounding."""


def lower(program: Program, lanes: Lanes) -> str:
    """Return the module's IR as text."""
    batched = [p for p in program.inputs if not p.uniform]
    uniform = [p for p in program.inputs if p.uniform]
    arguments = ["i64 %begin", "i64 %end", "ptr noalias %scratch"]
    arguments += [f"ptr noalias readonly %in{i}" for i in range(len(batched))]
    arguments += [f"{lanes.scalar} %uniform{i}" for i in range(len(uniform))]
    arguments += [f"ptr noalias %out{i}" for i in range(len(program.outputs))]
    body = Emitter(lanes)
    _loop(body, batched, program.outputs, program)
    bits = lanes.width * lanes.bits
    wide = f'"prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}"'
    return "\n".join(
        [
            far_functions(lanes),
            f"define void @{KERNEL}({', '.join(arguments)}) #0 {{",
            *body.lines,
            "}",
            f"attributes #0 = {{ nounwind {wide} }}",
            '!0 = !{!"branch_weights", i32 1, i32 100000}',
        ]
    )


def _loop(
    e: Emitter, inputs: Sequence[ProgramPort], outputs: Sequence[ProgramPort], program: Program
) -> None:
    t = e.lanes
    e.label("entry")
    buffers = _buffers(e, [*inputs, *outputs])
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
    columns = _body(e, program, pointers[: len(inputs)], ahead)
    start = 0
    for pointer, port in zip(pointers[len(inputs) :], outputs, strict=True):
        e.store_columns(pointer, columns[start : start + port.size])
        start += port.size
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


def _body(e: Emitter, program: Program, pointers: Sequence[str], ahead: Ahead) -> list[str]:
    """Emit the program's arithmetic; returns the result columns."""
    values = _inputs(e, program, pointers)
    values += [e.lanes.splat(c) for c in program.constants]
    turns = [a for op, a, _ in program.instructions if op in (Op.SIN, Op.COS)]
    angles = sorted({a for a in turns if a < program.num_inputs})
    # Angles that come in are looked at together, with one branch; those that are computed, such
    # as a mimic joint's, where they are first used.
    near = dict(zip(angles, within_reach(e, [values[a] for a in angles]), strict=True))
    pairs: dict[int, tuple[str, str]] = {}
    for instruction in program.instructions:
        op, a, _ = instruction
        if op in (Op.SIN, Op.COS) and a not in pairs:
            x = near[a] if a in near else within_reach(e, [values[a]])[0]
            pairs[a] = sine_and_cosine(e, x)
        values.append(_instruction(e, instruction, values, pairs))
        ahead.step()
    return [values[r] for r in program.results]


def _inputs(e: Emitter, program: Program, pointers: Sequence[str]) -> list[str]:
    t = e.lanes
    values: list[str] = []
    batched = uniform = 0
    for port in program.inputs:
        if port.uniform:
            one = e.let(f"insertelement {t.vector} poison, {t.scalar} %uniform{uniform}, i32 0")
            mask = f"<{t.width} x i32> zeroinitializer"
            values.append(e.let(f"shufflevector {t.vector} {one}, {t.vector} poison, {mask}"))
            uniform += 1
        else:
            values += e.load_columns(pointers[batched], port.size)
            batched += 1
    return values


def _instruction(
    e: Emitter,
    instruction: tuple[Op, int, int],
    values: list[str],
    pairs: dict[int, tuple[str, str]],
) -> str:
    t, (op, a, b) = e.lanes, instruction
    if op in _INFIX:
        return e.let(f"{_INFIX[op]} {_FLAGS} {t.vector} {values[a]}, {values[b]}")
    if op is Op.NEG:
        return e.let(f"fneg {_FLAGS} {t.vector} {values[a]}")
    if op in (Op.SIN, Op.COS):
        return pairs[a][0 if op is Op.SIN else 1]
    if op is Op.SIGN:
        return _sign(e, values[a])
    if op is Op.ATAN2:
        return arctangent2(e, values[a], values[b])
    operands = [f"{t.vector} {values[x]}" for x in (a, b) if x >= 0]
    result = e.let(f"call {t.vector} @llvm.{_CALLS[op]}.{t.suffix}({', '.join(operands)})")
    return result if b < 0 else _with_nan(e, result, values[a], values[b])


def _with_nan(e: Emitter, result: str, a: str, b: str) -> str:
    """Let a NaN of either operand through, as NumPy does: it must not pass for a number."""
    t = e.lanes
    unordered = e.let(f"fcmp uno {t.vector} {a}, {b}")
    both = e.let(f"fadd {t.vector} {a}, {b}")
    return e.let(f"select <{t.width} x i1> {unordered}, {t.vector} {both}, {t.vector} {result}")


def _sign(e: Emitter, x: str) -> str:
    """-1, 0 or 1; NaN stays NaN."""
    t = e.lanes
    args = f"{t.vector} {t.splat(1.0)}, {t.vector} {x}"
    one = e.let(f"call {t.vector} @llvm.copysign.{t.suffix}({args})")
    nonzero = e.let(f"fcmp one {t.vector} {x}, zeroinitializer")
    return e.let(f"select <{t.width} x i1> {nonzero}, {t.vector} {one}, {t.vector} {x}")
