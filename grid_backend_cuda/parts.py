"""The statements of a split program: one block of code for each job, phase by phase."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from grid_backend_cuda.emit import Real, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grid_backend_cuda.jobs import Job
    from grid_backend_cuda.rows import Rows
    from grid_backend_cuda.split import Split
    from grid_core.program.program import Program

Shift = Callable[[tuple[int, ...]], str]
"""What to add to the first of these numbers to have each place's."""

__all__ = ["Block", "Cell", "Targets", "emit_blocks"]


@frozen
class Cell:
    """Where a scalar lies: an expression with a number in it."""

    before: str
    index: int = 0
    after: str = ""

    def at(self, shift: str = "") -> str:
        """The expression, with the number shifted."""
        return f"{self.before}{self.index}{shift}{self.after}" if self.after else self.before


@frozen
class Targets:
    """Where values come from and results go."""

    sources: Sequence[Cell]
    """Of each input scalar."""
    results: Mapping[int, Sequence[Cell]]
    """Places of a value, by its number, that it is put into as soon as it is known."""
    write: Callable[[Rows, Job, list[str], Shift], list[str]]
    """Statements with which a job writes its rows, given the entries' expressions."""
    pitch: int = 32
    """Scalars from a value that is handed over to the next."""


@frozen
class Block:
    """The code of a job: of warps ``first`` to ``first + size - 1``."""

    first: int
    size: int
    constants: tuple[tuple[str, ...], ...]
    """Those that differ: a literal for each place."""
    head: tuple[str, ...]
    """What comes before the first phase."""
    phases: tuple[tuple[str, ...], ...]
    guest: Block | None = None
    """What the last of these warps does beside, at the beginning of each phase."""


def emit_blocks(program: Program, real: Real, split: Split, targets: Targets) -> list[Block]:
    """Return the statements of every job."""
    blocks: list[Block] = []
    guest: Block | None = None
    for number, job in enumerate(split.jobs):
        block = _JobWriter(program, real, split, number, targets).block()
        if job.guest:
            guest = block
        else:
            blocks.append(block)
    if guest is not None:
        blocks[-1] = evolve(blocks[-1], guest=guest)
    return blocks


class _JobWriter(Writer):
    """Writes a job; a value is named by its numbers at all of the job's places."""

    def __init__(
        self, program: Program, real: Real, split: Split, number: int, targets: Targets
    ) -> None:
        super().__init__(program, real, lambda value: targets.sources[value].at())
        self._split = split
        self._number = number
        self._job = split.jobs[number]
        self._targets = targets
        self._head: list[str] = []
        self._shifts: dict[tuple[int, ...], str] = {}
        self._tables: dict[tuple[str, ...], int] = {}
        self._passing: set[tuple[int, ...]] = set()
        self._declared = 0

    def block(self) -> Block:
        """Write all phases."""
        phases = []
        for phase in range(self._split.phases):
            self._begin()
            if self._number == phase == 0:
                self._put_known()
            self._write_phase(phase)
            phases.append(tuple(self.lines))
            self.lines = []
        job = self._job
        return Block(job.first, job.size, tuple(self._tables), tuple(self._head), tuple(phases))

    def _begin(self) -> None:
        """Forget what is read anew in each phase: shared memory is nearer than a spill."""
        for values in self._passing:
            self.names.pop(values, None)
        self._passing.clear()
        if self._job.guest:
            self.paired.clear()

    def _write_phase(self, phase: int) -> None:
        split, base = self._split, self.program.first_instruction
        due = self._due(phase)
        self._write_rows(due.get(-1, ()))
        for node in split.part(self._number, phase):
            step = split.flow.nodes[node].step
            values = tuple(base + x for x in step.members)
            self.instruction(values, step.op, step.a, step.b or -1)
            if node in split.slots:
                slot = split.slots[node]
                places = tuple(range(slot, slot + self._job.size))
                self.lines.append(f"{self._hand(places)} = {self.names[values]};")
            if node in split.kept:
                self._passing.add(values)
            self._put(values)
            if self._job.guest:
                self._keep(node, values)
            self._write_rows(due.get(node, ()))

    def _keep(self, node: int, values: tuple[int, ...]) -> None:
        """Carry a guest's value into later phases: its own variables end with each."""
        if node in self._split.lasting:
            self._head.append(f"{self.real.name} k{node};")
            self.lines.append(f"k{node} = {self.names[values]};")
            self.names[values] = f"k{node}"

    def _due(self, phase: int) -> dict[int, list[Rows]]:
        """Rows written in a phase, by the last node that it computes for them; -1: none."""
        flow = self._split.flow
        place = {node: k for k, node in enumerate(self._split.part(self._number, phase))}
        due: dict[int, list[Rows]] = {}
        for rows, when in self._split.rows:
            if (rows.job, when) == (self._number, phase):
                nodes = {
                    node
                    for _, values in rows.entries
                    for node, near in flow.behind(rows.job, values)
                    if near and node in place
                }
                due.setdefault(max(nodes, key=place.__getitem__, default=-1), []).append(rows)
        return due

    def _write_rows(self, due: Sequence[Rows]) -> None:
        for rows in due:
            names = [self.name(values) for _, values in rows.entries]
            self.lines += self._targets.write(rows, self._job, names, self.shift)

    def _put_known(self) -> None:
        """Put inputs and constants where they are results."""
        for value in sorted(set(self._targets.results)):
            if value < self.program.first_instruction:
                name = self.name((value,) * self._job.size)
                self.lines += [f"{cell.at()} = {name};" for cell in self._targets.results[value]]

    def _put(self, values: tuple[int, ...]) -> None:
        """Put a value where it is a result."""
        name = self.names[values]
        cells = [self._targets.results.get(value, ()) for value in values]
        if len({tuple((c.before, c.after) for c in own) for own in cells}) == 1:
            for beside in zip(*cells, strict=True):
                shift = self.shift(tuple(cell.index for cell in beside))
                self.lines.append(f"{beside[0].at(shift)} = {name};")
            return
        for place, own in enumerate(cells):
            self.lines += [f"if (place == {place}) {cell.at()} = {name};" for cell in own]

    def target(self, value: Any) -> str:
        """Name of the variable that a step's result is kept in."""
        return f"t{value[0]}"

    def name(self, value: Any) -> str:
        """Expression of a value; one that is read is declared where it is first used."""
        known = self.names.get(value)
        if known is not None:
            return known
        text = self._outside(value)
        if text is None:
            constants = [self.program.constants[v - self.program.num_inputs] for v in value]
            literals = tuple(self.real.literal(c) for c in constants)
            if len(set(literals)) == 1:
                self.names[value] = literals[0]
                return literals[0]
            number = self._tables.setdefault(literals, len(self._tables))
            text = f"grid_constants_{self._job.first}[{number * self._job.size} + place]"
        name = f"x{self._declared}"
        self._declared += 1
        self.lines.append(f"const {self.real.name} {name} = {text};")
        self.names[value] = name
        self._passing.add(value)
        return name

    def _outside(self, values: tuple[int, ...]) -> str | None:
        """Where an input or a handed-over value is read; None for constants."""
        program, split = self.program, self._split
        if values[0] < program.num_inputs:
            cells = [self._targets.sources[v] for v in values]
            return cells[0].at(self.shift(tuple(cell.index for cell in cells)))
        if values[0] < program.first_instruction:
            return None
        found = [split.flow.of[v - program.first_instruction] for v in values]
        return self._hand(tuple(split.slots[node] + place for node, place in found))

    def _hand(self, slots: tuple[int, ...]) -> str:
        pitch = self._targets.pitch
        return f"hand[{slots[0] * pitch}{self.shift(tuple(pitch * s for s in slots))} + lane]"

    def shift(self, numbers: tuple[int, ...]) -> str:
        """What to add to the first place's number to have each place's."""
        steps = tuple(x - numbers[0] for x in numbers)
        if not any(steps):
            return ""
        name = self._shifts.get(steps)
        if name is None:
            name = self._shifts[steps] = f"o{len(self._shifts)}"
            if all(x == k * steps[1] for k, x in enumerate(steps)):
                text = f"place * {steps[1]}"
            else:
                chosen = (f"place == {k} ? {x} : " for k, x in enumerate(steps[:-1]))
                text = f"{''.join(chosen)}{steps[-1]}"
            self._head.append(f"const int {name} = {text};")
        return f" + {name}"
