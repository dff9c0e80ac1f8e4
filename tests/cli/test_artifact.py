"""``grid artifact``: build, check, show."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import grid_core
from grid_core.assets import asset_path

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Grid

QUICK = ("--backend", "cpu", "--instruction-set", "x86-64-v3")


@pytest.fixture
def place(tmp_path: Path, grid: Grid) -> Path:
    grid("artifact", "build", "iiwa14", tmp_path / "a", *QUICK, "--algorithm-list", "crba,minv")
    return tmp_path / "a"


def test_build_says_what_it_made(tmp_path: Path, grid: Grid) -> None:
    words = ("artifact", "build", "iiwa14", tmp_path / "b", *QUICK, "--algorithm-list", "crba")
    lines = grid(*words).stdout.splitlines()
    own = grid_core.describe_model(asset_path("iiwa14"))["descriptor_id"]
    assert lines[0].startswith(f"{tmp_path / 'b'}: built: 4 files, ")
    assert lines[1].startswith("content_id ")
    assert lines[2] == f"descriptor_id {own}"
    robot = grid_core.load_artifact(tmp_path / "b", expected_descriptor_id=own)
    assert robot.algorithms == ("crba",)


def test_build_takes_calls_and_options(tmp_path: Path, grid: Grid) -> None:
    grid(
        "artifact", "build", "go2", tmp_path / "c", *QUICK, "--dtype", "float64",
        "--algorithm-list", "frame_jacobian,inverse_dynamics,end_effector_pose_runtime",
        "--call", "inverse_dynamics:f_ext",
        "--call", "frame_jacobian:frame=FL_foot,reference_frame=local",
        "--call", 'end_effector_pose_runtime:{"ee_joint_names": ["FR_foot_joint"]}',
        "-t", "imu_joint,RL_foot_joint", "--convention", "mujoco",
    )  # fmt: skip
    robot: Any = grid_core.load_artifact(tmp_path / "c")
    q = robot.random_configuration(0, 2)
    assert robot.floating_base
    assert robot.ee_joint_names == ("imu_joint", "RL_foot_joint")
    assert robot.options.output_convention == "mujoco"
    assert robot.frame_jacobian(q, "FL_foot", "local").shape == (2, 6, 18)
    assert robot.end_effector_pose_runtime(q, "FR_foot_joint").shape == (2, 1, 6)
    assert (
        robot.inverse_dynamics(q, q[:, 1:], f_ext=[[[0.0] * 6] * robot.nb] * 2).dtype == "float64"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("crba", "write OPERATION:ARGUMENTS"),
        ("crba:{", "not JSON"),
        ("inverse_dynamics:f_ext", "'inverse_dynamics' is not prepared"),
        ("crba:gravty", "there is no argument 'gravty'"),
    ],
)
def test_a_wrong_call_is_answered(tmp_path: Path, fails: Any, call: str, message: str) -> None:
    words = ("build", "iiwa14", tmp_path / "a", *QUICK, "--algorithm-list", "crba", "--call", call)
    assert message in fails("artifact", *words)


def test_check_says_where_it_runs(place: Path, grid: Grid) -> None:
    lines = grid("artifact", "check", place).stdout.splitlines()
    assert lines[0] == f"{place}: sound: 5 files of 'iiwa14'"
    assert lines[3] == "cpu: runs here, with x86-64-v3"
    own = lines[2].removeprefix("descriptor_id ")
    grid("artifact", "check", place, "--expect", own)


def test_check_fails_on_another_robot_and_on_damage(place: Path, grid: Grid, fails: Any) -> None:
    said = grid("artifact", "check", place, "--expect", "ab" * 32, code=1).stdout
    assert f"{'ab' * 32} is expected" in said
    (place / "grid.cuh").write_text("")
    said = grid("artifact", "check", place, code=1).stdout
    assert said.startswith(f"{place}/grid.cuh: 0 bytes, where ")
    assert "no such folder" in grid("artifact", "check", place / "x", code=1).stdout
    assert "64 hex digits" in fails("artifact", "check", place, "--expect", "x")


def test_show_lists_what_there_is(place: Path, grid: Grid, fails: Any) -> None:
    text = grid("artifact", "show", place).stdout
    assert "iiwa14: nq=7, nv=7, float32" in text
    assert "cpu: x86-64-v3" in text
    assert [line.split()[0] for line in text.splitlines()[-2:]] == ["crba", "minv"]
    data = json.loads(grid("artifact", "show", place, "--json").stdout)
    assert data == json.loads((place / "artifact.json").read_text())
    assert "no such folder" in fails("artifact", "show", place / "x")


def test_build_expects(tmp_path: Path, fails: Any) -> None:
    words = ("build", "iiwa14", tmp_path / "a", *QUICK, "--expect", "cd" * 32)
    assert f"{'cd' * 32} is expected" in fails("artifact", *words)
    assert not list(tmp_path.iterdir())
