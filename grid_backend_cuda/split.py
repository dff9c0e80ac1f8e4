"""A large program over several warps: problems across lanes, parts of the robot across warps.

Every warp of a block works on the same 32 problems, each at its own straight-line part; what
one hands to another goes through shared memory, between two phases that a barrier separates.
No thread of a warp ever diverges, each part's values fit its registers, and a part's code is
a fraction of the whole. Limbs that are alike run the same code.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from attrs import frozen

from grid_backend_cuda.jobs import Flow, jobs_of
from grid_backend_cuda.ordering import Part, ordered
from grid_backend_cuda.phasing import Read, earliest, settled
from grid_backend_cuda.rows import Rows, assign_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from grid_backend_cuda.emit import Chunk
    from grid_backend_cuda.jobs import Job, Limbs
    from grid_core.program.program import Program

__all__ = ["Split", "split_program"]


@frozen(eq=False)
class Split:
    """Which warp does what, and when. Nodes are steps of jobs (`grid_backend_cuda.jobs.Flow`)."""

    flow: Flow
    phases: int
    phase: tuple[int, ...]
    """Phase of each node."""
    slots: dict[int, int]
    """For each node whose values are handed over: the first of its places in shared memory, one
    for each place of its job."""
    num_slots: int
    rows: tuple[tuple[Rows, int], ...]
    """Rows of wide results, and the phase in which they are written."""
    parts: dict[tuple[int, int], tuple[int, ...]]
    """Nodes of each job in each phase, in order."""
    lasting: frozenset[int]
    """Nodes whose values their own job reads in a later phase."""
    kept: frozenset[int]
    """Nodes whose values stay in shared memory to the end."""

    @property
    def jobs(self) -> tuple[Job, ...]:
        """What warps do."""
        return self.flow.jobs

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return max(job.first + job.size for job in self.jobs)

    def part(self, job: int, phase: int) -> tuple[int, ...]:
        """Nodes of a job in a phase, in order."""
        return self.parts.get((job, phase), ())

    def loads(self) -> list[int]:
        """Instructions of each warp."""
        result = [0] * self.warps
        for job in self.jobs:
            for warp in range(job.first, job.first + job.size):
                result[warp] += len(job.steps)
        return result

    @property
    def balanced(self) -> bool:
        """Whether no warp has more than half of it."""
        loads = self.loads()
        return max(loads) * 2 <= sum(loads)


def split_program(
    limbs: Limbs,
    chunks: Sequence[Chunk] = (),
    *,
    apart: bool = False,
    kept: Collection[int] = (),
) -> Split | None:
    """Split a program between its limbs; None where they are too many.

    Args:
        limbs: the program's; those that are mirror images come out alike if it was traced with
            even signs.
        chunks: parts of wide results, each written by the warp that computes most of it.
        apart: whether the trunk has a warp of its own.
        kept: values that go to shared memory as soon as they are known and stay there.
    """
    for alike in (True, False):
        jobs = jobs_of(limbs, apart=apart, alike=alike)
        split = None if jobs is None else _split(limbs.program, jobs, chunks, kept)
        if split is not None:
            return split
    return None


def _split(
    program: Program, jobs: Sequence[Job], chunks: Sequence[Chunk], kept: Collection[int]
) -> Split | None:
    """Split into these jobs; None where alike limbs wait for each other or write other rows."""
    flow = Flow(program, jobs)
    phase = earliest(flow)
    rows = assign_rows(program, flow, chunks)
    if phase is None or rows is None or not all(map(_in_step, rows)):
        return None
    when = [_known(flow, own, phase) for own in rows]
    reads = [read for own, due in zip(rows, when, strict=True) for read in _reads(flow, own, due)]
    end = max([*phase, *when]) + 1
    base = program.first_instruction
    staying = frozenset(flow.of[value - base][0] for value in kept if value >= base)
    # Whoever writes them reads them after the last phase, out of shared memory.
    reads += [Read(node, flow.nodes[node].job, near=False, phase=end) for node in sorted(staying)]
    if reads:
        phase = settled(flow, phase, reads)
    slots, count = _slots(flow, phase, reads)
    lasting = _lasting(flow, phase, reads) - staying
    timed = tuple(zip(rows, when, strict=True))
    parts = _parts(flow, phase, timed, lasting, slots) if reads else _unordered(flow, phase)
    return Split(flow, end, tuple(phase), slots, count, timed, parts, lasting, staying)


def _in_step(rows: Rows) -> bool:
    """Whether what the places of a job write can be written by vectors of one length."""
    chunk = rows.chunks[0]
    each = math.gcd(chunk.first, len(chunk.values), 4)
    return all(other.first % each == 0 for other in rows.chunks)


def _known(flow: Flow, rows: Rows, phase: Sequence[int]) -> int:
    """First phase in which the writing warp can have all of a row."""
    return max(
        (
            phase[node] + (not near)
            for _, values in rows.entries
            for node, near in flow.behind(rows.job, values)
        ),
        default=0,
    )


def _reads(flow: Flow, rows: Rows, when: int) -> list[Read]:
    """Return what is written with a row."""
    return [
        Read(node, rows.job, near, when)
        for _, values in rows.entries
        for node, near in dict.fromkeys(flow.behind(rows.job, values))
    ]


def _lasting(flow: Flow, phase: Sequence[int], reads: Sequence[Read]) -> frozenset[int]:
    own = ((x, phase[node]) for node, near in enumerate(flow.own) for x in near)
    written = ((read.node, read.phase) for read in reads if read.near)
    return frozenset(x for x, when in (*own, *written) if when > phase[x])


def _parts(
    flow: Flow,
    phase: Sequence[int],
    rows: Sequence[tuple[Rows, int]],
    lasting: frozenset[int],
    slots: dict[int, int],
) -> dict[tuple[int, int], tuple[int, ...]]:
    """Order every part."""
    at = [(node.job, when) for node, when in zip(flow.nodes, phase, strict=True)]
    work = _unordered(flow, phase)
    inside = [tuple(x for x in own if at[x] == at[node]) for node, own in enumerate(flow.own)]
    groups: dict[tuple[int, int], list[list[int]]] = defaultdict(list)
    for own, when in rows:
        here = [x for _, v in own.entries for x, near in flow.behind(own.job, v) if near]
        groups[own.job, when].append([x for x in dict.fromkeys(here) if at[x] == (own.job, when)])
    return {
        part: tuple(
            ordered(
                Part(
                    nodes,
                    {node: inside[node] for node in nodes},
                    lasting.intersection(nodes),
                    groups[part],
                    [node for node in nodes if node in slots],
                )
            )
        )
        for part, nodes in work.items()
    }


def _unordered(flow: Flow, phase: Sequence[int]) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return every part in the program's order."""
    work: dict[tuple[int, int], list[int]] = defaultdict(list)
    for node, (own, when) in enumerate(zip(flow.nodes, phase, strict=True)):
        work[own.job, when].append(node)
    return {part: tuple(nodes) for part, nodes in work.items()}


def _slots(flow: Flow, phase: Sequence[int], reads: Sequence[Read]) -> tuple[dict[int, int], int]:
    """Places for values that cross warps; a place is free again after its last reading phase."""
    last = _last_reads(flow, phase, reads)
    starting: dict[int, list[int]] = defaultdict(list)
    for node in last:
        starting[phase[node]].append(node)
    slots: dict[int, int] = {}
    free: dict[int, list[int]] = defaultdict(list)
    count = 0
    busy: list[int] = []
    for now in sorted(starting):
        for node in busy:
            if last[node] < now:
                free[flow.size(node)].append(slots[node])
        busy = [node for node in busy if last[node] >= now] + sorted(starting[now])
        for node in sorted(starting[now]):
            size = flow.size(node)
            if free[size]:
                slots[node] = free[size].pop()
            else:
                slots[node], count = count, count + size
    return slots, count


def _last_reads(flow: Flow, phase: Sequence[int], reads: Sequence[Read]) -> dict[int, int]:
    """Of each value that another warp reads, the last phase in which one does."""
    last: dict[int, int] = {}
    for node, foreign in enumerate(flow.foreign):
        for x in foreign:
            last[x] = max(last.get(x, 0), phase[node])
    for read in reads:
        if not read.near:
            last[read.node] = max(last.get(read.node, 0), read.phase)
    return last
