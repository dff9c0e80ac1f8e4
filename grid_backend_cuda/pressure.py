"""How many values a warp of a split program holds at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_backend_cuda.staged import WARP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_backend_cuda.split import Split

__all__ = ["most_alive", "registers"]

_REGISTERS = 65536
_SCHEDULERS = 4
_MOST, _GRANULE = 255, 8


def registers(blocks: int, warps: int) -> int:
    """Registers of a thread where a multiprocessor holds so many blocks of so many warps.

    Each of its schedulers has a fourth of the registers, and its warps are a whole number.
    """
    each = -(-blocks * warps // _SCHEDULERS)
    found = _REGISTERS // (_SCHEDULERS * each * WARP)
    return min(found - found % _GRANULE, _MOST)


def most_alive(split: Split) -> int:
    """The most values that a warp has computed and still needs; where they are read again, fewer.

    What it reads of others, and its inputs, are not counted: they are at hand in shared memory.
    """
    until: dict[int, int] = {}
    for node, own in enumerate(split.flow.own):
        for x in own:
            until[x] = max(until.get(x, 0), split.phase[node])
    most = 0
    for (job, phase), part in split.parts.items():
        carried = [
            x
            for x in split.lasting
            if split.flow.nodes[x].job == job and split.phase[x] < phase <= until.get(x, phase)
        ]
        going_on = {x for x in (*carried, *part) if x in split.lasting and until.get(x, 0) > phase}
        most = max(most, _most_within(split, part, carried, going_on))
    return most


def _most_within(
    split: Split, part: Sequence[int], carried: Sequence[int], going_on: set[int]
) -> int:
    """The same of one part."""
    place = {node: k for k, node in enumerate(part)}
    last = dict(place)
    last.update(dict.fromkeys(carried, -1))
    for node in part:
        for x in split.flow.own[node]:
            if x in last:
                last[x] = max(last[x], place[node])
    ending = [0] * len(part)
    for x, k in last.items():
        if x not in going_on and k >= 0:
            ending[k] += 1
    alive = most = len(carried)
    for k in range(len(part)):
        alive += 1
        most = max(most, alive)
        alive -= ending[k]
    return most
