"""From a program to CUDA C statements, one a line.

What the text looks like decides how long it takes to compile: scalars and operators are linear
in the front end, local arrays and helpers of several arguments are not. A product and a sum
that belong together are left to the compiler's own contraction.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import define, field, frozen

from grid_backend_cuda.trig import quadrant_statements
from grid_core.program.ops import Op
from grid_core.program.trigonometry import FAR_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grid_core.program.program import Program

__all__ = ["Chunk", "Real", "Writer", "emit"]


@frozen
class Real:
    """A precision as CUDA C writes it."""

    dtype: str

    @property
    def name(self) -> str:
        """The type."""
        return "float" if self.dtype == "float32" else "double"

    @property
    def bytes(self) -> int:
        """Size of one scalar."""
        return 4 if self.dtype == "float32" else 8

    @property
    def bits(self) -> tuple[str, str]:
        """The integer of the same size, and the function that reads a scalar as one."""
        if self.dtype == "float32":
            return "int", "__float_as_int"
        return "long long", "__double_as_longlong"

    @property
    def infinity(self) -> str:
        """Infinity, for which CUDA C has no name."""
        return "__int_as_float(0x7f800000)"

    @property
    def far_limit(self) -> str:
        """Largest |x| [rad] for which sine and cosine are reduced on the spot."""
        return self.literal(FAR_LIMIT[self.dtype])

    def literal(self, value: float) -> str:
        """A constant with all its digits; negative ones parenthesised."""
        if self.dtype == "float32":
            with np.errstate(over="ignore"):
                value = float(np.float32(value))
            if math.isinf(value):
                return self.infinity if value > 0.0 else f"(-{self.infinity})"
        text = f"{value:.9g}" if self.dtype == "float32" else f"{value:.17g}"
        if not any(c in text for c in ".e"):
            text += ".0"
        text += "f" if self.dtype == "float32" else ""
        return f"({text})" if text.startswith("-") else text


@frozen
class Chunk:
    """Part of an output that is written to device memory at once."""

    port: int
    """Index among the outputs."""
    first: int
    """First scalar of the port."""
    values: tuple[int, ...]
    """Value numbers in the program."""


@define
class Writer:
    """Writes instructions down as statements, naming values as they come."""

    program: Program
    real: Real
    read: Callable[[int], str]
    """Expression that reads an input value."""
    lines: list[str] = field(factory=list)
    names: dict[Any, str] = field(factory=dict)
    """By value number, or by whatever a writer of another kind names values by."""
    paired: dict[Any, tuple[str, str]] = field(factory=dict)
    near: frozenset[int] = frozenset()
    """Inputs that are known to be within reach of sine and cosine."""

    def name(self, value: Any) -> str:
        """Expression of a value that is known by now."""
        known = self.names.get(value)
        if known is not None:
            return known
        program = self.program
        if value >= program.num_inputs:
            text = self.real.literal(program.constants[value - program.num_inputs])
        else:
            text = f"x{value}"
            self.lines.append(f"const {self.real.name} {text} = {self.read(value)};")
        self.names[value] = text
        return text

    def instruction(self, value: Any, op: Op, a: Any, b: Any) -> None:
        """Write one instruction; b is -1 where there is no second operand."""
        x = self.name(a)
        if op in (Op.SIN, Op.COS):
            if a not in self.paired:
                tag = f"a{len(self.paired)}"
                self.lines += quadrant_statements(self.real, x, tag, near=a in self.near)
                self.paired[a] = (f"{tag}_sin", f"{tag}_cos")
            self.names[value] = self.paired[a][op is Op.COS]
            return
        y = self.name(b) if b != -1 else ""
        target = self.target(value)
        self.names[value] = target
        self.lines.append(f"const {self.real.name} {target} = {self._expression(op, x, y)};")

    def target(self, value: Any) -> str:
        """Name of the variable that an instruction's result is kept in."""
        return f"t{value}"

    def _expression(self, op: Op, x: str, y: str) -> str:
        f = "f" if self.real.dtype == "float32" else ""
        one = self.real.literal(1.0)
        zero = self.real.literal(0.0)
        return {
            Op.NEG: f"-{x}",
            Op.ADD: f"{x} + {y}",
            Op.SUB: f"{x} - {y}",
            Op.MUL: f"{x} * {y}",
            Op.DIV: f"{x} / {y}",
            Op.SQRT: f"sqrt{f}({x})",
            Op.ABS: f"fabs{f}({x})",
            # NaN compares false both ways and passes through.
            Op.SIGN: f"{x} > {zero} ? {one} : ({x} < {zero} ? -{one} : {x})",
            # So does an x that is NaN here, and a y that is, as the other choice.
            Op.MIN: f"{x} < {y} || {x} != {x} ? {x} : {y}",
            Op.MAX: f"{x} > {y} || {x} != {x} ? {x} : {y}",
            Op.ATAN2: f"atan2{f}({x}, {y})",
        }[op]


def emit(
    program: Program,
    real: Real,
    read: Callable[[int], str],
    chunks: Sequence[Chunk],
    write: Callable[[Chunk, list[str]], list[str]],
    *,
    place: Callable[[int, str], list[str]] | None = None,
    near: frozenset[int] = frozenset(),
) -> list[str]:
    """Return the statements of one problem.

    Args:
        program: the program.
        real: its precision.
        read: expression for an input scalar, by value number; used once each, where the value
            is first needed.
        chunks: the outputs in the pieces they are written in.
        write: statements that write a chunk, given its values' expressions; placed as soon as
            all are known.
        place: statements that put a value where it belongs, given its expression; placed as
            soon as it is known, once every input has been read.
        near: inputs within reach of sine and cosine.
    """
    writer = Writer(program, real, read, near=near)
    base = program.first_instruction
    if place is not None:
        _begin_placing(writer, place)
    due: dict[int, list[Chunk]] = {}
    for chunk in chunks:
        last = max((v for v in chunk.values), default=-1)
        due.setdefault(max(last, base - 1), []).append(chunk)
    _flush(writer, due.pop(base - 1, []), write)
    for index, (op, a, b) in enumerate(program.instructions):
        writer.instruction(base + index, op, a, b)
        if place is not None:
            writer.lines += place(base + index, writer.names[base + index])
        _flush(writer, due.pop(base + index, []), write)
    return writer.lines


def _begin_placing(writer: Writer, place: Callable[[int, str], list[str]]) -> None:
    """Read every input that is read at all, for results may lie over them; place what is known."""
    program = writer.program
    read = {x for _, a, b in program.instructions for x in (a, b)} | set(program.results)
    for value in range(program.num_inputs):
        if value in read:
            writer.name(value)
    writer.lines.append("__syncwarp();")
    for value in sorted(set(program.results)):
        if value < program.first_instruction:
            writer.lines += place(value, writer.name(value))


def _flush(
    writer: Writer, chunks: list[Chunk], write: Callable[[Chunk, list[str]], list[str]]
) -> None:
    for chunk in chunks:
        writer.lines += write(chunk, [writer.name(v) for v in chunk.values])
