"""Robots kept by name, for this process and others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import grid_core
from grid_core.errors import (
    CacheError,
    ModelError,
    OptionError,
    UnknownAlgorithm,
    UnknownName,
    UnknownRobot,
)
from tests.plugins.builders import ARM

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("GRID_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data" / "robots"


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM, encoding="utf-8")
    return path


OPTIONS: dict[str, Any] = {"backend": "reference", "algorithm_list": "inverse_dynamics"}


def test_a_robot_survives_its_file(urdf: Path) -> None:
    grid_core.register_robot("my-arm", urdf, **OPTIONS, ee_joint_names=["tool"])
    urdf.unlink()
    robot = grid_core.get_robot("my-arm")
    assert (robot.name, robot.nq, robot.num_ees) == ("my-arm", 2, 1)
    assert robot.algorithms == ("inverse_dynamics",)
    assert robot.inverse_dynamics(np.zeros(2), np.zeros(2)).shape == (2,)


def test_another_process_finds_it() -> None:
    grid_core.register_robot("my-arm", urdf_string=ARM, **OPTIONS)
    code = "import grid_core; print(grid_core.list_registered(), grid_core.get_robot('my-arm').nq)"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=os.environ
    )
    assert done.stdout.strip() == "('my-arm',) 2"


def test_options_can_be_replaced_when_it_is_loaded() -> None:
    grid_core.register_robot("my-arm", urdf_string=ARM, **OPTIONS)
    assert not grid_core.get_robot("my-arm").floating_base
    robot = grid_core.get_robot("my-arm", floating_base=True, algorithm_list=["crba"])
    assert robot.floating_base
    assert robot.algorithms == ("crba",)


def test_every_kind_of_option_is_kept(tmp_path: Path) -> None:
    grid_core.register_robot(
        "my-arm",
        urdf_string=ARM.encode(),
        backend="reference",
        dtype=np.float64,
        cache_dir=tmp_path,
        algorithm_list=(name for name in ["crba"]),
        ee_joint_names=("tool", "elbow"),
        num_threads=np.int64(2),
        use_joint_dynamics=np.True_,
        strict=None,
    )
    robot = grid_core.get_robot("my-arm")
    assert (robot.algorithms, robot.num_ees, robot.name) == (("crba",), 2, "my-arm")
    assert robot.options.use_joint_dynamics


def test_the_names_are_listed_sorted_and_replaced_when_it_is_asked_for(folder: Path) -> None:
    assert grid_core.list_registered() == ()
    for name in ("b", "a.2", "b"):
        grid_core.register_robot(name, urdf_string=ARM, replace=True)
    assert grid_core.list_registered() == ("a.2", "b")
    assert sorted(p.name for p in folder.iterdir() if p.suffix == ".json") == ["a.2.json", "b.json"]
    assert not list(folder.glob("*.tmp"))


def test_a_name_that_is_taken_is_refused(folder: Path) -> None:
    grid_core.register_robot("b", urdf_string=ARM)
    with pytest.raises(OptionError, match=r"'b' is registered already; give replace=True"):
        grid_core.register_robot("b", urdf_string=ARM, dtype="float64")
    assert json.loads((folder / "b.json").read_text(encoding="utf-8"))["options"] == {}
    for name in ("iiwa14", "GO2"):
        with pytest.raises(OptionError, match=f"'{name}' is a robot that comes with Grid"):
            grid_core.register_robot(name, urdf_string=ARM, replace=True)
    with pytest.raises(OptionError, match="replace must be True or False; got 'yes'"):
        grid_core.register_robot("c", urdf_string=ARM, replace="yes")  # type: ignore[arg-type]
    assert not list(folder.glob("*.tmp"))


def test_a_name_given_for_a_path_or_the_other_way_is_told_what_loads_it() -> None:
    grid_core.register_robot("my-arm", urdf_string=ARM)
    with pytest.raises(ModelError, match=r"'my-arm' is a registered robot: .*get_robot\('my-arm'"):
        grid_core.load_robot("my-arm")
    with pytest.raises(ModelError, match=r"no such file; 'iiwa14' comes with Grid: .*asset_path"):
        grid_core.load_robot("iiwa14")
    with pytest.raises(UnknownRobot, match=r"'iiwa14'; it comes with Grid: .*asset_path\('iiwa14'"):
        grid_core.get_robot("iiwa14")


@pytest.mark.parametrize(
    "name", ["", "../evil", "a/b", "a\\b", ".hidden", "-x", "a b", "é", "a\n", "x" * 101, None, 3]
)
def test_a_name_that_could_be_a_path_is_refused(name: Any) -> None:
    with pytest.raises(OptionError, match="a robot's name has letters, digits"):
        grid_core.register_robot(name, urdf_string=ARM)


def test_an_unknown_robot_is_answered_with_the_near_ones() -> None:
    grid_core.register_robot("my-arm", urdf_string=ARM)
    with pytest.raises(UnknownRobot) as caught:
        grid_core.get_robot("my-amr")
    assert str(caught.value) == (
        "no robot is registered as 'my-amr' (did you mean 'my-arm'?); there are my-arm"
    )
    assert isinstance(caught.value, KeyError)
    with pytest.raises(UnknownRobot):
        grid_core.get_robot("../my-arm")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"urdf_string": "<robot"}, ModelError),
        ({"source": "nowhere.urdf"}, ModelError),
        ({}, OptionError),
        ({"urdf_string": ARM, "source": "a.urdf"}, OptionError),
        ({"urdf_string": ARM, "num_threads": 0}, OptionError),
        ({"urdf_string": ARM, "num_treads": 1}, OptionError),
        ({"urdf_string": ARM, "dtype": "float16"}, OptionError),
        ({"urdf_string": ARM, "algorithm_list": ["crab"]}, UnknownAlgorithm),
        ({"urdf_string": ARM, "backend": "gpu"}, UnknownAlgorithm),
        ({"urdf_string": ARM, "ee_joint_names": ["gripper"]}, UnknownName),
    ],
)
def test_what_could_not_be_loaded_is_not_registered(
    given: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        grid_core.register_robot("my-arm", **given)
    assert grid_core.list_registered() == ()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 99, "options": {}}', "\udcff"])
def test_a_damaged_file_is_named(folder: Path, text: str) -> None:
    grid_core.register_robot("my-arm", urdf_string=ARM)
    path = folder / "my-arm.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ModelError, match="register again") as caught:
        grid_core.get_robot("my-arm")
    assert caught.value.file == str(path)


def test_the_file_can_be_read_by_others(folder: Path) -> None:
    grid_core.register_robot("my-arm", urdf_string=ARM, dtype="float64")
    entry = json.loads((folder / "my-arm.json").read_text(encoding="utf-8"))
    assert entry == {
        "format": 1,
        "name": "my-arm",
        "urdf": ARM,
        "options": {"dtype": "float64"},
    }


def test_a_folder_that_cannot_be_written_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GRID_DATA_DIR", str(tmp_path / "file"))
    with pytest.raises(CacheError, match="GRID_DATA_DIR names another"):
        grid_core.register_robot("my-arm", urdf_string=ARM)


def test_the_folder_is_the_users_own_by_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("GRID_DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    grid_core.register_robot("my-arm", urdf_string=ARM)
    assert (tmp_path / "grid/robots/my-arm.json").exists()
