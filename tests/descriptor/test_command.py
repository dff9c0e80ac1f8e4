"""``grid describe``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import grid_core
from grid_core.assets import asset_path
from grid_core.cli.root import cli
from grid_core.descriptor import load_descriptor
from tests.descriptor.robots import HERE, descriptor, path, text

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


def grid(*arguments: Any, code: int = 0) -> Result:
    done = CliRunner().invoke(cli, ["describe", *map(str, arguments)], prog_name="grid")
    assert done.exit_code == code, f"{done.output}\n{done.exception!r}"
    assert "Traceback" not in done.stderr
    return done


def test_prints_the_descriptor() -> None:
    """D1: the command and the function say the same."""
    assert json.loads(grid(path("fixed_arm")).stdout) == descriptor("fixed_arm")
    assert json.loads(grid(path("floating"), "--floating").stdout) == descriptor("floating")


def test_writes_a_file_that_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "model_descriptor.json"
    assert grid(path("ball"), "-o", file).stdout == ""
    assert load_descriptor(file) == descriptor("ball")
    assert json.loads(grid(file).stdout) == descriptor("ball")


def test_takes_the_names_of_robots() -> None:
    grid_core.register_robot("described", urdf_string=text("ball"))
    assert json.loads(grid("described").stdout) == descriptor("ball")
    iiwa = grid_core.describe_model(asset_path("iiwa14"))
    assert json.loads(grid("iiwa14").stdout) == iiwa


def test_says_what_differs(tmp_path: Path) -> None:
    edited = tmp_path / "edited.urdf"
    edited.write_text(text("fixed_arm").replace('upper="2.25"', 'upper="2"'), encoding="utf-8")
    said = "the upper limit of joint 'shoulder' narrowed from 2.25 to 2.0 rad\n"
    assert grid("--diff", path("fixed_arm"), edited, code=1).stdout == said
    saved = HERE / "golden" / "fixed_arm.json"
    assert grid("--diff", saved, edited, code=1).stdout == said
    assert grid("--diff", saved, path("fixed_arm")).stdout == "no difference\n"


def test_writes_differences_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "differences.txt"
    grid("--diff", path("ball"), path("ball"), "-o", file)
    assert file.read_text(encoding="utf-8") == "no difference\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.urdf", "b.urdf"], "describe needs one robot (--diff compares two); got 2"),
        (["--diff", "a.urdf"], "describe needs two robots; got 1"),
        ([], "Missing argument"),
        (["nowhere.urdf"], "there is no file 'nowhere.urdf'"),
        ([path("ball"), "-o", "nowhere/x.json"], "nowhere/x.json cannot be written"),
    ],
)
def test_says_what_is_wrong(arguments: list[Any], message: str) -> None:
    assert message in grid(*arguments, code=2).stderr


def test_a_damaged_descriptor_is_refused(tmp_path: Path) -> None:
    """D35: a saved descriptor is checked before anything is said of it."""
    file = tmp_path / "edited.json"
    saved = (HERE / "golden" / "ball.json").read_text(encoding="utf-8")
    file.write_text(saved.replace('"q_start": 4', '"q_start": 3'), encoding="utf-8")
    assert "overlaps the block before it, which ends at 4 [ownership]" in grid(file, code=2).stderr


def test_strict_refuses_what_is_suspicious(tmp_path: Path) -> None:
    file = tmp_path / "loose.urdf"
    file.write_text(text("ball").replace(' effort="1"/>', ' effort="-1"/>'), encoding="utf-8")
    assert "a negative bound" in grid(file).stderr
    assert "a negative bound" in grid(file, "--strict", code=2).stderr
