"""What the warps of a split program do: one job for the trunk, one for each limb or kind of limb.

Limbs that are alike share a job, whose code each of their warps runs at its own place: with the
trunk's values read from the same slots, and its own inputs, constants and results.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import TYPE_CHECKING

from attrs import frozen

from grid_backend_cuda.settling import settled_regions
from grid_core.program.alike import Step, teams
from grid_core.program.regions import TRUNK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grid_core.program.alike import Team
    from grid_core.program.program import Program

__all__ = ["Flow", "Job", "Limbs", "Node", "jobs_of", "limbs_of"]

MOST_WARPS = 12
"""Beyond, a block's registers and hand-overs would not fit anyway."""


@frozen
class Job:
    """The code of one warp, or of several side by side."""

    first: int
    """Warp of the first place; the others follow."""
    size: int
    """Places, each a warp."""
    steps: tuple[Step, ...]
    """In the program's order of the first place."""
    guest: bool = False
    """Whether another job has this warp too: the trunk's, where it has none of its own."""


@frozen
class Node:
    """A step of a job: what the split is made of."""

    job: int
    step: Step


class Flow:
    """Which steps wait for which.

    Args:
        program: the program.
        jobs: all of its instructions, as `jobs_of` gives them.
    """

    def __init__(self, program: Program, jobs: Sequence[Job]) -> None:
        self.jobs = tuple(jobs)
        self.nodes = tuple(Node(j, step) for j, job in enumerate(jobs) for step in job.steps)
        """Job by job."""
        self._base = program.first_instruction
        self.of = {
            x: (n, place)
            for n, node in enumerate(self.nodes)
            for place, x in enumerate(node.step.members)
        }
        """Node and place of each instruction."""
        reads = [
            [*self.behind(node.job, node.step.a), *self.behind(node.job, node.step.b)]
            for node in self.nodes
        ]
        self.own = tuple(tuple(dict.fromkeys(x for x, near in r if near)) for r in reads)
        """Of each node, the nodes whose values are in the same warp's registers."""
        self.foreign = tuple(tuple(dict.fromkeys(x for x, near in r if not near)) for r in reads)
        """Of each node, those whose values are handed over."""

    def behind(self, job: int, values: Sequence[int]) -> Iterator[tuple[int, bool]]:
        """Nodes behind a value at each place of a job, and whether the job's warp has it."""
        for place, value in enumerate(values):
            if value >= self._base:
                node, at = self.of[value - self._base]
                yield node, self.nodes[node].job == job and at == place

    def size(self, node: int) -> int:
        """Places of a node's job."""
        return self.jobs[self.nodes[node].job].size

    @functools.cached_property
    def order(self) -> list[int] | None:
        """Nodes such that each comes after all it waits for; None where some wait in a circle."""
        waiting = [len(a) + len(b) for a, b in zip(self.own, self.foreign, strict=True)]
        users: dict[int, list[int]] = defaultdict(list)
        for node, reads in enumerate(zip(self.own, self.foreign, strict=True)):
            for x in (*reads[0], *reads[1]):
                users[x].append(node)
        order = [node for node, left in enumerate(waiting) if left == 0]
        for node in order:
            for user in users[node]:
                waiting[user] -= 1
                if waiting[user] == 0:
                    order.append(user)
        return order if len(order) == len(self.nodes) else None


@frozen(eq=False)
class Limbs:
    """A program's limbs, told apart once however they are then given to warps."""

    program: Program
    regions: Sequence[int]
    """Region of each instruction."""
    alike: tuple[Team, ...]
    """Those that can share code."""


def limbs_of(program: Program) -> Limbs | None:
    """Tell a program's limbs apart; None where it has fewer than two."""
    if not any(program.regions):
        return None
    regions = settled_regions(program)
    if len(set(regions) - {TRUNK}) < 2:
        return None
    return Limbs(program, regions, teams(program, regions))


def jobs_of(limbs: Limbs, *, apart: bool, alike: bool = True) -> tuple[Job, ...] | None:
    """Give every limb a warp and the trunk its own, or a place beside the lightest limb.

    Args:
        limbs: what there is.
        apart: whether the trunk has a warp of its own.
        alike: whether limbs that are alike share code.

    Returns:
        The trunk's job first, if it has anything to do; None where there are too many limbs.
    """
    together = limbs.alike if alike else ()
    sets = [(len(team.regions), team.steps) for team in together]
    teamed = {region for team in together for region in team.regions}
    alone: dict[int, list[Step]] = defaultdict(list)
    for index, region in enumerate(limbs.regions):
        if region not in teamed:
            alone[region].append(_step(limbs.program, index))
    sets += [(1, tuple(steps)) for region, steps in sorted(alone.items()) if region != TRUNK]
    taken = sum(size for size, _ in sets)
    if taken + apart > MOST_WARPS:
        return None
    sets.sort(key=lambda entry: -len(entry[1]))
    jobs: list[Job] = []
    first = 0
    for size, steps in sets:
        in_order = tuple(sorted(steps, key=lambda step: step.members[0]))
        jobs.append(Job(first, size, in_order))
        first += size
    if not alone[TRUNK]:
        return tuple(jobs)
    trunk = Job(taken if apart else taken - 1, 1, tuple(alone[TRUNK]), guest=not apart)
    return (trunk, *jobs)


def _step(program: Program, index: int) -> Step:
    op, a, b = program.instructions[index]
    return Step(op, (index,), (a,), (b,) if b >= 0 else ())
