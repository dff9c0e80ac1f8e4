"""In which order a warp computes its part: few values alive at once.

The program's own order weighs the whole robot; a part of it has its own best one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.program.greedy import greedy_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["Part", "ordered"]


@frozen
class Part:
    """What one warp computes between two barriers, by instruction numbers of the program."""

    work: Sequence[int]
    """In the program's order."""
    operands: Mapping[int, Sequence[int]]
    """Of each instruction, those that are computed in this part."""
    kept: frozenset[int]
    """Values that the warp needs after this part."""
    groups: Sequence[Sequence[int]]
    """Values that leave together, as soon as the last one is known: rows of a result."""
    leaving: Sequence[int]
    """Values that other warps wait for."""


def ordered(part: Part) -> list[int]:
    """Order a part: as the program does, depth first from what leaves it, or greedily."""
    sinks = [*part.leaving, *(v for group in part.groups for v in group), *part.work]
    candidates = (list(part.work), _depth_first(part, sinks), _greedy(part))
    return min(candidates, key=lambda order: _peak(part, order))


def _depth_first(part: Part, sinks: Iterable[int]) -> list[int]:
    done: set[int] = set()
    order: list[int] = []
    for sink in sinks:
        stack = [(sink, False)]
        while stack:
            index, ready = stack.pop()
            if index in done:
                continue
            if ready:
                done.add(index)
                order.append(index)
                continue
            stack.append((index, True))
            # Operands that come late in the program hold more of the robot: do them first.
            stack += [(x, False) for x in sorted(part.operands[index]) if x not in done]
    return order


def _greedy(part: Part) -> list[int]:
    held = part.kept.union(*part.groups)
    left: dict[int, int] = {}
    for index in part.work:
        for x in part.operands[index]:
            left[x] = left.get(x, int(x in held)) + 1
    return greedy_order(part.work, part.operands.__getitem__, left)


def _peak(part: Part, order: Sequence[int]) -> int:
    """The most values alive at once; what is only handed over is gone when it is known."""
    place = {index: k for k, index in enumerate(order)}
    last = dict(place)
    for index, x in _reads(part):
        last[x] = max(last[x], place[index])
    for group in part.groups:
        inside = [v for v in group if v in place]
        until = max((place[v] for v in inside), default=0)
        last.update({v: max(last[v], until) for v in inside})
    last.update(dict.fromkeys((v for v in part.kept if v in place), len(order)))
    ending = [0] * (len(order) + 1)
    for until in last.values():
        ending[until] += 1
    live = most = 0
    for k in range(len(order)):
        live += 1
        most = max(most, live)
        live -= ending[k]
    return most


def _reads(part: Part) -> Iterator[tuple[int, int]]:
    for index in part.work:
        for x in part.operands[index]:
            yield index, x
