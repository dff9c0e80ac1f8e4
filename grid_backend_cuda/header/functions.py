"""The body of an operation's thread-scope function: straight-line scalar statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_backend_cuda.emit import Chunk, Real, emit
from grid_core.program.ops import Op

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_backend_cuda.header.interface import Interface
    from grid_core.program.program import Program

__all__ = ["Body", "HeaderReal", "statements"]

LARGE = 512
"""Scalars from which on an output is no register's business, and its stores the compiler's."""
PART = 64
"""Stores between two places where the compiler is made to end a block."""


@frozen
class HeaderReal(Real):
    """A precision as the header writes it, which host compilers read as well."""

    @property
    def name(self) -> str:
        """The header's own type."""
        return "real"

    @property
    def cpp(self) -> str:
        """What that type is."""
        return "float" if self.dtype == "float32" else "double"

    @property
    def bits(self) -> tuple[str, str]:
        """The integer of the same size, and the header's function that reads a scalar as one."""
        return "int" if self.dtype == "float32" else "long long", "detail::bits"

    @property
    def infinity(self) -> str:
        """Infinity, which every compiler here makes of the same builtin."""
        return "detail::infinity()"

    @property
    def far_limit(self) -> str:
        """As the header says: it differs between host and device."""
        return "detail::far_limit()"


@frozen
class Body:
    """A function's statements."""

    lines: list[str]
    filled: tuple[str, ...]
    """Outputs that are mostly zero: those zeros are not stored one by one."""


def statements(
    program: Program, face: Interface, real: HeaderReal, vectors: Mapping[str, int]
) -> Body:
    """Return the statements: inputs are read and outputs written where they are known.

    Args:
        program: the traced operation.
        face: its interface; the pointers are called as the ports.
        real: the precision.
        vectors: scalars that are stored next to each other, by output, so that a compiler may
            make one store of them; else 1.
    """
    sources: list[str] = []
    for parameter in face.inputs:
        if parameter.is_number:
            sources.append(parameter.name)
        else:
            sources += [f"{parameter.name}[{k}]" for k in range(parameter.size)]
    chunks, filled = _chunks(program, face, vectors)
    stores, stored = sum(len(chunk.values) for chunk in chunks), 0

    def write(chunk: Chunk, values: list[str]) -> list[str]:
        nonlocal stored
        name, before = face.outputs[chunk.port].name, stored
        stored += len(values)
        lines = [f"{name}[{chunk.first + k}] = {value};" for k, value in enumerate(values)]
        if stores > LARGE and stored // PART > before // PART:
            lines.append("GRID_PART")
        return lines

    lines = emit(program, real, lambda value: sources[value], chunks, write)
    return Body([*_unused(program, face), *lines, *_half_used(program)], filled)


def _chunks(
    program: Program, face: Interface, vectors: Mapping[str, int]
) -> tuple[list[Chunk], tuple[str, ...]]:
    """Return what is stored, and the outputs that are filled with zeros before.

    Compilers take time that grows with the square of the stores in a block; a Hessian's are
    thousands, most of them zeros.
    """
    chunks: list[Chunk] = []
    filled: list[str] = []
    results = iter(program.results)
    for port, parameter in enumerate(face.outputs):
        values, step = [next(results) for _ in range(parameter.size)], vectors[parameter.name]
        starts = range(0, parameter.size, step)
        own = [Chunk(port, k, tuple(values[k : k + step])) for k in starts]
        if parameter.size > LARGE:
            some = [c for c in own if not all(_is_zero(program, v) for v in c.values)]
            if (len(own) - len(some)) * step > parameter.size // 4:
                filled.append(parameter.name)
                own = some
        chunks += own
    return chunks, tuple(filled)


def _is_zero(program: Program, value: int) -> bool:
    constant = value - program.num_inputs
    return 0 <= constant < len(program.constants) and program.constants[constant] == 0.0


def _unused(program: Program, face: Interface) -> list[str]:
    """Name parameters that the robot's arithmetic does not read, for the compiler's sake."""
    read = {value for _, a, b in program.instructions for value in (a, b)} | set(program.results)
    lines, start = [], 0
    for parameter in face.inputs:
        if read.isdisjoint(range(start, start + parameter.size)):
            lines.append(f"(void){parameter.name};")
        start += parameter.size
    lines += [f"(void){parameter.name};" for parameter in face.outputs if not parameter.size]
    return lines


def _half_used(program: Program) -> list[str]:
    """Name sines and cosines that come with the other and that nothing reads."""
    tags: dict[int, tuple[str, set[Op]]] = {}
    for op, a, _ in program.instructions:
        if op in (Op.SIN, Op.COS):
            tags.setdefault(a, (f"a{len(tags)}", set()))[1].add(op)
    halves = {Op.SIN: "sin", Op.COS: "cos"}
    return [
        f"(void){tag}_{half};"
        for tag, used in tags.values()
        for op, half in halves.items()
        if op not in used
    ]
