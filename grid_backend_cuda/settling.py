"""Which limb each instruction of a program is computed by, when limbs are computed apart.

Tracing marks an instruction with the limb that wrote it down first. Sharing and sums mix limbs;
here they are told apart again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.program.regions import TRUNK, firm, number

if TYPE_CHECKING:
    from grid_core.program.program import Program

__all__ = ["settled_regions"]

_SHARED = 64
"""Instructions that the trunk may take over so that two limbs can share a value."""


def settled_regions(program: Program) -> list[int]:
    """Regions of instructions: what two limbs use is the trunk's; so is what adds up shares."""
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
            # Such as a sign of an input, marked by whoever wrote it first.
            nobodys = not read and own not in used
            if meets or adds_up or nobodys:
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
