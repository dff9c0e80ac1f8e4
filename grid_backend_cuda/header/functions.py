"""The body of an operation's thread-scope function: straight-line scalar statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_backend_cuda.emit import Chunk, Real, emit
from grid_core.program.ops import Op

if TYPE_CHECKING:
    from grid_backend_cuda.header.interface import Interface
    from grid_core.program.program import Program

__all__ = ["HeaderReal", "statements"]

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


def statements(program: Program, face: Interface, real: HeaderReal) -> list[str]:
    """Return the statements: inputs are read and outputs written one scalar at a time.

    Args:
        program: the traced operation.
        face: its interface; the pointers are called as the ports.
        real: the precision.
    """
    sources: list[str] = []
    for parameter in face.inputs:
        if parameter.is_number:
            sources.append(parameter.name)
        else:
            sources += [f"{parameter.name}[{k}]" for k in range(parameter.size)]
    chunks, fills = _chunks(program, face)
    stored = 0

    def write(chunk: Chunk, values: list[str]) -> list[str]:
        nonlocal stored
        stored += 1
        lines = [f"{face.outputs[chunk.port].name}[{chunk.first}] = {values[0]};"]
        if len(chunks) > LARGE and stored % PART == 0:
            lines.append("GRID_PART")
        return lines

    lines = emit(program, real, lambda value: sources[value], chunks, write)
    return [*_unused(program, face), *fills, *lines, *_half_used(program)]


def _chunks(program: Program, face: Interface) -> tuple[list[Chunk], list[str]]:
    """Return what is stored scalar by scalar, and loops that fill what is mostly zero before.

    Compilers take time that grows with the square of the stores in a block; a Hessian's are
    thousands, most of them zeros.
    """
    chunks: list[Chunk] = []
    fills: list[str] = []
    results = iter(program.results)
    for port, parameter in enumerate(face.outputs):
        own = [Chunk(port, k, (next(results),)) for k in range(parameter.size)]
        if parameter.size > LARGE:
            filled = [chunk for chunk in own if not _is_zero(program, chunk.values[0])]
            if len(own) - len(filled) > PART:
                fills.append(
                    f"GRID_ROLLED for (int k = 0; k < {parameter.size}; ++k) "
                    f"{parameter.name}[k] = real(0);"
                )
                own = filled
        chunks += own
    return chunks, fills


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
