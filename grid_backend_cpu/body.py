"""A program's arithmetic over one tile, in IR: one basic block for each part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_backend_cpu.arithmetic import arithmetic
from grid_backend_cpu.atan2 import arctangents2
from grid_backend_cpu.parts import WIDE
from grid_backend_cpu.rows import write_rows
from grid_backend_cpu.trig import sines_and_cosines, within_reach
from grid_core.program.ops import TRIGONOMETRIC, Op

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grid_backend_cpu.ahead import Ahead
    from grid_backend_cpu.parts import Parts
    from grid_backend_cpu.vector import Emitter
    from grid_core.program.program import Program

__all__ = ["Body"]


TURN = 25
"""Instructions that the sine and cosine of an angle count for."""
TOGETHER = 8
"""Angles whose sines and cosines are taken step by step side by side."""


def steps(program: Program, parts: Parts) -> int:
    """Count the instructions of a program with those that its angles take."""
    angles = {
        a
        for index, (op, a, _) in enumerate(program.instructions)
        if op in TRIGONOMETRIC and parts.born[program.first_instruction + index] == 0
    }
    return len(program.instructions) + TURN * len(angles)


class Body:
    """Emits what lies between a tile's rows of inputs and its rows of results.

    Attributes:
        tables: constants of the module that it refers to.
    """

    def __init__(self, e: Emitter, program: Program, parts: Parts, ahead: Ahead) -> None:
        self.tables: list[str] = []
        self._e = e
        self._program = program
        self._parts = parts
        self._ahead = ahead
        # Of the part that is being emitted: names of values, and of sines and cosines by angle.
        self._part = 0
        self._values: dict[int, str] = {}
        self._pairs: dict[int, tuple[str, str]] = {}
        # Arctangents that none has asked for yet: they are taken together.
        self._put_off: list[int] = []

    def open(self, pointers: Sequence[str], rows: Sequence[str]) -> None:
        """Read rows of inputs, and turn those that are angles into sines and cosines.

        Args:
            pointers: the inputs' rows.
            rows: where the results will go.
        """
        program, first = self._program, self._program.first_instruction
        self._read_inputs(pointers)
        for value in sorted(set(program.results).intersection(range(program.num_inputs, first))):
            self._write(value, self._read(value))
        turns = []
        for index, (op, a, _) in enumerate(program.instructions):
            if self._parts.born[first + index] != 0:
                continue
            if op in TRIGONOMETRIC:
                turns.append((first + index, op, a))
            else:
                self._instruction(index)
        # They are looked at together, with one branch.
        self._turn(sorted({a for _, _, a in turns}), rows)
        for value, op, a in turns:
            self._write(value, self._pairs[a][op is Op.COS])

    def compute(self, part: int, stretch: Iterable[int], rows: Sequence[str]) -> None:
        """Emit a part's instructions; it finds what it needs in the scratch block.

        Args:
            part: its number.
            stretch: its instructions.
            rows: where the results will go.
        """
        self._part = part
        self._values.clear()
        self._pairs.clear()
        for index in stretch:
            if self._parts.born[self._program.first_instruction + index] == part:
                self._instruction(index)
            self._ahead.step(rows)
        self._take_arctangents()

    def _read_inputs(self, pointers: Sequence[str]) -> None:
        t, e = self._e.lanes, self._e
        at = batched = uniform = 0
        for port in self._program.inputs:
            if port.uniform:
                one = e.let(f"insertelement {t.vector} poison, {t.scalar} %uniform{uniform}, i32 0")
                mask = f"<{t.width} x i32> zeroinitializer"
                columns = [e.let(f"shufflevector {t.vector} {one}, {t.vector} poison, {mask}")]
                uniform += 1
            else:
                columns = e.load_columns(pointers[batched], port.size)
                batched += 1
            for k, column in enumerate(columns):
                self._write(at + k, column)
            at += port.size

    def _begin(self, label: str) -> None:
        """Begin a part; it finds what it needs in the scratch block."""
        self._values.clear()
        self._pairs.clear()
        # Always so, but LLVM does not know: else it would join the blocks, and order them as one.
        there = self._e.let("icmp ne ptr %scratch, null")
        self._e.do(f"br i1 {there}, label %{label}, label %exit, !prof !1")
        self._e.label(label)

    def _instruction(self, index: int) -> None:
        op, a, b = self._program.instructions[index]
        if op is Op.ATAN2:
            self._put_off.append(index)
            return
        if op in TRIGONOMETRIC:
            if a not in self._pairs:
                self._turn([a])
            result = self._pairs[a][op is Op.COS]
        else:
            result = arithmetic(self._e, op, *(self._read(v) for v in (a, b) if v >= 0))
        self._write(self._program.first_instruction + index, result)

    def _turn(self, angles: Sequence[int], rows: Sequence[str] = ()) -> None:
        near = within_reach(self._e, [self._read(a) for a in angles])
        for start in range(0, len(angles), TOGETHER):
            own = angles[start : start + TOGETHER]
            pairs = sines_and_cosines(self._e, near[start : start + TOGETHER])
            self._pairs.update(zip(own, pairs, strict=True))
            if rows:
                self._ahead.step(rows, TURN * len(own))

    def _take_arctangents(self) -> None:
        """Emit those that were put off; their operands have all been computed."""
        put_off, self._put_off = self._put_off, []
        if put_off:
            program = self._program
            pairs = [program.instructions[index][1:] for index in put_off]
            names = arctangents2(self._e, [(self._read(y), self._read(x)) for y, x in pairs])
            for index, name in zip(put_off, names, strict=True):
                self._write(program.first_instruction + index, name)

    def _read(self, value: int) -> str:
        name = self._values.get(value)
        if value - self._program.first_instruction in self._put_off:
            self._take_arctangents()
            name = self._values[value]
        if name is None:
            program, t = self._program, self._e.lanes
            if program.num_inputs <= value < program.first_instruction:
                name = t.splat(program.constants[value - program.num_inputs])
            else:
                name = self._e.let(f"load {t.vector}, ptr {self._slot(value)}, align {t.bytes}")
            self._values[value] = name
        return name

    def _write(self, value: int, name: str) -> None:
        self._values[value] = name
        if value in self._parts.slots:
            t = self._e.lanes
            self._e.do(f"store {t.vector} {name}, ptr {self._slot(value)}, align {t.bytes}")

    def _slot(self, value: int) -> str:
        offset = self._parts.slots[value] * self._e.lanes.bytes
        return self._e.let(f"getelementptr i8, ptr %kept{self._part}, i64 {offset}")

    def write(self, pointers: Sequence[str]) -> None:
        """Write narrow results from where they are, then wide ones from the scratch block."""
        rows = (values for _, values in self._program.results_by_port())
        ports = list(zip(pointers, rows, strict=True))
        for pointer, values in ports:
            if len(values) < WIDE:
                self._e.store_columns(pointer, [self._read(v) for v in values])
        for k, (pointer, values) in enumerate(ports):
            if len(values) >= WIDE:
                slots = [self._parts.slots[v] for v in values]
                self.tables.append(
                    write_rows(self._e, str(k), pointer, f"%kept{self._part}", slots)
                )
