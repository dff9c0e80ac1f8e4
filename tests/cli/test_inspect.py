"""``grid inspect``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Grid

CASES = Path(__file__).parents[1] / "cases"


def test_the_arm(grid: Grid, arm: Path) -> None:
    result = grid("inspect", arm)
    assert result.stderr == ""
    assert "iiwa14: fixed base" in result.stdout
    assert "nq=7  nv=7  joints=7  bodies=7" in result.stdout


def test_the_tree_is_indented_and_slots_are_shown(grid: Grid) -> None:
    lines = grid("inspect", "go2").stdout.splitlines()
    assert "go2: floating base, root link base" in lines
    (base, _) = [x.split() for x in lines if " root_joint " in x]
    assert base == ["0", "root_joint", "floating", "-1", "base", "0:7", "0:6", "-"]
    assert any(
        x.startswith(" 2      FL_thigh_joint   revolute       1  FL_thigh  8 ") for x in lines
    )
    assert "moving mass 16.085 kg" in lines
    assert lines[-1].startswith("note: ")


def test_floating_and_fixed(grid: Grid) -> None:
    assert "nq=14  nv=13" in grid("inspect", "iiwa14", "--floating").stdout
    assert "nq=12  nv=12" in grid("inspect", "go2", "--fixed").stdout


def test_nothing_is_cut_in_a_pipe(grid: Grid) -> None:
    text = grid("inspect", CASES / "17_deep_chain_200.urdf").stdout
    rows = [line.split() for line in text.splitlines() if line.startswith("199 ")]
    assert [row[1] for row in rows] == ["d200", "d200"]
    assert not set("│─┃━…\x1b") & set(text)


def test_mimicking_joints_name_their_leader(grid: Grid) -> None:
    text = grid("inspect", CASES / "03_mimic_chain.urdf").stdout
    assert "-6 * driver + 0.65" in text or " * " in text
    (row,) = [x.split() for x in text.splitlines() if " * " in x][:1]
    assert "-" in row


def test_warnings_come_last_and_once(grid: Grid) -> None:
    result = grid("inspect", CASES / "30_triangle_violation.urdf")
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"warning: {CASES / '30_triangle_violation.urdf'}:8: <inertial> 'a'")
    assert result.output.endswith(line + "\n")


def test_strict_refuses(fails: Any) -> None:
    assert "an inertia that no body has" in fails(
        "inspect", CASES / "30_triangle_violation.urdf", "--strict"
    )


def test_json(grid: Grid) -> None:
    result = grid("inspect", "go2", "--json")
    model = json.loads(result.stdout)
    assert (model["nq"], model["nv"], model["floating_base"]) == (19, 18, True)
    assert model["joints"][1]["axis"] == [1.0, 0.0, 0.0]
    assert model["joints"][1]["limits"]["effort"] == 23.7
    assert model["end_effectors"][0] == "FL_calf_joint"
    assert model["warnings"] == []
    assert "outside the limits" in model["notes"][0]
    assert len(model["links"]) == 30


def test_json_keeps_warnings_apart_from_notes(grid: Grid) -> None:
    model = json.loads(grid("inspect", CASES / "30_triangle_violation.urdf", "--json").stdout)
    assert len(model["warnings"]) == 1
    assert model["notes"] == []


def test_a_robot_without_joints(grid: Grid) -> None:
    assert "end effectors: none" in grid("inspect", CASES / "33_single_link.urdf").stdout


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("10_multi_root", "2 root links"),
        ("11a_cycle", "links form a ring"),
        ("14a_nan_origin", "'nan' is not a finite number"),
        ("16a_entity_bomb", "refused unread"),
        ("28a_mimic_missing", "which does not exist"),
    ],
)
def test_a_broken_description_is_one_line(fails: Any, name: str, message: str) -> None:
    assert message in fails("inspect", CASES / f"{name}.urdf")


def test_what_is_no_robot(fails: Any, tmp_path: Path) -> None:
    assert "the document is empty" in fails("inspect", "/dev/null")
    assert "no model source takes" in fails("inspect", tmp_path)
    line = fails("inspect", "iiwa15")
    assert "there is no file 'iiwa15', and no robot is called that (did you mean 'iiwa14'?)" in line
    assert fails("inspect", "a\0b").startswith("error: there is no file")
    assert fails("inspect", "x" * 5000).startswith("error: there is no file")


def test_what_a_terminal_would_obey_is_written_out(grid: Grid, tmp_path: Path) -> None:
    """Names may hold anything; a terminal, or who reads lines, gets it escaped."""
    path = tmp_path / "x.urdf"
    path.write_text(
        """<robot name="a\x9b31m&#10;b"><link name="root\u202e"/><link name="tip\x7f"/>
        <joint name="j\x85k" type="revolute"><parent link="root\u202e"/><child link="tip\x7f"/>
        <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>""",
        encoding="utf-8",
    )
    result = grid("inspect", path)
    assert all(c.isprintable() or c == "\n" for c in result.output)
    assert result.stdout.startswith("a\\x9b31m\\nb: fixed base, root link root\\u202e\n")
    assert "end effectors: j\\x85k" in result.stdout
    assert "tip\\x7f" in result.stdout
    error = grid("run", "crba", f"{tmp_path}/\x1b[31m.urdf", code=2).stderr
    assert "\x1b" not in error
