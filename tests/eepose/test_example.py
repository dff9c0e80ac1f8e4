"""The worked example: batched inverse kinematics."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from grid_core.assets import asset_path
from grid_core.model import load_urdf
from grid_core.testing import check_algorithm
from tests.support.registered import taken_back

PATH = Path(__file__).parents[2] / "examples/inverse_kinematics.py"


def imported(name: str):
    spec = importlib.util.spec_from_file_location(name, PATH.with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def example():
    with taken_back(), pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PATH.parent))
        yield imported("inverse_kinematics")


def test_its_plugin_is_one_that_grid_takes() -> None:
    check_algorithm(imported("ik_steps").IK_STEPS, load_urdf(asset_path("iiwa14")), tolerance=1e-7,
                    backends=["cpu"], tolerance32=math.inf)  # fmt: skip


def test_most_targets_are_reached(example) -> None:
    with example.load("cpu") as robot:
        targets = example.random_targets(robot, 600)
        found = example.solve(robot, targets)
        reached = found.reached()
        assert reached.mean() > 0.99
        low, high = robot.joint_pos_limits.T
        assert np.all((found.q[reached] >= low) & (found.q[reached] <= high))
        T = robot.frame_placement(found.q)
        off = np.linalg.norm(T[:, :3, 3] - targets[:, :3, 3], axis=1)
        np.testing.assert_array_less(off[reached], 1e-4)
        np.testing.assert_allclose(T[reached, :3, :3], targets[reached, :3, :3], atol=2e-3)


def test_it_prints_a_rate(example, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["inverse_kinematics.py", "--targets", "50"])
    example.main()
    assert "targets reached to 0.1 mm and 1 mrad" in capsys.readouterr().out


def test_another_solver_reaches_the_same_targets(example, monkeypatch, capsys) -> None:
    """By the same measure; one that is not installed is said to be so."""
    monkeypatch.setitem(sys.modules, "roboticstoolbox", None)
    monkeypatch.setattr(sys, "argv", ["inverse_kinematics.py", "--targets", "20", "--compare"])
    example.main()
    out = capsys.readouterr().out
    assert "roboticstoolbox-python (C++, one thread): not installed" in out
    assert "Pinocchio's closed loop (Python, one thread): 100.00% of 20" in out
