"""Limbs that are alike: which of a program's instructions do the same for several of them.

A quadruped's legs, or a humanoid's left and right arm, are computed by the same steps with other
constants and other inputs. Where that is so to the last step, one piece of code can serve them all,
reading what differs from a table: a fourth of the code to compile and to fetch.

Limbs are compared as they were traced. What an instruction reads of its own limb has to be alike
in turn; constants, inputs, and what comes from elsewhere may be any. So the comparison cannot be
wrong, only incomplete, and then the limbs count as different. Programs are traced for it with even
signs (`grid_core.program.graph.Graph`), since a mirrored limb's constants differ in sign.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from attrs import frozen

from grid_core.program.ops import COMMUTATIVE, Op
from grid_core.program.regions import TRUNK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.program.program import Program

__all__ = ["Step", "Team", "teams"]

Values = tuple[int, ...]
"""One value number for each limb of a team."""


@frozen
class Step:
    """What the limbs of a team do alike: one instruction of each."""

    op: Op
    members: tuple[int, ...]
    """The instruction of each limb, in the team's order."""
    a: Values
    """First operand of each."""
    b: Values
    """Second operand of each; empty where there is none."""


@frozen
class Team:
    """Regions whose instructions are alike.

    The operands of a step are all instructions of one other step, each of its own limb; or all of
    the limbs so many places further on; or inputs of one port; or constants; or the trunk's.
    """

    regions: tuple[int, ...]
    steps: tuple[Step, ...]
    """In the order in which they were traced."""


def teams(program: Program, regions: Sequence[int]) -> tuple[Team, ...]:
    """Find the limbs that are alike.

    Args:
        program: traced with even signs.
        regions: region of each instruction.

    Returns:
        Teams of two limbs or more; each of their instructions is in exactly one step.
    """
    groups = _candidates(program, regions)
    while groups:
        found = _match(program, regions, groups)
        kept = [group for group, steps in zip(groups, found, strict=True) if steps is not None]
        if kept == groups:
            return tuple(
                Team(group, tuple(steps))
                for group, steps in zip(groups, found, strict=True)
                if steps is not None
            )
        groups = kept
    return ()


def _in_order(program: Program) -> list[int]:
    """Instructions in the order in which they were traced."""
    return sorted(range(len(program.instructions)), key=program.traced.__getitem__)


def _candidates(program: Program, regions: Sequence[int]) -> list[tuple[int, ...]]:
    """Groups of limbs whose instructions have the same shapes, as often."""
    base = program.first_instruction
    shapes: dict[Any, int] = {}
    shape = [0] * len(regions)
    counted: dict[int, Counter[int]] = defaultdict(Counter)
    for index in _in_order(program):
        op, a, b = program.instructions[index]
        own = regions[index]
        if own == TRUNK:
            continue
        read = [
            shape[x - base] if x >= base and regions[x - base] == own else -1 - (x >= base)
            for x in ((a, b) if b >= 0 else (a,))
        ]
        key = (op, *(sorted(read) if op in COMMUTATIVE else read))
        shape[index] = shapes.setdefault(key, len(shapes))
        counted[own][shape[index]] += 1
    found: dict[frozenset[tuple[int, int]], list[int]] = defaultdict(list)
    for region in sorted(counted):
        found[frozenset(counted[region].items())].append(region)
    return [tuple(group) for group in found.values() if len(group) > 1]


def _match(
    program: Program, regions: Sequence[int], groups: Sequence[tuple[int, ...]]
) -> list[list[Step] | None]:
    """Steps of each group, or None where its limbs turn out to differ.

    Every instruction is named by its operation and the names of what it reads; of those that get
    the same name in one limb, the first traced go together, then the second.
    """
    namer = _Namer(program, regions, groups)
    members: dict[int, dict[int, tuple[int, int, int]]] = defaultdict(dict)
    for index in _in_order(program):
        seat = namer.seats.get(regions[index])
        if seat is not None:
            name, a, b = namer.enter(index, seat)
            members[name][seat.place] = (index, a, b)
    steps: list[list[Step] | None] = [[] for _ in groups]
    for own in members.values():
        first = next(iter(own.values()))[0]
        seat = namer.seats[regions[first]]
        so_far = steps[seat.group]
        if len(own) < seat.size:
            steps[seat.group] = None
        elif so_far is not None:
            indices, firsts, seconds = zip(*(own[k] for k in range(seat.size)), strict=True)
            so_far.append(
                Step(
                    program.instructions[first][0],
                    indices,
                    firsts,
                    seconds if seconds[0] >= 0 else (),
                )
            )
    return steps


@frozen
class _Seat:
    """Where a limb stands: in which group, at which place of how many."""

    group: int
    place: int
    size: int


class _Namer:
    """Names of instructions: equal where they are alike."""

    def __init__(
        self, program: Program, regions: Sequence[int], groups: Sequence[tuple[int, ...]]
    ) -> None:
        self._instructions = program.instructions
        self._regions = regions
        self.seats = {
            region: _Seat(g, k, len(group))
            for g, group in enumerate(groups)
            for k, region in enumerate(group)
        }
        self._ports = [k for k, port in enumerate(program.inputs) for _ in range(port.size)]
        self._base = program.first_instruction
        self._numbers: dict[Any, int] = {}
        self._name: dict[int, int] = {}
        self._times: Counter[Any] = Counter()

    def enter(self, index: int, seat: _Seat) -> tuple[int, int, int]:
        """Name an instruction; also returns its operands, as they go with those of others."""
        op, a, b = self._instructions[index]
        read = [(self._seen(x, seat), x) for x in ((a, b) if b >= 0 else (a,))]
        if op in COMMUTATIVE:
            read.sort()
        key = (seat.group, op, *(name for name, _ in read))
        self._times[seat.place, key] += 1
        name = self._numbers.setdefault((key, self._times[seat.place, key]), len(self._numbers))
        self._name[index] = name
        return name, read[0][1], read[-1][1] if b >= 0 else -1

    def _seen(self, value: int, seat: _Seat) -> tuple[int, int, int]:
        """An operand as a limb sees it: of what kind, how many places further, and its name."""
        if value < len(self._ports):
            return (0, self._ports[value], 0)
        if value < self._base:
            return (1, 0, 0)
        index = value - self._base
        home = self.seats.get(self._regions[index])
        if home is None:
            return (2, 0, 0)
        return (3 + home.group, (home.place - seat.place) % home.size, self._name[index])
