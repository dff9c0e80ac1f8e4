"""The statements of a split program: one list for each warp, phase by phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_backend_cuda.emit import Chunk, Real, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from grid_backend_cuda.split import Split
    from grid_core.program.program import Program

__all__ = ["Targets", "emit_parts"]


@frozen
class Targets:
    """Where results go."""

    result: Callable[[int], list[str]]
    """Places of a value, by its number, that it is put into as soon as it is known."""
    chunks: tuple[Chunk, ...]
    """What is written by rows."""
    write: Callable[[Chunk, int, list[str]], list[str]]
    """Statements with which a warp writes a chunk, given its values' expressions."""


def emit_parts(
    program: Program,
    real: Real,
    split: Split,
    read: Callable[[int], str],
    targets: Targets,
) -> list[list[list[str]]]:
    """Return the statements of every warp in every phase.

    Args:
        program: the program.
        real: its precision.
        split: who does what.
        read: expression for an input scalar, by value number.
        targets: where results go.
    """
    base = program.first_instruction

    def foreign(value: int) -> str:
        if value < program.num_inputs:
            return read(value)
        return f"hand[{split.slots[value - base]} * 32 + lane]"

    return [
        _warp(_PartWriter(program, real, foreign), split, warp, targets)
        for warp in range(split.warps)
    ]


def _warp(writer: _PartWriter, split: Split, warp: int, targets: Targets) -> list[list[str]]:
    program = writer.program
    base = program.first_instruction
    phases = []
    for phase in range(split.phases):
        # Foreign values are read again in each phase: shared memory is nearer than a spill.
        writer.begin_phase(own={k + base for k, w in enumerate(split.home) if w == warp})
        if warp == 0 and phase == 0:
            for value in sorted({v for v in program.results if v < base}):
                writer.lines += [f"{t} = {writer.name(value)};" for t in targets.result(value)]
        due = _due(program, split, targets.chunks, (warp, phase))
        for index in split.part(warp, phase):
            value = base + index
            writer.instruction(value, *program.instructions[index])
            name = writer.names[value]
            if index in split.slots:
                writer.lines.append(f"hand[{split.slots[index]} * 32 + lane] = {name};")
            writer.lines += [f"{t} = {name};" for t in targets.result(value)]
            writer.write(due.pop(value, ()), warp, targets)
        writer.write(due.pop(-1, ()), warp, targets)
        phases.append(writer.take())
    return phases


def _due(
    program: Program, split: Split, chunks: Sequence[Chunk], at: tuple[int, int]
) -> dict[int, list[Chunk]]:
    """Chunks that are written in a part, by the last value that it computes for them; -1: none."""
    base = program.first_instruction
    place = {base + index: k for k, index in enumerate(split.part(*at))}
    result: dict[int, list[Chunk]] = {}
    for chunk, writer in zip(chunks, split.writers, strict=True):
        if writer == at:
            last = max((v for v in chunk.values if v in place), key=place.__getitem__, default=-1)
            result.setdefault(last, []).append(chunk)
    return result


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

    def write(self, chunks: Iterable[Chunk], warp: int, targets: Targets) -> None:
        """Write chunks whose values are all known."""
        for chunk in chunks:
            self.lines += targets.write(chunk, warp, [self.name(v) for v in chunk.values])

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
