"""A large program over several warps: problems across lanes, parts of the robot across warps.

Every warp of a block works on the same 32 problems, each at its own straight-line part; what
one hands to another goes through shared memory, between two phases that a barrier separates.
No thread of a warp ever diverges, each part's values fit its registers, and a part's code is
a fraction of the whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from attrs import frozen

from grid_backend_cuda.ordering import Part, ordered
from grid_backend_cuda.phasing import Read, earliest, settled
from grid_core.program.regions import TRUNK, firm, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grid_backend_cuda.emit import Chunk
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
    writers: tuple[tuple[int, int], ...]
    """Warp and phase in which each chunk of a wide result is written."""
    parts: dict[tuple[int, int], tuple[int, ...]]
    """Instructions of each warp in each phase, in order."""

    def part(self, warp: int, phase: int) -> tuple[int, ...]:
        """Instructions of a warp in a phase, in order."""
        return self.parts.get((warp, phase), ())

    def loads(self) -> list[int]:
        """Instructions of each warp."""
        return [self.home.count(warp) for warp in range(self.warps)]


def split_program(program: Program, warps: int = 4, chunks: Sequence[Chunk] = ()) -> Split | None:
    """Split a program by the regions that it was traced in; None where it has no limbs.

    Args:
        program: the program.
        warps: how many there are.
        chunks: parts of wide results, each written by the warp that computes most of it.
    """
    if not any(program.regions):
        return None
    regions = settled_regions(program)
    numbers = sorted(set(regions) - {TRUNK})
    if len(numbers) < 2:
        return None
    warp_of = _packed(regions, numbers, warps)
    home = tuple(warp_of[r] for r in regions)
    phase = earliest(program, regions)
    writers = _writers(program, chunks, home, phase)
    if chunks:
        phase = settled(program, home, phase, _chunk_reads(program, chunks, writers))
    slots, count = _slots(program, home, phase, _chunk_reads(program, chunks, writers))
    phases = max([*phase, *(when for _, when in writers)]) + 1
    parts = _parts(program, chunks, (home, phase), writers, slots)
    return Split(warps, phases, home, phase, slots, count, writers, parts)


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
    fixed = [firm(mark) for mark in program.regions]
    regions = [number(mark) for mark in program.regions]
    _share(regions, operands, users, fixed)
    changed = True
    while changed:
        changed = False
        for index, reads in enumerate(operands):
            own = regions[index]
            if own == TRUNK or fixed[index]:
                continue
            read = {regions[x] for x in reads}
            used = {regions[u] for u in users[index]}
            meets = bool(read - {own, TRUNK})
            adds_up = TRUNK in read and bool(used) and own not in used
            if meets or adds_up:
                regions[index] = TRUNK
                changed = True
    return regions


def _share(
    regions: list[int], operands: list[list[int]], users: list[list[int]], fixed: list[bool]
) -> None:
    """Give the trunk what several limbs use, with the little that it is made of."""
    for index in range(len(operands)):
        own = regions[index]
        if own == TRUNK or fixed[index]:
            continue
        if not {regions[u] for u in users[index] if not fixed[u]} - {own, TRUNK}:
            continue
        made_of: set[int] = set()
        stack = [index]
        while stack and len(made_of) <= _SHARED:
            k = stack.pop()
            if k not in made_of and regions[k] != TRUNK and not fixed[k]:
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


def _writers(
    program: Program, chunks: Sequence[Chunk], home: Sequence[int], phase: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """Who writes each chunk, and when: whoever has most of it, or of those the least to do."""
    base = program.first_instruction
    loads = Counter(home)
    result = []
    for chunk in chunks:
        known = [v - base for v in chunk.values if v >= base]
        shares = Counter(home[k] for k in known) or Counter([home[0]])
        most = max(shares.values())
        warp = min((w for w in shares if shares[w] == most), key=lambda w: (loads[w], w))
        result.append((warp, max((phase[k] + (home[k] != warp) for k in known), default=0)))
    return tuple(result)


def _chunk_reads(
    program: Program, chunks: Sequence[Chunk], writers: Sequence[tuple[int, int]]
) -> Iterator[Read]:
    """Value, reading warp and phase of everything that is written in chunks."""
    base = program.first_instruction
    for chunk, (warp, when) in zip(chunks, writers, strict=True):
        yield from ((v - base, warp, when) for v in chunk.values if v >= base)


def _parts(
    program: Program,
    chunks: Sequence[Chunk],
    placed: tuple[Sequence[int], Sequence[int]],
    writers: Sequence[tuple[int, int]],
    slots: dict[int, int],
) -> dict[tuple[int, int], tuple[int, ...]]:
    """Order every part."""
    at = list(zip(*placed, strict=True))
    work: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, part in enumerate(at):
        work[part].append(index)
    if not chunks:
        return {part: tuple(indices) for part, indices in work.items()}
    base = program.first_instruction
    inside: dict[int, list[int]] = {}
    kept: dict[tuple[int, int], set[int]] = defaultdict(set)
    for index, (_, a, b) in enumerate(program.instructions):
        operands = {x - base for x in (a, b) if x >= base}
        inside[index] = [x for x in operands if at[x] == at[index]]
        for x in operands:
            if at[x][0] == at[index][0] and at[x] != at[index]:
                kept[at[x]].add(x)
    groups: dict[tuple[int, int], list[list[int]]] = defaultdict(list)
    for chunk, writer in zip(chunks, writers, strict=True):
        values = [v - base for v in chunk.values if v >= base]
        groups[writer].append([v for v in values if at[v] == writer])
        for v in values:
            if at[v][0] == writer[0] and at[v] != writer:
                kept[at[v]].add(v)
    return {
        part: tuple(
            ordered(
                Part(
                    indices,
                    inside,
                    frozenset(kept[part]),
                    groups[part],
                    [v for v in indices if v in slots],
                )
            )
        )
        for part, indices in work.items()
    }


def _slots(
    program: Program,
    home: Sequence[int],
    phase: Sequence[int],
    written: Iterable[Read],
) -> tuple[dict[int, int], int]:
    """Places for values that cross warps; a place is free again after its last reading phase."""
    last = _last_reads(program, home, phase, written)
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


def _last_reads(
    program: Program, home: Sequence[int], phase: Sequence[int], written: Iterable[Read]
) -> dict[int, int]:
    """Of each value that another warp reads, the last phase in which one does."""
    base = program.first_instruction
    last: dict[int, int] = {}
    for k, warp, when in written:
        if home[k] != warp:
            last[k] = max(last.get(k, 0), when)
    for index, (_, a, b) in enumerate(program.instructions):
        for k in (x - base for x in (a, b) if x >= base):
            if home[k] != home[index]:
                last[k] = max(last.get(k, 0), phase[index])
    return last
