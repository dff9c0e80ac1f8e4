"""Which part of the robot an instruction belongs to.

A large robot's program does not fit one thread's registers, but its limbs hardly meet: what is
computed for one limb is used by that limb, or handed to the trunk. While an algorithm walks
the tree, what it writes down is marked with the limb it stands in; a backend may then give
each limb to a processor of its own. The mark changes no value.

A mark is a hint: who splits a program mends it where sharing and sums have mixed limbs. A firm
one stays, as where limbs take turns at work that is nobody's own: the columns of a solution.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["TRUNK", "current_region", "firm", "limbs", "number", "visit", "within"]

TRUNK = 0

_FIRM = 1 << 16

SHARES = 4
"""Parts that a robot is cut into, roughly: the limbs of most."""

_UNEVEN = 1.3
"""How far a limb may outweigh its share before it is cut at its head."""

T = TypeVar("T")


class _State(threading.local):
    region = TRUNK


_state = _State()


def current_region() -> int:
    """The region that is being traced in this thread."""
    return _state.region


def visit(items: Iterable[tuple[T, int]]) -> Iterator[T]:
    """Yield each item; what is traced until the next one belongs to the item's region."""
    before = _state.region
    try:
        for item, region in items:
            _state.region = region
            yield item
    finally:
        _state.region = before


@contextmanager
def within(region: int, *, firm: bool = False) -> Iterator[None]:
    """Mark what is traced inside with a region."""
    before = _state.region
    _state.region = number(region) | (_FIRM if firm else 0)
    try:
        yield
    finally:
        _state.region = before


def number(mark: int) -> int:
    """The region that a mark names."""
    return mark & ~_FIRM


def firm(mark: int) -> bool:
    """Whether a mark is to stay as it is."""
    return bool(mark & _FIRM)


def limbs(parents: Sequence[int]) -> list[int]:
    """Split a tree into a trunk and limbs, none much larger than a fourth of the whole.

    Args:
        parents: parent of each node, -1 for the root; parents come first.

    Returns:
        For each node `TRUNK` or its limb, counted from 1. A tree that does not branch is all
        trunk.
    """
    n = len(parents)
    size = [1] * n
    children: list[list[int]] = [[] for _ in range(n)]
    for node in reversed(range(n)):
        if parents[node] >= 0:
            size[parents[node]] += size[node]
            children[parents[node]].append(node)
    heads = [node for node in range(n) if parents[node] < 0]
    while heads:
        # Cut the largest branch at its head while it outweighs its share.
        head = max(heads, key=lambda h: size[h])
        if size[head] * SHARES <= _UNEVEN * n:
            break
        heads = [h for h in heads if h != head] + children[head]
    kept = sorted(h for h in heads if size[h] > 1)
    if len(kept) < 2:
        return [TRUNK] * n
    region = [TRUNK] * n
    for index, head in enumerate(kept):
        region[head] = index + 1
    for node in range(n):
        if parents[node] >= 0 and region[parents[node]] != TRUNK:
            region[node] = region[parents[node]]
    return region
