"""The planner's view and rt-core's, and what a description has to be for both."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

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
from grid_core.errors import DescriptionError, InputError, UnknownName
from tests.description.calibrations import described, read
from tests.description.directories import BENCHES, FIXTURES, R1400, ROBOTS, copied, edit

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
    view = described().planner_view
    with pytest.raises(InputError, match=r"q must be \(B, nq=9\); got \(1, 7\)"):
        frame_poses(view.model, view.config, "tool0", [[0] * 7])
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
