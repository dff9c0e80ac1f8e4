"""Options of types that no option has are refused like wrong values, whatever they raise inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import grid_core
from grid_core.errors import OptionError
from grid_core.load_options import LoadOptions


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("dtype", "i,,f", "dtype must be float32 or float64; got 'i,,f'"),
        ("dtype", "\ud800", r"dtype must be float32 or float64; got '\ud800'"),
        ("dtype", np.zeros(2), "dtype must be float32 or float64; got array"),
        ("output_convention", np.array([1, 2]), "output_convention must be pinocchio or mujoco"),
        ("output_convention", np.array("mujoco"), "output_convention must be pinocchio or"),
        ("algorithm_list", np.array("cpu"), "algorithm_list must be a name or a list of names"),
        ("ee_joint_names", np.array("cpu"), "ee_joint_names must be a name or a list of names"),
        ("cache_dir", "a\0b", r"cache_dir has a NUL character, which no path can have: 'a\x00b'"),
        ("cache_dir", "\ud800", r"cache_dir has characters that no path can have: '\ud800'"),
        ("cache_dir", "~nouser/x", "cache_dir='~nouser/x': there is no user with a home folder"),
        ("calibration", "~nouser/x", "calibration='~nouser/x': there is no user with a home"),
    ],
)
def test_a_value_of_a_wrong_kind_is_refused(option: str, value: Any, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        grid_core.load_robot("there is no such file.urdf", **{option: value})
    assert message in str(caught.value)


def test_a_cache_in_the_home_of_nobody_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRID_CACHE_DIR", "~nouser/x")
    with pytest.raises(OptionError, match="GRID_CACHE_DIR='~nouser/x': there is no user with"):
        LoadOptions.check({})
