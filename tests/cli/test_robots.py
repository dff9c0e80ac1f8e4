"""``grid robots``, and which robot a name means."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grid_core import get_robot
from grid_core.assets import asset_path

if TYPE_CHECKING:
    from tests.cli.conftest import Grid


@pytest.fixture(autouse=True)
def _empty(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)


def test_robots_that_come_along_are_listed(grid: Grid) -> None:
    lines = grid("robots", "list").stdout.splitlines()
    assert [line.split()[:5] for line in lines[1:]] == [
        ["iiwa14", "Grid", "fixed", "7", "7"],
        ["go2", "Grid", "floating", "19", "18"],
    ]


def test_add_list_use_remove(grid: Grid, arm: Path) -> None:
    assert f"left: registered from {arm}" in grid("robots", "add", "left", arm).stdout
    assert "left: replaced" in grid("robots", "add", "left", arm, "--floating", "--force").stdout
    listed = json.loads(grid("robots", "list", "--json").stdout)
    assert listed[0]["name"] == "left"
    assert (listed[0]["from"], listed[0]["base"]) == ("registry", "floating")
    assert "floating base" in grid("inspect", "left").stdout
    assert "fixed base" in grid("inspect", "left", "--fixed").stdout
    assert grid("robots", "remove", "left").stdout == "left: removed\n"
    assert "registry" not in grid("robots", "list").stdout


def test_no_robot_is_replaced_unasked(grid: Grid, fails: Any, arm: Path) -> None:
    grid("robots", "add", "left", arm)
    line = fails("robots", "add", "left", arm, "--floating")
    assert line == "error: 'left' is registered already; --force replaces it"
    assert not get_robot("left").floating_base
    assert "left: replaced" in grid("robots", "add", "left", arm, "--floating", "--force").stdout
    assert get_robot("left").floating_base
    assert "right: registered" in grid("robots", "add", "right", arm, "--force").stdout


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_the_names_of_bundled_robots_are_taken(fails: Any, arm: Path, force: Any) -> None:
    assert "'go2' is a robot that comes with Grid" in fails("robots", "add", "go2", arm, *force)


def test_options_are_kept(grid: Grid, arm: Path) -> None:
    grid("robots", "add", "left", arm, "--dtype", "float64", "--backend", "reference")
    handle = get_robot("left")
    assert (handle.dtype, handle.backend) == ("float64", "reference")
    assert "on reference, float64" in grid("run", "crba", "left", "--batch", 2).stdout
    assert "on cpu" in grid("run", "crba", "left", "--batch", 2, "--backend", "cpu").stdout


def test_a_bundled_robot_can_be_registered(grid: Grid) -> None:
    grid("robots", "add", "dog", "go2")
    assert "floating base" in grid("inspect", "dog").stdout


def test_a_damaged_entry_does_not_hide_the_others(grid: Grid, arm: Path, data_dir: Path) -> None:
    grid("robots", "add", "left", arm)
    grid("robots", "add", "right", arm)
    (data_dir / "robots" / "left.json").write_text("{")
    lines = grid("robots", "list").stdout.splitlines()
    assert "cannot be read" in lines[1]
    assert lines[2].startswith("right ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add", "../up", "iiwa14"), "a robot's name has letters"),
        (("add", "left", "nowhere.urdf"), "there is no file 'nowhere.urdf'"),
        (("add", "left", "iiwa14", "--backend", "gpu"), "no backend is called 'gpu'"),
        (("remove", "left"), "no robot is registered as 'left'; there are none"),
        (("remove", "go2"), "'go2' comes with Grid"),
    ],
)
def test_mistakes(fails: Any, arguments: tuple[str, ...], message: str) -> None:
    assert message in fails("robots", *arguments)


def test_a_registered_robot_is_not_registered_again(grid: Grid, fails: Any, arm: Path) -> None:
    grid("robots", "add", "left", arm)
    assert "'left' is registered already" in fails("robots", "add", "right", "left")


def test_a_file_comes_first_then_the_registry_then_what_comes_along(grid: Grid) -> None:
    assert "go2: floating" in grid("inspect", "go2").stdout
    grid("robots", "add", "dog", "iiwa14")
    assert "dog: fixed base, root link iiwa_link_0" in grid("inspect", "dog").stdout
    for name in ("go2", "dog"):
        shutil.copy(asset_path("go2"), name)
        assert "go2: fixed base, root link base" in grid("inspect", name).stdout


def test_a_folder_hides_no_robot(grid: Grid) -> None:
    Path("go2").mkdir()
    assert "go2: floating" in grid("inspect", "go2").stdout
