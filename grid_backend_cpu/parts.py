"""Where a program is cut, and where the values lie that one part leaves to another.

LLVM orders and spills a basic block of thousands of operations badly and slowly, one of a few
hundred well. So a program is cut where few values are alive. What a part leaves to a later one is
written once, as a vector in the scratch block; a place that is free again is taken again, so that
they all stay near.
"""

from __future__ import annotations

import heapq
import itertools
from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.program.ops import TRIGONOMETRIC, Op

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_backend_cpu.vector import Lanes
    from grid_core.program.program import Program

__all__ = ["Parts"]

PART = 200
"""Instructions of a part, roughly. With 100 to 300 most programs are within 3 % of their best."""
WIDE = 64
"""Scalars of a result from which on it is written in a loop, after all parts."""
TILES = 2
"""Tiles that a part is run over before the next, so that one's waits are filled by another's work.

With two iiwa14's forward dynamics takes 12 % less time, with four nothing less, and others more.
"""
NEAR = 24 * 1024
"""Bytes that the tiles may leave behind for that: half of the nearest cache.

With their results, whose lines are asked for while they are computed.
"""
_AFFINE = (Op.ADD, Op.SUB, Op.MUL, Op.NEG)
_LONG = (0, 0)
"""As many instructions as may lie between an input and an angle."""
_SPAN = 0.35
"""How far from an even cut the best one may lie, in parts."""


@frozen
class Parts:
    """A program in parts: the opening, number 0, and then its instructions in stretches.

    The opening reads the inputs and takes sines and cosines of angles that they are or make.
    """

    bounds: tuple[int, ...]
    """First instruction of each stretch, and the end: part k starts at ``bounds[k - 1]``."""
    born: Mapping[int, int]
    """Part that makes each value."""
    slots: Mapping[int, int]
    """Place of each value that a later part, or the writing of wide results, reads."""
    count: int
    """Places in all."""

    @classmethod
    def of(cls, program: Program) -> Parts:
        """Cut a program where few values are alive."""
        base, inputs = program.first_instruction, program.num_inputs
        bounds, opening = _bounds(program), _opening(program)
        born = dict.fromkeys(range(base), 0)
        last: dict[int, int] = {}
        for part, (begin, end) in enumerate(itertools.pairwise(bounds), 1):
            for index in range(begin, end):
                _, a, b = program.instructions[index]
                own = 0 if index in opening else part
                born[base + index] = own
                for value in (a, b):
                    if value >= base or 0 <= value < inputs:
                        last[value] = max(own, last.get(value, 0))
        last |= _written(program, len(bounds) - 1)
        slots, count = _places(born, last, len(bounds))
        return cls(bounds=bounds, born=born, slots=slots, count=count)

    @property
    def stretches(self) -> list[range]:
        """The instructions of each part; the opening's are those of none."""
        return [range(0), *(range(a, b) for a, b in itertools.pairwise(self.bounds))]


def tiles(program: Program, parts: Parts, lanes: Lanes) -> int:
    """Count the tiles that a part is run over before the next."""
    scalars = parts.count + sum(port.size for port in program.outputs)
    return max(1, min(TILES, NEAR // max(1, scalars * lanes.bytes)))


def _opening(program: Program) -> frozenset[int]:
    """Return the instructions of the opening.

    These are sines and cosines of inputs, or of an input scaled and shifted, and what scales and
    shifts it: half an angle, or the angle of a joint that mimics another.
    """
    base, inputs = program.first_instruction, program.num_inputs
    chains: dict[int, tuple[int, ...]] = dict.fromkeys(range(inputs), ())
    found: set[int] = set()
    for index, (op, a, b) in enumerate(program.instructions):
        if op in TRIGONOMETRIC:
            if a in chains:
                found |= {index, *chains[a]}
        elif op in _AFFINE:
            varying = [v for v in (a, b) if not inputs <= v < base and v >= 0]
            if len(varying) == 1 and len(chains.get(varying[0], _LONG)) < len(_LONG):
                chains[base + index] = (*chains[varying[0]], index)
    return frozenset(found)


def _bounds(program: Program) -> tuple[int, ...]:
    """Cut about evenly, near an even cut where least is handed over."""
    count = len(program.instructions)
    parts = max(1, round(count / PART))
    crossing = _crossing(program)
    bounds = [0]
    for k in range(1, parts):
        even, span = count * k / parts, _SPAN * count / parts
        window = range(max(bounds[-1] + 1, int(even - span)), int(even + span) + 1)
        bounds.append(min(window, key=lambda at, even=even: (crossing[at], abs(at - even))))  # type: ignore[misc]
    return (*bounds, count)


def _crossing(program: Program) -> list[int]:
    """Count the values that are made before each instruction and read by it or a later one.

    A result that no instruction reads any more is not counted: it is written down in any case.
    """
    base, count = program.first_instruction, len(program.instructions)
    last = [-1] * (base + count)
    for index, (_, a, b) in enumerate(program.instructions):
        last[a] = index
        if b >= 0:
            last[b] = index
    change = [0] * (count + 1)
    for index in range(count):
        if last[base + index] > index:
            change[index + 1] += 1
            change[last[base + index] + 1] -= 1
    crossing, alive = [], 0
    for step in change:
        alive += step
        crossing.append(alive)
    return crossing


def _written(program: Program, end: int) -> dict[int, int]:
    """Return the part that reads each result: the last one, or the writing after it.

    A constant is made anew by the last part, and lies in memory only where the writing reads it.
    """
    written: dict[int, int] = {}
    constants = range(program.num_inputs, program.first_instruction)
    for port, values in program.results_by_port():
        part = end + 1 if port.size >= WIDE else end
        for value in values:
            if port.size >= WIDE or value not in constants:
                written[value] = max(part, written.get(value, 0))
    return written


def _places(
    born: Mapping[int, int], last: Mapping[int, int], parts: int
) -> tuple[dict[int, int], int]:
    """Give a place to each value that outlives its part; a part takes those free before it."""
    made: list[list[int]] = [[] for _ in range(parts)]
    for value, part in born.items():
        if last.get(value, -1) > part:
            made[part].append(value)
    leaving: list[list[int]] = [[] for _ in range(parts + 2)]
    free: list[int] = []
    slots: dict[int, int] = {}
    count = 0
    for part, values in enumerate(made):
        for slot in leaving[part]:
            heapq.heappush(free, slot)
        for value in values:
            if free:
                slots[value] = heapq.heappop(free)
            else:
                slots[value], count = count, count + 1
            leaving[last[value] + 1].append(slots[value])
    return slots, count
