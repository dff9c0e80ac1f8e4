"""The statements of a split program: one list for each warp, phase by phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_backend_cuda.emit import Real, Writer

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_backend_cuda.split import Split
    from grid_core.program.program import Program

__all__ = ["emit_parts"]


def emit_parts(
    program: Program,
    real: Real,
    split: Split,
    read: Callable[[int], str],
    result: Callable[[int], str],
) -> list[list[list[str]]]:
    """Return the statements of every warp in every phase.

    Args:
        program: the program.
        real: its precision.
        split: who does what.
        read: expression for an input scalar, by value number.
        result: where a result goes, by its position among the program's results.
    """
    places: dict[int, list[int]] = {}
    for position, value in enumerate(program.results):
        places.setdefault(value, []).append(position)
    return [
        _warp(program, real, split, warp, read=read, results=(places, result))
        for warp in range(split.warps)
    ]


def _warp(
    program: Program,
    real: Real,
    split: Split,
    warp: int,
    *,
    read: Callable[[int], str],
    results: tuple[dict[int, list[int]], Callable[[int], str]],
) -> list[list[str]]:
    base = program.first_instruction
    places, target = results

    def foreign(value: int) -> str:
        if value < program.num_inputs:
            return read(value)
        return f"hand[{split.slots[value - base]} * 32 + lane]"

    writer = _PartWriter(program, real, foreign)
    phases = []
    for phase in range(split.phases):
        # Foreign values are read again in each phase: shared memory is nearer than a spill.
        writer.begin_phase(own={k + base for k, w in enumerate(split.home) if w == warp})
        if warp == 0 and phase == 0:
            for value in sorted(places):
                if value < base:
                    writer.lines += [f"{target(p)} = {writer.name(value)};" for p in places[value]]
        for index in split.part(warp, phase):
            value = base + index
            writer.instruction(value, *program.instructions[index])
            name = writer.names[value]
            if index in split.slots:
                writer.lines.append(f"hand[{split.slots[index]} * 32 + lane] = {name};")
            writer.lines += [f"{target(p)} = {name};" for p in places.get(value, [])]
        phases.append(writer.take())
    return phases


class _PartWriter(Writer):
    """A writer of one warp's part: values of other warps are read like inputs."""

    def __init__(self, program: Program, real: Real, foreign: Callable[[int], str]) -> None:
        super().__init__(program, real, foreign)
        self._own: set[int] = set()
        self._phase = -1

    def begin_phase(self, own: set[int]) -> None:
        """Forget the names of what other warps hand over."""
        self._phase += 1
        self._own = own
        base = self.program.num_inputs
        constants = range(base, self.program.first_instruction)
        self.names = {v: n for v, n in self.names.items() if v in own or v in constants}

    def take(self) -> list[str]:
        """Return the phase's statements and begin anew."""
        lines, self.lines = self.lines, []
        return lines

    def name(self, value: int) -> str:
        """Expression of a value; a foreign one is declared where it is first used."""
        if value in self.names or value in self._own or self._is_constant(value):
            return super().name(value)
        text = f"h{value}_{self._phase}"
        self.lines.append(f"const {self.real.name} {text} = {self.read(value)};")
        self.names[value] = text
        return text

    def _is_constant(self, value: int) -> bool:
        return self.program.num_inputs <= value < self.program.first_instruction
