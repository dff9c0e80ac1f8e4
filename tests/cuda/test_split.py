"""Splits of large programs: who does what, when, and what is handed over."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import pytest
from attrs import evolve

from grid_backend_cuda.mapping import SplitMapping, map_program, map_split, map_threads
from grid_backend_cuda.split import Split, settled_regions, split_program
from grid_core.program.regions import TRUNK
from tests.cuda.kernels import source

CASES = [("humanoid", "forward_dynamics"), ("humanoid", "inverse_dynamics"), ("go2", "crba")]


@functools.cache
def split_of(robot: str, name: str) -> tuple[Any, Split]:
    program = source(robot, name).program
    split = split_program(program)
    assert split is not None
    return program, split


def reads(program: Any) -> list[list[int]]:
    """Instructions that each instruction reads."""
    base = program.first_instruction
    return [[x - base for x in (a, b) if x >= base] for _, a, b in program.instructions]


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_every_instruction_is_done_once(robot: str, name: str) -> None:
    program, split = split_of(robot, name)
    done = [k for w in range(split.warps) for p in range(split.phases) for k in split.part(w, p)]
    assert sorted(done) == list(range(len(program.instructions)))
    assert sum(split.loads()) == len(program.instructions)


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_what_another_warp_made_is_read_in_a_later_phase(robot: str, name: str) -> None:
    program, split = split_of(robot, name)
    for index, operands in enumerate(reads(program)):
        for k in operands:
            if split.home[k] != split.home[index]:
                assert split.phase[k] < split.phase[index]
                assert k in split.slots
            else:
                assert split.phase[k] <= split.phase[index]


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_a_slot_is_not_overwritten_while_it_is_still_to_be_read(robot: str, name: str) -> None:
    program, split = split_of(robot, name)
    last = dict.fromkeys(split.slots, 0)
    for index, operands in enumerate(reads(program)):
        for k in operands:
            if k in last and split.home[k] != split.home[index]:
                last[k] = max(last[k], split.phase[index])
    held: dict[int, list[tuple[int, int]]] = {}
    for k, slot in split.slots.items():
        held.setdefault(slot, []).append((split.phase[k], last[k]))
    for spans in held.values():
        spans.sort()
        for (_, until), (begin, _) in itertools.pairwise(spans):
            assert until < begin
    assert set(held) == set(range(split.num_slots))


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_limbs_meet_in_the_trunk_only(robot: str, name: str) -> None:
    program, _ = split_of(robot, name)
    regions = settled_regions(program)
    for index, operands in enumerate(reads(program)):
        met = {regions[k] for k in operands} - {TRUNK, regions[index]}
        assert not met or regions[index] == TRUNK
    assert len(set(regions)) >= 4


def test_a_humanoids_forward_dynamics_has_four_phases() -> None:
    """Up the arms, up the waist and legs, down again: the arms hang from the torso."""
    _, split = split_of("humanoid", "forward_dynamics")
    assert split.phases == 4
    assert max(split.loads()) * 2 <= sum(split.loads())


def test_the_same_program_is_split_the_same_way() -> None:
    program, split = split_of("humanoid", "forward_dynamics")
    assert split_program(program) == split


@pytest.mark.parametrize(("robot", "name"), [("iiwa14", "forward_dynamics"), ("iiwa14", "crba")])
def test_a_chain_is_not_split(robot: str, name: str) -> None:
    found = source(robot, name)
    assert split_program(found.program) is None
    assert map_split(found.program, found.real, "sm_90") is None


def test_large_programs_are_split_and_small_ones_are_not() -> None:
    large = source("humanoid", "forward_dynamics")
    assert isinstance(map_program(large.program, large.real, "sm_90"), SplitMapping)
    small = source("go2", "inverse_dynamics")
    assert map_program(small.program, small.real, "sm_90") == map_threads(small.program, small.real)


def test_a_split_that_leaves_most_to_one_warp_is_refused() -> None:
    found = source("go2", "forward_dynamics")
    split = split_program(found.program)
    assert split is not None
    assert max(split.loads()) * 2 > len(found.program.instructions)
    assert map_split(found.program, found.real, "sm_90") is None


def test_a_program_without_regions_is_not_split() -> None:
    program, _ = split_of("go2", "crba")
    unmarked = evolve(program, regions=()) if hasattr(program, "__attrs_attrs__") else None
    if unmarked is not None:
        assert split_program(unmarked) is None
