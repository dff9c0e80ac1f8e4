"""An order of instructions in which few values are alive at once, found greedily."""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["greedy_order"]


def greedy_order(
    work: Sequence[int], operands: Callable[[int], Sequence[int]], left: dict[int, int]
) -> list[int]:
    """Order instructions: always what frees most values; of equals, what comes first in `work`.

    Args:
        work: the instructions.
        operands: the values, each once, that an instruction reads and may free.
        left: readers of each value that are still to come, whoever they are; used up.
    """
    inside = set(work)
    rank = {node: k for k, node in enumerate(work)}
    users: dict[int, list[int]] = defaultdict(list)
    for x, user in ((x, node) for node in work for x in operands(node)):
        users[x].append(user)
    waiting = {node: sum(x in inside for x in operands(node)) for node in work}

    def entry(node: int) -> tuple[int, int, int]:
        return -sum(left[x] == 1 for x in operands(node)), rank[node], node

    heap = [entry(node) for node in work if waiting[node] == 0]
    heapq.heapify(heap)
    done: set[int] = set()
    order: list[int] = []
    while heap:
        *_, node = heapq.heappop(heap)
        if node in done:
            continue
        done.add(node)
        order.append(node)
        for user in users[node]:
            waiting[user] -= 1
        changed = [node]
        for x in operands(node):
            left[x] -= 1
            if left[x] == 1:  # its last reader has become worth more
                changed.append(x)
        for user in (u for x in changed for u in users[x]):
            if user not in done and waiting[user] == 0:
                heapq.heappush(heap, entry(user))
    return order
