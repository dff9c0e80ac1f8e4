"""Limbs that are alike: found where they are, and only there, whatever sides they hang on."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_backend_cuda.settling import settled_regions
from grid_core.algorithm import Options
from grid_core.model import load_urdf_string
from grid_core.program.alike import Team, teams
from grid_core.program.ops import COMMUTATIVE
from grid_core.program.regions import TRUNK
from grid_core.program.trace import trace
from grid_core.program.tree import KinematicTree
from grid_core.testing.inputs import random_inputs
from tests.program.operations import operation
from tests.support import urdf
from tests.support.evaluate import ALGORITHMS
from tests.support.humanoid import HUMANOID

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grid_core.model.types import RobotModel
    from grid_core.program.program import Program

LEGS = {"fl": (1, 1), "fr": (1, -1), "rl": (-1, 1), "rr": (-1, -1)}
"""Sides of a quadruped's legs: forward, left."""
_LEG = (
    ("hip", (1.0, 0.0, 0.0), (0.2, 0.05, 0.0), (0.01, 0.02, -0.03)),
    ("thigh", (0.0, 1.0, 0.0), (0.0, 0.1, 0.0), (-0.02, 0.03, -0.1)),
    ("calf", (0.0, 1.0, 0.0), (0.0, 0.0, -0.25), (0.03, -0.01, -0.12)),
)
"""Joint, axis, offset from the parent, and centre of mass, of the front left leg."""
OPERATIONS = ["inverse_dynamics", "forward_dynamics", "crba"]


def body(name: str, mass: float, com: Sequence[float], mirror: Sequence[float]) -> str:
    """A link whose inertia has all products, mirrored with its centre of mass."""
    S = np.diag(mirror)
    inertia = mass * np.array(
        [[0.02, 0.001, -0.002], [0.001, 0.03, 0.0015], [-0.002, 0.0015, 0.025]]
    )
    return urdf.link(name, mass, S @ com, S @ inertia @ S)


def leg(name: str, side: tuple[int, int], **changes: Any) -> list[str]:
    """A leg on its side; ``mass`` scales masses, ``knee`` is its kind, ``com`` the calf's."""
    mirror = (*side, 1)
    elements, parent = [], "trunk"
    for number, (part, axis, at, usual) in enumerate(_LEG):
        link = f"{name}_{part}"
        kind = changes.get("knee", "revolute") if part == "calf" else "revolute"
        com = changes.get("com", usual) if part == "calf" else usual
        mass = changes.get("mass", 1.0) * (1.5 - 0.4 * number)
        elements += [
            body(link, mass, com, mirror),
            urdf.joint(f"{link}_joint", kind, parent, link, xyz=np.multiply(mirror, at), axis=axis),
        ]
        parent = link
    return elements


def quadruped(**changed: dict[str, Any]) -> RobotModel:
    """Four legs on a floating trunk, of which some are changed."""
    trunk = body("trunk", 7.0, (0.02, 0.001, -0.01), (1, 1, 1))
    legs = [x for name, side in LEGS.items() for x in leg(name, side, **changed.get(name, {}))]
    return load_urdf_string(urdf.robot("quadruped", trunk, *legs), floating_base=True)


@functools.cache
def humanoid() -> RobotModel:
    """Arms and legs that are built alike; their centres of mass are not mirrored."""
    return HUMANOID.load(floating_base=True)


def chain() -> RobotModel:
    """Six joints in a row."""
    bodies = [body(f"l{k}", 1.0, (0.1, 0.02, 0.0), (1, 1, 1)) for k in range(1, 7)]
    links = [urdf.link("l0"), *bodies]
    joints = [
        urdf.joint(
            f"j{k}", "revolute", f"l{k}", f"l{k + 1}", xyz=(0.3, 0, 0), axis=(0, k % 2, 1 - k % 2)
        )
        for k in range(6)
    ]
    return load_urdf_string(urdf.robot("chain", *links, *joints))


def found_in(model: RobotModel, name: str) -> tuple[Program, list[int], tuple[Team, ...]]:
    program = trace(operation(model, name), even_signs=True)
    regions = settled_regions(program)
    return program, regions, teams(program, regions)


def sizes(found: tuple[Team, ...]) -> list[int]:
    return sorted(len(team.regions) for team in found)


@pytest.mark.parametrize("name", OPERATIONS)
def test_mirrored_legs_are_one_team(name: str) -> None:
    _, _, found = found_in(quadruped(), name)
    assert sizes(found) == [4]


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_humanoid_has_a_team_of_arms_and_one_of_legs(name: str) -> None:
    _, _, found = found_in(humanoid(), name)
    assert sizes(found) == [2, 2]


def test_other_masses_are_no_difference() -> None:
    model = quadruped(fl={"mass": 1.2}, rr={"mass": 0.7}, rl={"com": (0.05, 0.02, -0.1)})
    assert sizes(found_in(model, "inverse_dynamics")[2]) == [4]


@pytest.mark.parametrize(
    "change", [{"knee": "prismatic"}, {"com": (0.0, 0.0, -0.12)}], ids=["kind", "zeros"]
)
def test_what_has_another_joint_or_other_zeros_is_left_out(change: dict[str, Any]) -> None:
    alone = quadruped(rl=change)
    assert sizes(found_in(alone, "inverse_dynamics")[2]) == [3]
    pairs = quadruped(rl=change, rr=change)
    assert sizes(found_in(pairs, "inverse_dynamics")[2]) == [2, 2]


def test_a_chain_has_no_teams() -> None:
    assert found_in(chain(), "inverse_dynamics")[2] == ()


@pytest.mark.parametrize("model", [quadruped, humanoid])
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_instruction_of_a_team_is_in_one_step(
    model: Callable[[], RobotModel], name: str
) -> None:
    _, regions, found = found_in(model(), name)
    for team in found:
        assert TRUNK not in team.regions
        for place, region in enumerate(team.regions):
            done = [step.members[place] for step in team.steps]
            assert sorted(done) == [k for k, own in enumerate(regions) if own == region]


@pytest.mark.parametrize("model", [quadruped, humanoid])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_step_does_what_its_instructions_do(model: Callable[[], RobotModel], name: str) -> None:
    """With operands that are alike in turn: each its own limb's, or of one kind."""
    program, _, found = found_in(model(), name)
    base = program.first_instruction
    ports = [k for k, port in enumerate(program.inputs) for _ in range(port.size)]
    at = {
        index: (number, k, place)
        for number, team in enumerate(found)
        for k, step in enumerate(team.steps)
        for place, index in enumerate(step.members)
    }

    def seen(value: int, place: int, size: int) -> tuple[Any, ...]:
        if value < program.num_inputs:
            return ("input", ports[value])
        if value < base:
            return ("constant",)
        if value - base not in at:
            return ("trunk",)
        team, step, other = at[value - base]
        return ("step", team, step, (other - place) % size)

    for team in found:
        for step in team.steps:
            for place, index in enumerate(step.members):
                op, a, b = program.instructions[index]
                read = [own[place] for own in (step.a, step.b) if own]
                wanted = [x for x in (a, b) if x >= 0]
                assert op is step.op
                assert read == wanted or (op in COMMUTATIVE and read == wanted[::-1])
            for own in (step.a, step.b):
                size = len(team.regions)
                assert len({seen(value, k, size) for k, value in enumerate(own)}) <= 1


@pytest.mark.parametrize("model", [quadruped, humanoid])
@pytest.mark.parametrize("name", [*OPERATIONS, "inverse_dynamics_gradient"])
def test_even_signs_change_no_result(model: Callable[[], RobotModel], name: str) -> None:
    robot = model()
    asked = operation(robot, name)
    inputs = random_inputs(ALGORITHMS[name], robot, Options(), batch=5, present=(), seed=11)
    plain, even = (trace(asked, even_signs=on).evaluate(inputs) for on in (False, True))
    for port, wanted in plain.items():
        scale = float(np.abs(wanted).max())
        np.testing.assert_allclose(even[port], wanted, rtol=0.0, atol=1e-13 * scale)


@pytest.mark.parametrize("model", [quadruped, humanoid])
def test_frames_of_mirrored_limbs_agree(model: Callable[[], RobotModel]) -> None:
    """In all but the side on which the next joint lies."""
    tree = KinematicTree.of(model(), regroup=True)
    nodes = {node.joint.name: node for node in tree.nodes}
    pairs = [
        (node, nodes[name.replace(left, right)])
        for name, node in nodes.items()
        for left, right in (("fl_", "fr_"), ("rl_", "rr_"), ("left_", "right_"), ("fl_", "rl_"))
        if name.startswith(left)
    ]
    assert len(pairs) >= 9
    for one, other in pairs:
        rotations = [np.array([tuple(row) for row in node.rotation]) for node in (one, other)]
        np.testing.assert_allclose(rotations[1], rotations[0], rtol=0.0, atol=1e-12)
        positions = [np.abs(np.array(tuple(node.position))) for node in (one, other)]
        np.testing.assert_allclose(positions[1], positions[0], rtol=0.0, atol=1e-12)


def test_a_limb_that_is_mounted_half_a_turn_round_has_its_twins_frame() -> None:
    sides = {"left": 0.0, "right": np.pi}
    elements = [urdf.link("base")]
    for side, turn in sides.items():
        elements += [
            body(side, 1.0, (0.1, 0.02, 0.03), (1, 1, 1)),
            urdf.joint(
                f"{side}_joint",
                "continuous",
                "base",
                side,
                xyz=(0.0, 0.3 * np.cos(turn), 0.0),
                rpy=(0.0, 0.0, turn),
                axis=(0.0, 0.0, 1.0),
            ),
        ]
    tree = KinematicTree(load_urdf_string(urdf.robot("turnstile", *elements)), regroup=True)
    one, other = (np.array([tuple(row) for row in node.rotation]) for node in tree.nodes)
    np.testing.assert_allclose(other, one, rtol=0.0, atol=1e-12)
