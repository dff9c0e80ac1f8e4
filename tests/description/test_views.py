"""The planner's view and rt-core's, and what the two robots and benches are."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_core.description import (
    RobotDescription,
    check_description,
    frame_poses,
    planning_numbers,
    read_catalogue,
    views,
)
from grid_core.description import documents as documents_module
from grid_core.errors import DescriptionError, UnknownName
from tests.description.calibrations import described, read
from tests.description.directories import BENCHES, FIXTURES, R1400, R1420, ROBOTS, copied, edit

if TYPE_CHECKING:
    from pathlib import Path

ARM = [f"J{number}" for number in range(1, 7)]


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_directory_is_called_like_the_model(tmp_path: Path) -> None:
    """R4: a renamed directory is refused, and both names are said."""
    root = copied(R1400, tmp_path)
    renamed = root.rename(tmp_path / "rosie_1400_v4")
    with pytest.raises(DescriptionError, match=r"'rosie_1400_v3', but .* called 'rosie_1400_v4'"):
        RobotDescription.load(renamed)


@pytest.mark.parametrize(
    "file",
    [
        "manifest.json",
        "config.json",
        "spheres.json",
        "rtcore_definition.json",
        f"{R1400}.urdf",
        f"{R1400}.srdf",
    ],
)
def test_every_file_states_the_id(file: str, r1400: Path) -> None:
    """R5: another id in any one file is refused, with the file named."""
    replace(r1400 / file, R1400, "another_robot")
    found = check_description(r1400)
    assert str(r1400 / file) in found[0]
    assert "another_robot" in found[0]
    assert len(found) == 1 or file == "manifest.json"  # which all others then contradict


def test_garbage_in_the_others_file(r1400: Path) -> None:
    """R6: each view loads whatever the other's file holds."""
    for file in ("rtcore_definition.json", "spheres.json"):
        before = (r1400 / file).read_bytes()
        (r1400 / file).write_bytes(b"\xff{garbage")
        description = RobotDescription.load(r1400)
        planner, rt = (lambda d=description: d.planner_view), (lambda d=description: d.rt_view)
        good, bad = (planner, rt) if file.startswith("rt") else (rt, planner)
        assert good()
        with pytest.raises(DescriptionError, match=file):
            bad()
        (r1400 / file).write_bytes(before)


def test_which_documents_each_view_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    """R6, R7: the two meet in the URDF, the config and the identity only."""
    parsed: list[str] = []

    def spied(kind: Any, data: bytes, at: Any) -> Any:
        parsed.append(kind.__name__)
        return documents_module.read_document(kind, data, at)

    monkeypatch.setattr(views, "read_document", spied)
    description = described()
    assert parsed == []
    assert description.planner_view
    assert parsed == ["Spheres"]
    assert description.rt_view
    assert parsed == ["Spheres", "RtcoreDefinition"]


@pytest.mark.parametrize(("name", "count"), [(BENCHES[0], 1), (BENCHES[1], 9)])
def test_benches(name: str, count: int, tmp_path: Path) -> None:
    """R8: a manifest and motors: rt-core runs it, the catalogue omits it, no planner view."""
    root = copied(name, tmp_path)
    assert sorted(p.name for p in root.iterdir()) == ["manifest.json", "rtcore_definition.json"]
    bench = RobotDescription.load(root)
    assert bench.is_bench
    assert bench.rt_view.axes == ()
    assert [(m.joint, m.gear_ratio) for m in bench.rt_view.motors] == [(None, 1.0)] * count
    assert [e.model_id for e in read_catalogue(FIXTURES)] == sorted(ROBOTS)
    with pytest.raises(DescriptionError, match="is a bench description: it has no URDF"):
        _ = bench.planner_view


def test_a_directory_between_bench_and_robot(tmp_path: Path) -> None:
    """R8: a bench registers its motors and nothing else; a robot needs URDF and config."""
    root = copied(BENCHES[0], tmp_path)
    edit(root / "manifest.json", files=["rtcore_definition.json", "spheres.json"])
    (root / "spheres.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DescriptionError, match=r"needs a \.urdf and config\.json, or for a bench"):
        RobotDescription.load(root)
    robot = copied(R1400, tmp_path)
    edit(robot / "manifest.json", files=["config.json"])
    with pytest.raises(DescriptionError, match=r"needs one \.urdf file at the top; got none"):
        RobotDescription.load(robot)


@pytest.mark.parametrize("key", ["base", "tool", "work"])
def test_frames_that_nothing_has(key: str, r1400: Path) -> None:
    """R32: base, tool and work are links or surfaces."""
    edit(r1400 / "config.json", "frames", **{key: "nowhere"})
    with pytest.raises(DescriptionError, match=rf"config\.json: frames\.{key}: .*'nowhere'"):
        RobotDescription.load(r1400)


def test_surfaces_are_on_links_and_called_otherwise(r1400: Path) -> None:
    """R32: a surface hangs from a link and does not share a link's name."""
    edit(r1400 / "config.json", "surfaces", tool0={"link": "nowhere", "xyz_m": [0, 0, 0]})
    found = check_description(r1400)
    assert any("surfaces.tool0: a link of the URDF has this name" in f for f in found)
    assert any("surfaces.tool0.link: there is no link 'nowhere'" in f for f in found)
    with pytest.raises(UnknownName):
        frame_poses(described().planner_view.model, described().planner_view.config, "x", [[0] * 9])


@pytest.mark.parametrize("name", ROBOTS)
def test_the_electrode_axis(name: str, tmp_path: Path) -> None:
    """R33: a unit vector in the tool frame, +x of both robots; any other length is refused."""
    root = copied(name, tmp_path)
    assert RobotDescription.load(root).planner_view.config.torch.electrode_axis == (1, 0, 0)
    edit(root / "config.json", "torch", electrode_axis=[0.6, 0, 0.8])
    assert RobotDescription.load(root)
    edit(root / "config.json", "torch", electrode_axis=[1, 0, 1e-4])
    with pytest.raises(DescriptionError, match=r"torch\.electrode_axis: not a unit vector"):
        RobotDescription.load(root)


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


def test_the_planner_takes_the_lesser_rate() -> None:
    """R45: the config's rates, narrowed by the calibration."""
    plans = {p.joint: p for p in planning_numbers(described()).driven}
    assert (plans["J2"].velocity, plans["J2"].acceleration) == (1.4, 4.0)
    cell = read(limits={"J2": {"velocity": 1.1, "lower": -1.0}, "J1": {"upper": 2.0}})
    plans = {p.joint: p for p in planning_numbers(described(), cell).driven}
    assert (plans["J2"].velocity, plans["J2"].lower, plans["J2"].upper) == (1.1, -1.0, 2.3)
    assert (plans["J1"].velocity, plans["J1"].lower, plans["J1"].upper) == (1.5, -2.9, 2.0)


def test_a_calibration_that_holds_a_driven_axis() -> None:
    """R26: it is no longer planned."""
    numbers = planning_numbers(described(), read(held_joints={"J7": 0.5}))
    assert [plan.joint for plan in numbers.driven] == ARM
    assert numbers.held == {"J7": 0.5, "J8": 0.0, "J9": 0.0}


def test_a_description_lowers_and_never_raises(r1400: Path) -> None:
    """R46: as fast as the URDF is allowed; the next number is refused at the load."""
    edit(r1400 / "config.json", "planning", "velocity", J2=3.0)
    assert RobotDescription.load(r1400)
    edit(r1400 / "config.json", "planning", "velocity", J2=math.nextafter(3.0, 4))
    with pytest.raises(DescriptionError, match=r"planning\.velocity\.J2: .* above the URDF's 3\.0"):
        RobotDescription.load(r1400)


def test_rt_core_holds_to_the_rating() -> None:
    """R47: travel and velocity of the URDF, above what is planned with."""
    view = described().rt_view
    j2 = next(axis for axis in view.axes if axis.joint == "J2")
    assert (j2.lower, j2.upper, j2.velocity) == (-1.6, 2.3, 3.0)
    assert view.violations({"J2": 2.3}, {"J2": -3.0}) == []  # planned with 1.4
    assert len(view.violations({"J2": 2.4}, {"J2": -3.1})) == 2
    assert view.violations({"J2": math.nan}, {}) != []


@pytest.mark.parametrize(
    ("keys", "changes", "match"),
    [
        ((), {"driven_joints": ["J1"]}, "joint 'J2' is not driven or held"),
        ((), {"driven_joints": []}, "needs at least one joint"),
        (("held_joints",), {"J1": 0}, "held_joints.J1: driven as well"),
        (("held_joints",), {"tool": 0}, "joint 'tool' is not an axis of the URDF"),
        (("held_joints",), {"J8": 3.2}, "held_joints.J8: 3.2 is outside"),
        (("reset_pose",), {"J2": -2}, "reset_pose.J2: -2.0 is outside"),
        (("reset_pose",), {"J2": None}, "reset_pose: joint 'J2' is not given"),
        (("planning", "acceleration"), {"J9": 1}, "joint 'J9' is not asked for here"),
        (("rt", "jog_acceleration"), {"J9": None}, "joint 'J9' is not given"),
    ],
)
def test_joints_of_the_config(
    keys: tuple[str, ...], changes: dict[str, Any], match: str, r1400: Path
) -> None:
    """R32, R42: every axis is driven or held, once, and has what its use needs."""
    edit(r1400 / "config.json", *keys, **changes)
    with pytest.raises(DescriptionError) as caught:
        RobotDescription.load(r1400)
    assert match in str(caught.value)


@pytest.mark.parametrize(
    ("file", "old", "new", "match"),
    [
        ("spheres.json", '"link_1"', '"link_9"', "spheres.link_9: there is no link"),
        ("rtcore_definition.json", '"J9"', '"tool"', "'tool' is not an axis"),
        ("rtcore_definition.json", '"J9"', '"J8"', "no motor turns joint 'J9'"),
        ("rtcore_definition.json", '"M2"', '"M1"', "a second motor 'M1'"),
        (f"{R1400}.srdf", 'value="0"', 'value="nan"', "'nan' is not a finite number"),
        (f"{R1400}.srdf", "</robot>", "", "not well-formed XML"),
        (f"{R1400}.urdf", "</robot>", "", "not well-formed XML"),
        (f"{R1400}.urdf", 'velocity="1.8"', "", "joint 'J7' has no velocity in the URDF"),
        (f"{R1400}.urdf", 'lower="-3.1"', "", "joint 'J7' has no lower and upper limit"),
    ],
)
def test_files_that_contradict_each_other(
    file: str, old: str, new: str, match: str, r1400: Path
) -> None:
    """R5, R7: names in one file are the URDF's, and faults say the file."""
    replace(r1400 / file, old, new)
    assert any(match in fault for fault in check_description(r1400))
