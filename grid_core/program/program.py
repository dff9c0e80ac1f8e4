"""A traced program: straight-line arithmetic for one robot, one operation."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from grid_core.program.ops import BINARY, NUMPY, Op

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["Counts", "Program", "ProgramPort"]


@frozen
class ProgramPort:
    """A named block of scalars that goes in or comes out."""

    name: str
    dims: tuple[int, ...]
    uniform: bool = False
    """One value for the whole batch."""

    @property
    def size(self) -> int:
        """Scalars for one problem."""
        return math.prod(self.dims)


@frozen
class Counts:
    """What a program costs."""

    operations: int
    """All instructions but negations, which backends fold into their neighbours."""
    fused: int
    """The same with each product that only one sum uses merged into it (FMA)."""
    live: int
    """Most values alive at once, in the program's order."""
    trigonometric: int
    divisions: int


@frozen(eq=False, repr=False)
class Program:
    """Values are numbered: inputs, then constants, then one an instruction, in order.

    ``instructions`` holds (operation, first operand, second operand or -1); ``outputs`` one
    value for each scalar of the output ports, row-major.
    """

    name: str
    inputs: tuple[ProgramPort, ...]
    outputs: tuple[ProgramPort, ...]
    constants: tuple[float, ...]
    instructions: tuple[tuple[Op, int, int], ...]
    results: tuple[int, ...]
    regions: tuple[int, ...] = ()
    """Part of the robot each instruction belongs to (`grid_core.program.regions`)."""
    traced: tuple[int, ...] = ()
    """Numbers that rise in the order in which the instructions were traced."""

    @functools.cached_property
    def num_inputs(self) -> int:
        """Input scalars of one problem."""
        return sum(p.size for p in self.inputs)

    @functools.cached_property
    def first_instruction(self) -> int:
        """Value number of the first instruction."""
        return self.num_inputs + len(self.constants)

    def results_by_port(self) -> list[tuple[ProgramPort, tuple[int, ...]]]:
        """Each output port with the values of its scalars, row-major."""
        found, start = [], 0
        for port in self.outputs:
            found.append((port, self.results[start : start + port.size]))
            start += port.size
        return found

    def last_uses(self) -> list[int]:
        """For each value the instruction index that reads it last; results: past the end."""
        base = self.first_instruction
        last = [-1] * (base + len(self.instructions))
        for index, (_, a, b) in enumerate(self.instructions):
            last[a] = index
            if b >= 0:
                last[b] = index
        for value in self.results:
            last[value] = len(self.instructions)
        return last

    def use_counts(self) -> list[int]:
        """How many instructions and results read each value."""
        uses = [0] * (self.first_instruction + len(self.instructions))
        for _, a, b in self.instructions:
            uses[a] += 1
            if b >= 0:
                uses[b] += 1
        for value in self.results:
            uses[value] += 1
        return uses

    @property
    def counts(self) -> Counts:
        """Operations, fused operations and live values."""
        ops = [op for op, _, _ in self.instructions]
        plain = sum(op is not Op.NEG for op in ops)
        return Counts(
            operations=plain,
            fused=plain - self._fusable(),
            live=self._most_live(),
            trigonometric=sum(op in (Op.SIN, Op.COS, Op.ATAN2) for op in ops),
            divisions=ops.count(Op.DIV),
        )

    def _fusable(self) -> int:
        uses, base = self.use_counts(), self.first_instruction
        fused = 0
        for op, a, b in self.instructions:
            if op in (Op.ADD, Op.SUB):
                fused += any(
                    v >= base and uses[v] == 1 and self.instructions[v - base][0] is Op.MUL
                    for v in (a, b)
                )
        return fused

    def _most_live(self) -> int:
        # Inputs come alive where they are first read: a kernel loads them there.
        base, last = self.first_instruction, self.last_uses()
        num_inputs = self.num_inputs
        seen = [False] * num_inputs
        live = most = 0
        for index, (_, a, b) in enumerate(self.instructions):
            for value in {a, b} - {-1}:
                if value < num_inputs and not seen[value]:
                    seen[value] = True
                    live += 1
            live += 1
            most = max(most, live)
            for value in {a, b} - {-1}:
                if last[value] == index and (value < num_inputs or value >= base):
                    live -= 1
        return most

    def evaluate(self, inputs: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
        """Run in NumPy, one instruction at a time; for tests and for reading.

        Args:
            inputs: arrays of shape (B, *dims) by port name; uniform ones are numbers.
        """
        batch = next((np.shape(inputs[p.name])[0] for p in self.inputs if not p.uniform), 1)
        values = self._load(inputs, batch)
        values += [np.float64(c) for c in self.constants]
        last, base = self.last_uses(), self.first_instruction
        for index, (op, a, b) in enumerate(self.instructions):
            values.append(NUMPY[op](values[a], values[b]) if b >= 0 else NUMPY[op](values[a]))
            for value in (a, b):
                if value >= base and last[value] == index:
                    values[value] = None
        return self._store(values, batch)

    def _load(self, inputs: Mapping[str, Any], batch: int) -> list[Any]:
        values: list[Any] = []
        for port in self.inputs:
            given = inputs[port.name]
            if port.uniform:
                values.append(np.float64(given))
            else:
                flat = np.asarray(given, dtype=np.float64).reshape(batch, port.size)
                values += list(flat.T)
        return values

    def _store(self, values: list[Any], batch: int) -> dict[str, NDArray[np.float64]]:
        result = {}
        for port, scalars in self.results_by_port():
            flat = np.empty((batch, port.size))
            for k, value in enumerate(scalars):
                flat[:, k] = values[value]
            result[port.name] = flat.reshape(batch, *port.dims)
        return result

    def value_names(self) -> list[str]:
        """A readable name for every value: ``q[3]``, ``0.36``, ``t12``."""
        names: list[str] = []
        for port in self.inputs:
            if port.uniform:
                names.append(port.name)
            else:
                names += [f"{port.name}[{', '.join(map(str, i))}]" for i in np.ndindex(*port.dims)]
        names += [repr(c) for c in self.constants]
        names += [f"t{k}" for k in range(len(self.instructions))]
        return names

    def format(self) -> str:
        """The program as a person reads it, one instruction a line."""
        names, base = self.value_names(), self.first_instruction
        lines = [f"# {self.name}: {self.counts}"]
        for index, (op, a, b) in enumerate(self.instructions):
            lines.append(f"{names[base + index]} = {_SHAPES[op].format(names[a], names[b])}")
        for port, scalars in self.results_by_port():
            for at, value in zip(np.ndindex(*port.dims), scalars, strict=True):
                place = f"[{', '.join(map(str, at))}]" if at else ""
                lines.append(f"{port.name}{place} = {names[value]}")
        return "\n".join(lines)


_SHAPES: dict[Op, str] = {
    Op.NEG: "-{0}",
    Op.ADD: "{0} + {1}",
    Op.SUB: "{0} - {1}",
    Op.MUL: "{0} * {1}",
    Op.DIV: "{0} / {1}",
} | {op: f"{op.name.lower()}({{0}}{', {1}' if op in BINARY else ''})" for op in Op if op > Op.DIV}
