"""When each step of a split program runs: between which two barriers.

A step may run from the phase in which it has all it needs to the one in which somebody
waits for it. In between, it is better early where it lets go of more values than it makes (a
column that is finished) and better late where it does not (what will be used much later), for
what waits over a barrier fills registers.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.program.greedy import greedy_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grid_backend_cuda.jobs import Flow

__all__ = ["Read", "earliest", "settled"]


@frozen
class Read:
    """A value that is written with others."""

    node: int
    job: int
    """Who writes it."""
    near: bool
    """Whether the writing warp has it in its registers."""
    phase: int


def earliest(flow: Flow) -> list[int] | None:
    """Earliest phase of each node: one after every hand-over it waits for.

    None where steps of alike limbs wait for one another in a circle.
    """
    order = flow.order
    if order is None:
        return None
    phase = [0] * len(order)
    for node in order:
        near = max((phase[x] for x in flow.own[node]), default=0)
        phase[node] = max([near, *(phase[x] + 1 for x in flow.foreign[node])])
    return phase


def settled(flow: Flow, early: Sequence[int], written: Iterable[Read]) -> list[int]:
    """Phase of each node such that few values wait over barriers.

    Args:
        flow: who waits for whom.
        early: the earliest phase of each.
        written: what else reads values.
    """
    written = list(written)
    late = _latest(flow, early, written)
    work = _Work(flow, written)
    last = max([*early, *late, *(read.phase for read in written)], default=0)
    for now in range(last + 1):
        chosen = [work.choose(job, now, late) for job in range(len(flow.jobs))]
        for nodes in chosen:
            work.finish(nodes, now)
    return work.phase


def _latest(flow: Flow, early: Sequence[int], written: Iterable[Read]) -> list[int]:
    """Latest phase of each node that keeps nobody waiting."""
    latest: dict[int, int] = {}

    def needed(node: int, until: int) -> None:
        latest[node] = min(latest.get(node, until), until)

    for read in written:
        needed(read.node, read.phase - (not read.near))
    result = list(early)
    for node in reversed(flow.order or ()):
        result[node] = latest.get(node, early[node])
        for x in flow.own[node]:
            needed(x, result[node])
        for x in flow.foreign[node]:
            needed(x, result[node] - 1)
    return result


class _Work:
    """What is done, and what is left for each value's own warp to do with it."""

    def __init__(self, flow: Flow, written: Iterable[Read]) -> None:
        self._flow = flow
        self._left = [0] * len(flow.nodes)
        for x in itertools.chain.from_iterable(flow.own):
            self._left[x] += 1
        for read in written:
            self._left[read.node] += read.near
        self.phase = [-1] * len(flow.nodes)
        self._todo: list[list[int]] = [[] for _ in flow.jobs]
        for index, node in enumerate(flow.nodes):
            self._todo[node.job].append(index)

    def choose(self, job: int, now: int, late: Sequence[int]) -> list[int]:
        """What a job does in a phase: what it must, and what leaves it with fewest values."""
        able: set[int] = set()
        for node in self._todo[job]:
            if self._ready(node, now, able):
                able.add(node)
        must: set[int] = set()
        stack = [node for node in able if late[node] <= now]
        while stack:
            node = stack.pop()
            if node not in must:
                must.add(node)
                stack += [x for x in self._flow.own[node] if x in able]
        left = dict(enumerate(self._left))
        for node in must:
            self._take(node, left)
        optional = [node for node in self._todo[job] if node in able and node not in must]
        orders = (optional, greedy_order(optional, self._flow.own.__getitem__, dict(left)))
        best = min((self._prefix(order, dict(left)) for order in orders), key=lambda b: b[0])
        return [node for node in self._todo[job] if node in must] + best[1]

    def finish(self, nodes: Iterable[int], now: int) -> None:
        """Note what was done in a phase."""
        done = set(nodes)
        for node in done:
            self.phase[node] = now
            for x in self._flow.own[node]:
                self._left[x] -= 1
        for job, todo in enumerate(self._todo):
            self._todo[job] = [node for node in todo if node not in done]

    def _ready(self, node: int, now: int, able: set[int]) -> bool:
        if not all(self.phase[x] >= 0 or x in able for x in self._flow.own[node]):
            return False
        return all(0 <= self.phase[x] < now for x in self._flow.foreign[node])

    def _take(self, node: int, left: dict[int, int]) -> int:
        """Do a step; returns by how much the values that wait grow."""
        change = int(left[node] > 0)
        for x in self._flow.own[node]:
            left[x] -= 1
            change -= left[x] == 0
        return change

    def _prefix(self, order: Sequence[int], left: dict[int, int]) -> tuple[int, list[int]]:
        """How far to go so that fewest values wait; of equals, furthest."""
        live = best = end = 0
        for k, node in enumerate(order):
            live += self._take(node, left)
            if live <= best:
                best, end = live, k + 1
        return best, list(order[:end])
