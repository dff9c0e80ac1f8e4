"""When each instruction of a split program runs: between which two barriers.

An instruction may run from the phase in which it has all it needs to the one in which somebody
waits for it. In between, it is better early where it lets go of more values than it makes (a
column that is finished) and better late where it does not (what will be used much later), for
what waits over a barrier fills registers.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from grid_core.program.greedy import greedy_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grid_core.program.program import Program

__all__ = ["Read", "earliest", "settled"]

Read = tuple[int, int, int]
"""A value that is written with others: its instruction, the reading warp and the phase."""


def earliest(program: Program, regions: Sequence[int]) -> tuple[int, ...]:
    """Earliest phase of each instruction: one after every hand-over it waits for.

    A limb on the trunk's own warp waits a phase as well, so that the trunk is done first and
    nobody waits for that limb.
    """
    base = program.first_instruction
    phase: list[int] = []
    for index, (_, a, b) in enumerate(program.instructions):
        first = 0
        for x in (a, b):
            if x >= base:
                k = x - base
                first = max(first, phase[k] + (regions[k] != regions[index]))
        phase.append(first)
    return tuple(phase)


def settled(
    program: Program, home: Sequence[int], early: Sequence[int], written: Iterable[Read]
) -> tuple[int, ...]:
    """Phase of each instruction such that few values wait over barriers.

    Args:
        program: the program.
        home: warp of each instruction.
        early: its earliest phase.
        written: what else reads values.
    """
    written = list(written)
    late = _latest(program, home, early, written)
    work = _Work(program, home, written)
    last = max([*early, *late, *(when for _, _, when in written)], default=0)
    for now in range(last + 1):
        chosen = [work.choose(warp, now, late) for warp in range(max(home) + 1)]
        for indices in chosen:
            work.finish(indices, now)
    return tuple(work.phase)


def _latest(
    program: Program, home: Sequence[int], early: Sequence[int], written: Iterable[Read]
) -> list[int]:
    """Latest phase of each instruction that keeps nobody waiting."""
    base = program.first_instruction
    latest: dict[int, int] = {}

    def needed(k: int, warp: int, when: int) -> None:
        until = when - (home[k] != warp)
        latest[k] = min(latest.get(k, until), until)

    for k, warp, when in written:
        needed(k, warp, when)
    result = list(early)
    for index in reversed(range(len(program.instructions))):
        result[index] = latest.get(index, early[index])
        _, a, b = program.instructions[index]
        for x in {a, b}:
            if x >= base:
                needed(x - base, home[index], result[index])
    return result


class _Work:
    """What is done, and what is left for each value's own warp to do with it."""

    def __init__(self, program: Program, home: Sequence[int], written: Iterable[Read]) -> None:
        base = program.first_instruction
        self._home = home
        self._operands = [
            tuple({x - base for x in (a, b) if x >= base}) for _, a, b in program.instructions
        ]
        self._own = [
            [x for x in operands if home[x] == home[index]]
            for index, operands in enumerate(self._operands)
        ]
        self._left = [0] * len(self._operands)
        for x in itertools.chain.from_iterable(self._own):
            self._left[x] += 1
        for k, warp, _ in written:
            self._left[k] += home[k] == warp
        self.phase = [-1] * len(self._operands)
        self._todo: list[list[int]] = [[] for _ in range(max(home) + 1)]
        for index, warp in enumerate(home):
            self._todo[warp].append(index)

    def choose(self, warp: int, now: int, late: Sequence[int]) -> list[int]:
        """What a warp does in a phase: what it must, and what leaves it with fewest values."""
        able: set[int] = set()
        for index in self._todo[warp]:
            if all(self._ready(x, warp, now) or x in able for x in self._operands[index]):
                able.add(index)
        must: set[int] = set()
        stack = [index for index in able if late[index] <= now]
        while stack:
            index = stack.pop()
            if index not in must:
                must.add(index)
                stack += [x for x in self._operands[index] if x in able]
        left = dict(enumerate(self._left))
        for index in must:
            self._take(index, left)
        optional = [index for index in self._todo[warp] if index in able and index not in must]
        orders = (optional, greedy_order(optional, self._own.__getitem__, dict(left)))
        best = min((self._prefix(order, dict(left)) for order in orders), key=lambda b: b[0])
        return [index for index in self._todo[warp] if index in must] + best[1]

    def finish(self, indices: Iterable[int], now: int) -> None:
        """Note what was done in a phase."""
        done = set(indices)
        for index in done:
            self.phase[index] = now
            for x in self._own[index]:
                self._left[x] -= 1
        for warp, todo in enumerate(self._todo):
            self._todo[warp] = [index for index in todo if index not in done]

    def _ready(self, x: int, warp: int, now: int) -> bool:
        when = self.phase[x]
        return when >= 0 and (self._home[x] == warp or when < now)

    def _take(self, index: int, left: dict[int, int]) -> int:
        """Do an instruction; returns by how much the values that wait grow."""
        change = int(left[index] > 0)
        for x in self._own[index]:
            left[x] -= 1
            change -= left[x] == 0
        return change

    def _prefix(self, order: Sequence[int], left: dict[int, int]) -> tuple[int, list[int]]:
        """How far to go so that fewest values wait; of equals, furthest."""
        live = best = end = 0
        for k, index in enumerate(order):
            live += self._take(index, left)
            if live <= best:
                best, end = live, k + 1
        return best, list(order[:end])
