"""Rows of wide results, and which job writes them: alike limbs write alike rows side by side."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_backend_cuda.emit import Chunk
    from grid_backend_cuda.jobs import Flow
    from grid_core.program.program import Program

__all__ = ["Rows", "assign_rows"]


@frozen
class Rows:
    """A chunk of each place of a job, written by the same statements."""

    job: int
    chunks: tuple[Chunk, ...]
    """In the order of the job's places."""
    entries: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    """Columns and values of each place, one pair an entry of the row."""


def assign_rows(program: Program, flow: Flow, chunks: Sequence[Chunk]) -> list[Rows] | None:
    """Give each chunk to the warp that computes most of it, or of those to the least busy one.

    None where limbs that are alike do not have alike rows.
    """
    base = program.first_instruction
    loads = Counter[tuple[int, int]]()
    for j, job in enumerate(flow.jobs):
        loads.update(dict.fromkeys(((j, place) for place in range(job.size)), len(job.steps)))
    taken: dict[tuple[int, int], list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        shares = Counter[tuple[int, int]]()
        for value in chunk.values:
            if value >= base:
                node, place = flow.of[value - base]
                shares[flow.nodes[node].job, place] += 1
        # What alike limbs have equal shares of is nobody's among them.
        alike = Counter((job, share) for (job, _), share in shares.items())
        able = {at: share for at, share in shares.items() if alike[at[0], share] == 1}
        able = able or dict.fromkeys(
            ((j, 0) for j, job in enumerate(flow.jobs) if job.size == 1), 0
        )
        if not able:
            return None
        most = max(able.values())
        writer = min(
            (at for at, share in able.items() if share == most), key=lambda at: (loads[at], at)
        )
        taken[writer].append(chunk)
    rows: list[Rows] = []
    for j, job in enumerate(flow.jobs):
        places = [taken[j, place] for place in range(job.size)]
        if len({len(own) for own in places}) != 1:
            return None
        for beside in zip(*places, strict=True):
            entries = _entries(program, flow, j, beside)
            if entries is None:
                return None
            rows.append(Rows(j, beside, entries))
    return rows


def _entries(
    program: Program, flow: Flow, job: int, chunks: Sequence[Chunk]
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] | None:
    """Match the columns of chunks: the same step, at the same distance, or the same constant."""
    if len({(chunk.port, len(chunk.values)) for chunk in chunks}) != 1:
        return None
    kinds: list[dict[Any, list[int]]] = []
    for place, chunk in enumerate(chunks):
        own: dict[Any, list[int]] = defaultdict(list)
        for column, value in enumerate(chunk.values):
            own[_kind(program, flow, (job, place), value)].append(column)
        kinds.append(own)
    first, *others = kinds
    if any(
        {k: len(c) for k, c in own.items()} != {k: len(c) for k, c in first.items()}
        for own in others
    ):
        return None
    columns = [
        tuple(own[kind][k] for own in kinds)
        for kind, found in first.items()
        for k in range(len(found))
    ]
    return tuple(
        (at, tuple(chunk.values[c] for chunk, c in zip(chunks, at, strict=True)))
        for at in sorted(columns)
    )


def _kind(program: Program, flow: Flow, at: tuple[int, int], value: int) -> tuple[int, ...]:
    """What a value is, as seen from a place of a job."""
    base = program.first_instruction
    if value < base:
        return (0, value)
    node, place = flow.of[value - base]
    job = flow.nodes[node].job
    if flow.jobs[job].size == 1:
        return (1, value)
    return (2, node, (place - at[1]) % flow.jobs[job].size)
