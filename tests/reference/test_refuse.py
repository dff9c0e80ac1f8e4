"""Which robots have no M⁻¹, and which joint is named."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import urdf
from tests.support.evaluate import Reference
from tests.support.robots import HAND_MADE, Robot, example, hand_made_params

NEED_INVERSE = ("forward_dynamics", "aba", "minv")


def arm(*links: str, axes: tuple[tuple[float, float, float], ...], kind: str = "revolute") -> Robot:
    """Return a chain of the links, joints j1, j2, ... half a metre apart along x."""
    joints = [
        urdf.joint(f"j{i}", kind, f"l{i - 1}", f"l{i}", xyz=(0.5, 0.0, 0.0), axis=axis)
        for i, axis in enumerate(axes, start=1)
    ]
    text = urdf.robot("arm", urdf.link("l0", 1.0, inertia=np.eye(3)), *links, *joints)
    return Robot("arm", text=text)


def body(i: int) -> str:
    return urdf.link(f"l{i}", 1.0, (0.1, 0.0, 0.0), 0.01 * np.eye(3))


def point(i: int, *com: float) -> str:
    return urdf.link(f"l{i}", 1.0, com)


X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def reason(robot: Robot, *, floating_base: bool = False) -> str | None:
    grid = Reference(robot.load(floating_base=floating_base))
    reasons = {grid.refuse(name) for name in NEED_INVERSE}
    assert len(reasons) == 1, "all three need the same inverse"
    assert grid.refuse("inverse_dynamics") is None
    assert grid.refuse("crba") is None
    return reasons.pop()


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("robot", hand_made_params())
def test_robots_with_mass_are_not_refused(robot: Robot, floating: bool) -> None:
    assert reason(robot, floating_base=floating) is None


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_a_massless_leaf_is_named(floating: bool) -> None:
    robot = arm(body(1), urdf.link("l2"), axes=(Z, Z))
    said = reason(robot, floating_base=floating)
    assert said == (
        "joint 'j2' (link 'l2'): the mass matrix M is singular, because nothing with inertia "
        "moves with it"
    )


def test_every_massless_leaf_is_named() -> None:
    said = reason(example("romeo-romeo_laas_small"))
    assert said is not None
    assert said.startswith("joints 'l_gripper_joint' (link 'l_gripper'), 'r_gripper_joint' (link")


def test_a_massless_link_that_carries_a_body_is_fine() -> None:
    assert reason(arm(urdf.link("l1"), body(2), axes=(Z, Z))) is None


def test_a_point_mass_off_the_axis_is_fine() -> None:
    assert reason(arm(point(1, 0.2, 0.0, 0.0), axes=(Z,))) is None


@pytest.mark.parametrize("axis", [X, (0.3, -0.4, 1.2)], ids=["x", "skew"])
def test_a_point_mass_on_the_axis_is_named(axis: tuple[float, float, float]) -> None:
    com = 0.7 * np.array(axis)
    said = reason(arm(body(1), point(2, *com), axes=(Z, axis)))
    assert said is not None
    assert "'j2'" in said
    assert "nothing with inertia moves with it" in said


def test_two_joints_that_do_the_same_are_named_by_the_first() -> None:
    """j1 forwards and j2 back leaves the only body where it is."""
    coaxial = urdf.joint("j2", "revolute", "l1", "l2", axis=Z)
    first = urdf.joint("j1", "revolute", "l0", "l1", axis=Z)
    text = urdf.robot("twice", urdf.link("l0"), urdf.link("l1"), body(2), first, coaxial)
    said = reason(Robot("twice", text=text))
    assert said is not None
    assert "'j1'" in said
    assert "'j2'" not in said


def test_a_massless_follower_is_carried_by_its_leader() -> None:
    mimic = urdf.joint("j2", "revolute", "l1", "l2", axis=Z, mimic=("j1", 1.0, 0.0))
    lead = urdf.joint("j1", "revolute", "l0", "l1", axis=Z)
    text = urdf.robot("m", urdf.link("l0"), body(1), urdf.link("l2"), lead, mimic)
    assert reason(Robot("m", text=text)) is None


def test_a_massless_leader_is_carried_by_its_follower() -> None:
    mimic = urdf.joint("j2", "revolute", "l0", "l2", axis=Z, mimic=("j1", 1.0, 0.0))
    lead = urdf.joint("j1", "revolute", "l0", "l1", axis=Z)
    text = urdf.robot("m", urdf.link("l0"), urdf.link("l1"), body(2), lead, mimic)
    assert reason(Robot("m", text=text)) is None


@pytest.mark.parametrize("size", [1e-4, 1e4], ids=["insect", "crane"])
def test_size_does_not_matter(size: float) -> None:
    """A tiny finger of a large robot is no singularity, and a tiny robot is none either."""
    big = urdf.link("l1", size**3, (0.1 * size, 0.0, 0.0), 0.01 * size**5 * np.eye(3))
    small = urdf.link("l2", 1e-3 * size**3, (0.01 * size, 0.0, 0.0))
    assert reason(arm(big, small, axes=(Z, Z)), floating_base=True) is None


def test_a_floating_point_mass_cannot_be_turned() -> None:
    robot = Robot("dot", text=urdf.robot("dot", urdf.link("only", 1.0)))
    said = reason(robot, floating_base=True)
    assert said is not None
    assert "'root_joint'" in said


def test_a_robot_without_joints_has_nothing_to_invert() -> None:
    assert reason(HAND_MADE["one_body"]) is None
