"""Every option is checked before anything is read, and says what it may be."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import grid_core
from grid_core import cores, load_options
from grid_core.cores import available_cores
from grid_core.errors import ArgumentError, OptionError, UnknownName
from grid_core.load_options import DEFAULT_DTYPE, LoadOptions, default_cache_dir
from tests.plugins.builders import load_arm

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("dtype", "float16", "dtype must be float32 or float64; got 'float16'"),
        ("dtype", "half a number", "dtype must be float32 or float64; got 'half a number'"),
        ("dtype", int, "dtype must be float32 or float64"),
        ("dtype", 7, "dtype must be float32 or float64; got 7"),
        ("backend", 3, "backend must be a name; got 3"),
        ("backend", "", "backend must be a name; got ''"),
        ("output_convention", "drake", "output_convention must be pinocchio or mujoco"),
        ("output_convention", ["pinocchio"], "output_convention must be pinocchio"),
        ("num_threads", 0, "num_threads must be an integer of at least 1; got 0"),
        ("num_threads", 1.0, "num_threads must be an integer of at least 1; got 1.0"),
        ("num_threads", True, "num_threads must be an integer of at least 1; got True"),
        ("floating_base", "yes", "floating_base must be True or False; got 'yes'"),
        ("use_joint_dynamics", 1, "use_joint_dynamics must be True or False; got 1"),
        ("strict", 1, "strict must be True or False; got 1"),
        ("name", "", "name must be a name; got ''"),
        ("cache_dir", "", "cache_dir must be a folder; got ''"),
        ("cache_dir", 3, "cache_dir must be a folder; got 3"),
        ("algorithm_list", 3, "algorithm_list must be a name or a list of names; got 3"),
        ("algorithm_list", ["aba", 3], "algorithm_list must be a name or a list of names"),
        ("ee_joint_names", [], "ee_joint_names is empty; leave it out"),
        ("ee_joint_names", ["a", "a"], "ee_joint_names names 'a' twice"),
        ("ee_joint_names", [1], "ee_joint_names must be a name or a list of names"),
    ],
)
def test_a_value_that_an_option_cannot_have_is_refused(
    option: str, value: Any, message: str
) -> None:
    with pytest.raises(OptionError) as caught:
        grid_core.load_robot("there is no such file.urdf", **{option: value})
    assert message in str(caught.value)


def test_an_unknown_option_is_answered_with_the_near_ones() -> None:
    with pytest.raises(OptionError, match=r"no option 'num_thread' \(did you mean 'num_threads'"):
        LoadOptions.check({"num_thread": 3})


def test_an_unknown_option_of_a_load_is_answered_alike() -> None:
    loads: tuple[Any, ...] = (grid_core.load_robot, grid_core.register_robot)
    for load in loads:
        with pytest.raises(OptionError, match=r"'float_base' \(did you mean 'floating_base'\?\)"):
            load("arm", float_base=True)
    with pytest.raises(ArgumentError, match="load_robot: 2 positional arguments; it is load_robot"):
        loads[0]("arm", "cpu")


def test_the_signature_shows_the_defaults() -> None:
    parameters = inspect.signature(grid_core.load_robot).parameters
    assert repr(parameters["dtype"].default) == "'float32'"
    shown = {name: p.default for name, p in parameters.items() if name != "dtype"}
    assert shown == {
        "source": None,
        "urdf_string": None,
        "floating_base": False,
        "algorithm_list": None,
        "backend": "auto",
        "ee_joint_names": None,
        "output_convention": "pinocchio",
        "name": None,
        "cache_dir": None,
        "num_threads": None,
        "use_joint_dynamics": False,
        "regressor_terms": None,
        "runtime_inertia": False,
        "runtime_transform": False,
        "strict": False,
        "device": None,
        "calibration": None,
    }


@pytest.mark.parametrize("dtype", ["float64", np.float64, np.dtype("float64"), float, "double"])
def test_a_dtype_may_be_given_as_numpy_takes_it(dtype: Any) -> None:
    assert LoadOptions.check({"dtype": dtype}).dtype == "float64"


def test_float32_by_default_is_told_from_float32_by_wish() -> None:
    assert LoadOptions.check({"dtype": DEFAULT_DTYPE}).dtype is None
    assert LoadOptions.check({"dtype": "float32"}).dtype == "float32"


def test_the_cache_is_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GRID_CACHE_DIR", str(tmp_path / "cache"))
    assert LoadOptions.check({}).cache_dir == tmp_path / "cache"
    assert LoadOptions.check({"cache_dir": tmp_path}).cache_dir == tmp_path
    monkeypatch.delenv("GRID_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_dir() == tmp_path / "grid"


def test_threads_are_the_physical_cores_that_the_process_may_use(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for cpu, siblings in enumerate(["0,4", "1,5", "2,6", "3,7"] * 2):
        folder = tmp_path / f"cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{siblings}\n")
    monkeypatch.setattr(cores, "_TOPOLOGY", tmp_path)
    monkeypatch.setattr(cores, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 4, 5, 6})
    assert available_cores() == 3
    for text, count in [("max 100000", 3), ("150000 100000", 2), ("1000 100000", 1), ("?", 3)]:
        (tmp_path / "cpu.max").write_text(text)
        assert available_cores() == count
    monkeypatch.setattr(cores, "_TOPOLOGY", tmp_path / "nowhere")
    assert available_cores() == 5
    monkeypatch.delattr(os, "sched_getaffinity")
    assert available_cores() == os.cpu_count()


def test_there_is_at_least_one_thread() -> None:
    assert LoadOptions.check({}).num_threads >= 1
    assert load_options.available_cores is available_cores


def test_targets_are_the_leaf_joints_or_what_is_named() -> None:
    def names(**options: Any) -> list[str]:
        robot = load_arm(**options)
        frames = {frame.id: frame.name for frame in robot.model.frames}
        return [frames[target] for target in robot.options.targets]

    assert names() == ["elbow"]
    assert names(ee_joint_names="tool") == ["tool"]
    assert names(ee_joint_names=("tool", "shoulder")) == ["tool", "shoulder"]


@pytest.mark.parametrize("name", ["elbo", "tip", "base"])
def test_an_unknown_target_is_answered_with_the_joints(name: str) -> None:
    with pytest.raises(UnknownName) as caught:
        load_arm(ee_joint_names=[name])
    text = str(caught.value)
    assert text.startswith(f"ee_joint_names: 'arm' has no joint {name!r}")
    assert text.endswith("it has shoulder, elbow and tool")
    assert ("did you mean 'elbow'" in text) == (name == "elbo")
