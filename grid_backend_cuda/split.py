"""A large program over several warps: problems across lanes, parts of the robot across warps.

Every warp of a block works on the same 32 problems, each at its own straight-line part; what
one hands to another goes through shared memory, between two phases that a barrier separates.
No thread of a warp ever diverges, each part's values fit its registers, and a part's code is
a fraction of the whole.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.program.ops import Op
from grid_core.program.regions import TRUNK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grid_core.program.program import Program

__all__ = ["Split", "settled_regions", "split_program"]

_SHARED = 64
"""Instructions that the trunk may take over so that two limbs can share a value."""


@frozen
class Split:
    """Which warp does what, and when."""

    warps: int
    phases: int
    home: tuple[int, ...]
    """Warp of each instruction."""
    phase: tuple[int, ...]
    """Phase of each instruction."""
    slots: dict[int, int]
    """For each instruction whose value is handed over: its place in shared memory."""
    num_slots: int

    def part(self, warp: int, phase: int) -> Iterator[int]:
        """Instructions of a warp in a phase, in the program's order."""
        for index, (home, when) in enumerate(zip(self.home, self.phase, strict=True)):
            if home == warp and when == phase:
                yield index

    def loads(self) -> list[int]:
        """Instructions of each warp."""
        return [self.home.count(warp) for warp in range(self.warps)]


def split_program(program: Program, warps: int = 4) -> Split | None:
    """Split a program by the regions that it was traced in; None where it has no limbs."""
    if not any(program.regions):
        return None
    regions = settled_regions(program)
    numbers = sorted(set(regions) - {TRUNK})
    if len(numbers) < 2:
        return None
    warp_of = _packed(regions, numbers, warps)
    home = tuple(warp_of[r] for r in regions)
    phase = _phases(program, regions)
    slots, count = _slots(program, home, phase)
    return Split(warps, max(phase) + 1, home, phase, slots, count)


def settled_regions(program: Program) -> list[int]:
    """Regions of instructions, mended where sharing and sums have mixed limbs.

    Tracing marks an instruction with the limb that wrote it down first. What two limbs use is
    the trunk's; so is what adds up their shares.
    """
    base = program.first_instruction
    operands = [[x - base for x in (a, b) if x >= base] for _, a, b in program.instructions]
    users: list[list[int]] = [[] for _ in operands]
    for index, reads in enumerate(operands):
        for x in reads:
            users[x].append(index)
    regions = list(program.regions)
    _share(regions, operands, users)
    changed = True
    while changed:
        changed = False
        for index, reads in enumerate(operands):
            own = regions[index]
            if own == TRUNK:
                continue
            read = {regions[x] for x in reads}
            used = {regions[u] for u in users[index]}
            meets = bool(read - {own, TRUNK})
            adds_up = TRUNK in read and bool(used) and own not in used
            if meets or adds_up:
                regions[index] = TRUNK
                changed = True
    return regions


def _share(regions: list[int], operands: list[list[int]], users: list[list[int]]) -> None:
    """Give the trunk what several limbs use, with the little that it is made of."""
    for index in range(len(operands)):
        own = regions[index]
        if own == TRUNK or not {regions[u] for u in users[index]} - {own, TRUNK}:
            continue
        made_of: set[int] = set()
        stack = [index]
        while stack and len(made_of) <= _SHARED:
            k = stack.pop()
            if k not in made_of and regions[k] != TRUNK:
                made_of.add(k)
                stack += operands[k]
        if len(made_of) <= _SHARED:
            for k in made_of:
                regions[k] = TRUNK


def _packed(regions: Sequence[int], numbers: Sequence[int], warps: int) -> dict[int, int]:
    """Give regions to warps, the heaviest first, each to the lightest warp."""
    weight = {r: regions.count(r) for r in (TRUNK, *numbers)}
    loads = [0] * warps
    result: dict[int, int] = {}
    for region in sorted(numbers, key=lambda r: (-weight[r], r)):
        warp = loads.index(min(loads))
        loads[warp] += weight[region]
        result[region] = warp
    result[TRUNK] = loads.index(min(loads))
    return result


def _phases(program: Program, regions: Sequence[int]) -> tuple[int, ...]:
    """Earliest phase of each instruction: one after every hand-over it waits for.

    A limb on the trunk's own warp waits a phase as well, so that the trunk is done first and
    nobody waits for that limb.
    """
    base = program.first_instruction
    phase: list[int] = []
    for index, (_, a, b) in enumerate(program.instructions):
        earliest = 0
        for x in (a, b):
            if x >= base:
                k = x - base
                earliest = max(earliest, phase[k] + (regions[k] != regions[index]))
        phase.append(earliest)
    return tuple(phase)


def _slots(
    program: Program, home: Sequence[int], phase: Sequence[int]
) -> tuple[dict[int, int], int]:
    """Places for values that cross warps; a place is free again after its last reading phase."""
    base = program.first_instruction
    last: dict[int, int] = {}
    for index, (op, a, b) in enumerate(program.instructions):
        if op in (Op.INPUT, Op.CONST):
            continue
        for x in (a, b):
            k = x - base
            if x >= base and home[k] != home[index]:
                last[k] = max(last.get(k, 0), phase[index])
    starting: dict[int, list[int]] = defaultdict(list)
    for k in last:
        starting[phase[k]].append(k)
    slots: dict[int, int] = {}
    free: list[int] = []
    count = 0
    busy: list[tuple[int, int]] = []
    for now in sorted(starting):
        free += [slot for until, slot in busy if until < now]
        busy = [(until, slot) for until, slot in busy if until >= now]
        for k in sorted(starting[now]):
            if free:
                slot = free.pop()
            else:
                slot, count = count, count + 1
            slots[k] = slot
            busy.append((last[k], slot))
    return slots, count
