"""Splits of large programs: who does what, when, and what is handed over."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

from grid_backend_cuda.jobs import limbs_of
from grid_backend_cuda.mapping import map_program
from grid_backend_cuda.settling import settled_regions
from grid_backend_cuda.split import Split, split_program
from grid_backend_cuda.split_mapping import SplitMapping, map_split
from grid_backend_cuda.thread_mapping import map_threads
from grid_core.program.regions import TRUNK
from grid_core.program.trace import trace
from tests.cuda.kernels import model, source
from tests.program.operations import operation

if TYPE_CHECKING:
    from grid_core.program.program import Program

CASES = [("humanoid", "forward_dynamics"), ("humanoid", "inverse_dynamics"), ("go2", "crba")]


@functools.cache
def split_of(robot: str, name: str) -> tuple[Any, Split]:
    program = even(robot, name)
    limbs = limbs_of(program)
    assert limbs is not None
    split = split_program(limbs)
    assert split is not None
    return program, split


@functools.cache
def even(robot: str, name: str) -> Program:
    return trace(operation(model(robot), name, dtype="float32"), even_signs=True)


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_every_instruction_is_done_once(robot: str, name: str) -> None:
    program, split = split_of(robot, name)
    jobs = range(len(split.jobs))
    nodes = [n for j in jobs for p in range(split.phases) for n in split.part(j, p)]
    done = [k for n in nodes for k in split.flow.nodes[n].step.members]
    assert sorted(done) == list(range(len(program.instructions)))
    assert sum(split.loads()) == len(program.instructions)


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_what_another_warp_made_is_read_in_a_later_phase(robot: str, name: str) -> None:
    """Of every instruction, at every place."""
    program, split = split_of(robot, name)
    base, flow = program.first_instruction, split.flow
    for index, (_, a, b) in enumerate(program.instructions):
        node, place = flow.of[index]
        for k in (x - base for x in (a, b) if x >= base):
            other, at = flow.of[k]
            if (flow.nodes[other].job, at) == (flow.nodes[node].job, place):
                assert split.phase[other] <= split.phase[node]
            else:
                assert split.phase[other] < split.phase[node]
                assert other in split.slots


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_a_slot_is_not_overwritten_while_it_is_still_to_be_read(robot: str, name: str) -> None:
    _, split = split_of(robot, name)
    last = dict.fromkeys(split.slots, 0)
    for node, foreign in enumerate(split.flow.foreign):
        for x in foreign:
            last[x] = max(last[x], split.phase[node])
    held: dict[int, list[tuple[int, int]]] = {}
    for x, first in split.slots.items():
        for slot in range(first, first + split.jobs[split.flow.nodes[x].job].size):
            held.setdefault(slot, []).append((split.phase[x], last[x]))
    for spans in held.values():
        spans.sort()
        for (_, until), (begin, _) in itertools.pairwise(spans):
            assert until < begin
    assert set(held) == set(range(split.num_slots))


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_limbs_meet_in_the_trunk_only(robot: str, name: str) -> None:
    program, _ = split_of(robot, name)
    regions, base = settled_regions(program), program.first_instruction
    for index, (_, a, b) in enumerate(program.instructions):
        met = {regions[x - base] for x in (a, b) if x >= base} - {TRUNK, regions[index]}
        assert not met or regions[index] == TRUNK
    assert len(set(regions)) >= 4


@pytest.mark.parametrize(
    ("name", "teams"), [("inverse_dynamics_gradient", [4]), ("forward_dynamics_gradient", [4])]
)
def test_the_legs_of_a_quadruped_share_their_code(name: str, teams: list[int]) -> None:
    found = source("go2", name)
    mapping = map_split(even("go2", name), found.real, "sm_90")
    assert mapping is not None
    assert [job.size for job in mapping.split.jobs if job.size > 1] == teams


def test_a_humanoids_forward_dynamics_has_four_phases() -> None:
    """Up the arms, up the waist and legs, down again: the arms hang from the torso."""
    _, split = split_of("humanoid", "forward_dynamics")
    assert split.phases == 4
    assert max(split.loads()) * 2 <= sum(split.loads())


def test_the_same_program_is_split_the_same_way() -> None:
    program, split = split_of("humanoid", "forward_dynamics")
    limbs = limbs_of(program)
    assert limbs is not None
    again = split_program(limbs)
    assert again is not None
    assert (again.phase, again.slots, again.parts) == (split.phase, split.slots, split.parts)


@pytest.mark.parametrize(("robot", "name"), [("iiwa14", "forward_dynamics"), ("iiwa14", "crba")])
def test_a_chain_is_not_split(robot: str, name: str) -> None:
    found = source(robot, name)
    assert limbs_of(found.program) is None
    assert map_split(found.program, found.real, "sm_90") is None


def test_large_programs_are_split_and_small_ones_are_not() -> None:
    large = source("humanoid", "forward_dynamics")
    assert isinstance(map_program(large.program, large.real, "sm_90")[1], SplitMapping)
    small = source("go2", "inverse_dynamics")
    found = map_program(small.program, small.real, "sm_90")
    assert found == (small.program, map_threads(small.program, small.real))


def test_a_split_that_leaves_most_to_one_warp_is_refused() -> None:
    found = source("go2", "forward_dynamics")
    limbs = limbs_of(found.program)
    assert limbs is not None
    split = split_program(limbs)
    assert split is not None
    assert max(split.loads()) * 2 > len(found.program.instructions)
    assert map_split(found.program, found.real, "sm_90") is None


def test_a_program_without_regions_is_not_split() -> None:
    program, _ = split_of("go2", "crba")
    assert limbs_of(evolve(program, regions=())) is None
