"""``~`` in what the command line reads as a path."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Grid


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arm: Path) -> Path:
    """Return a home folder with the arm in it, from elsewhere."""
    place = tmp_path / "home"
    place.mkdir()
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(arm, place / "arm.urdf")
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.chdir(tmp_path / "elsewhere")
    return place


def test_robots_inputs_and_outputs(grid: Grid, home: Path) -> None:
    np.savez(home / "q.npz", q=np.zeros((1, 7)))
    grid("run", "crba", "~/arm.urdf", "--backend", "reference", "--input=~/q.npz",
         "--output=~/M.npz")  # fmt: skip
    assert np.load(home / "M.npz")["M"].shape == (1, 7, 7)
    assert "iiwa14" in grid("inspect", "~/arm.urdf").stdout
    grid("describe", "~/arm.urdf", "-o", "~/descriptor.json")
    assert grid("describe", "--diff", "~/descriptor.json", "~/arm.urdf").stdout == (
        "no difference\n"
    )
    grid("plot", "~/arm.urdf", "-o", "~/arm.svg")
    assert (home / "arm.svg").exists()


def test_robots_are_added_from_there(grid: Grid, home: Path, data_dir: Path) -> None:
    del data_dir
    assert f"registered from {home}/arm.urdf" in grid("robots", "add", "arm", "~/arm.urdf").stdout


def test_folders(fails: Any, grid: Grid, home: Path) -> None:
    (home / "empty").mkdir()
    assert f"{home}/empty" in grid("description", "check", "~/empty", code=1).stdout
    for command in (
        ("description", "identity", "~/empty"),
        ("machine", "compile", "~/none.json", "-o", "~/out"),
        ("check-load", "~/none.program", "~/empty"),
    ):
        assert str(home) in fails(*command)


def test_a_file_that_is_called_so_comes_first(grid: Grid, home: Path) -> None:
    shutil.copy(home / "arm.urdf", "~arm.urdf")
    assert "iiwa14" in grid("inspect", "~arm.urdf").stdout


def test_nobody_s_home(fails: Any, home: Path) -> None:
    del home
    line = fails("inspect", "~no-such-user/arm.urdf")
    assert "ROBOT='~no-such-user/arm.urdf': there is no user with a home folder" in line
    line = fails("run", "crba", "go2", "--input", "~no-such-user/q.npz")
    assert line.startswith("error: --input='~no-such-user/q.npz': there is no user")


def test_nothing_is_no_path(grid: Grid, home: Path) -> None:
    """A variable that is not set must not mean the folder one is in."""
    del home
    said = grid("artifact", "build", "iiwa14", "", code=2).stderr
    assert "the path is empty" in said
