"""The two robots: where their frames are, their trees, axes, ceilings and poses."""

from __future__ import annotations

import math
import re

import numpy as np

from grid_core.description import (
    RobotDescription,
    frame_poses,
    planning_numbers,
    read_catalogue,
)
from tests.description.calibrations import described, read
from tests.description.directories import FIXTURES, R1400, R1420

ARM = [f"J{number}" for number in range(1, 7)]


def test_positions_in_the_catalogue() -> None:
    """R34: work origin and arm base, in the world at the zero pose, from the URDF's numbers."""
    one, two = read_catalogue(FIXTURES)
    # J9 at (1.4, 0, 0.5), J7 at (0, 0.7, 0.3) turned by π, the surface at (0, -0.622, 0.1).
    np.testing.assert_allclose(one.work_world_m, [1.4, 0.7 + 0.622, 0.9], atol=1e-15)
    np.testing.assert_allclose(one.arm_base_world_m, [0, 0, 0.45], atol=1e-15)
    np.testing.assert_allclose(two.work_world_m, [0, 0, 0], atol=1e-15)
    np.testing.assert_allclose(two.arm_base_world_m, [0.1, 0, 0.75 + 0.45], atol=1e-15)


def test_points_go_to_the_arm_base_and_back() -> None:
    """R35: what the motion server calls p is p + offset in the world of the viewers."""
    for found in read_catalogue(FIXTURES):
        points = np.random.default_rng(1).uniform(-2, 2, (20, 3))
        np.testing.assert_allclose(found.to_arm_base(found.to_world(points)), points, atol=1e-15)
        np.testing.assert_allclose(found.to_world([0, 0, 0]), found.arm_base_world_m)


def test_units() -> None:
    """R36, R37: rad and m, rad/s and rad/s²: numbers pass from the files as they stand."""
    axis = next(a for a in described().rt_view.axes if a.joint == "J9")
    assert (axis.lower, axis.upper, axis.velocity) == (-3.2, 3.2, 0.9)
    assert (axis.trajectory_acceleration, axis.jog_acceleration) == (6.0, 1.5)
    model, config = described().planner_view.model, described().planner_view.config
    q = np.zeros((1, 9))
    j1 = next(j for j in model.joints if j.name == "J1")
    q[0, j1.q_start] = math.pi / 2  # a quarter turn, about z
    turn = frame_poses(model, config, "link_1", q)[0, :3, :3]
    np.testing.assert_allclose(turn, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)


def links_below(name: str) -> dict[str, str]:
    """Return each joint's parent and child link, as the file has them."""
    text = (FIXTURES / name / f"{name}.urdf").read_text(encoding="utf-8")
    pattern = r'<joint name="(\w+)" type="\w+">\s*<parent link="(\w+)"/><child link="(\w+)"/>'
    return {m[1]: f"{m[2]} {m[3]}" for m in re.finditer(pattern, text)}


ARM_TREE = {f"J{n}": f"link_{n - 1} link_{n}" for n in range(2, 7)} | {
    "flange": "link_6 end_effector",
    "tool": "end_effector tool0",
}


def test_the_tree_of_the_1400() -> None:
    """R40: nine axes; the H-frame, which J9 turns, carries J7 and J8."""
    assert links_below(R1400) == ARM_TREE | {
        "ground": "world floor",
        "J1": "floor link_1",
        "J9": "floor h_frame",
        "J7": "h_frame positioner_table_a",
        "J8": "h_frame positioner_table_b",
    }
    assert described().planner_view.model.nq == 9


def test_the_frames_of_the_1400() -> None:
    """R41: base, tool and work, and where the surface is on table A."""
    config = described().planner_view.config
    frames = config.frames
    assert (frames.base, frames.tool, frames.work) == ("world", "tool0", "positioner_table_a_top")
    surface = config.surfaces["positioner_table_a_top"]
    assert (surface.link, surface.xyz_m) == ("positioner_table_a", (0, -0.622, 0.1))


def test_the_axes_of_the_1400() -> None:
    """R42: J1 to J7 are planned; J8 and J9 are held at 0."""
    numbers = planning_numbers(described())
    assert [plan.joint for plan in numbers.driven] == [*ARM, "J7"]
    assert numbers.held == {"J8": 0.0, "J9": 0.0}


def test_ceiling_and_poses_of_the_1400() -> None:
    """R43: 1.571 rad/s, the reset pose at 0, and nine zeros at home."""
    numbers = planning_numbers(described())
    assert numbers.speed_ceiling == 1.571
    assert {plan.reset for plan in numbers.driven} == {0.0}
    home = described().planner_view.named_poses["home"]
    assert home == {f"J{number}": 0.0 for number in range(1, 10)}
    assert planning_numbers(described(), read(speed_ceiling_rad_s=1.4)).speed_ceiling == 1.4


def test_the_1420() -> None:
    """R44: a pedestal, a base, six driven axes, none held, 10 rad/s; work is the world."""
    assert links_below(R1420) == ARM_TREE | {
        "stand": "world pedestal",
        "mount": "pedestal base",
        "J1": "base link_1",
    }
    description = RobotDescription.load(FIXTURES / R1420)
    numbers = planning_numbers(description)
    frames = description.planner_view.config.frames
    assert (frames.base, frames.tool, frames.work) == ("world", "tool0", "world")
    assert [plan.joint for plan in numbers.driven] == ARM
    assert (numbers.held, numbers.speed_ceiling) == ({}, 10.0)
