"""The worked example: batched inverse kinematics."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "examples/inverse_kinematics.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("inverse_kinematics", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_most_targets_are_reached(example) -> None:
    with example.load("cpu") as robot:
        targets = example.random_targets(robot, 600)
        found = example.solve(robot, targets)
        reached = found.reached()
        assert reached.mean() > 0.95
        low, high = robot.joint_pos_limits.T
        assert np.all((found.q >= low) & (found.q <= high))
        T = robot.frame_placement(found.q)
        off = np.linalg.norm(T[:, :3, 3] - targets[:, :3, 3], axis=1)
        np.testing.assert_array_less(off[reached], 1e-4)
        np.testing.assert_allclose(T[reached, :3, :3], targets[reached, :3, :3], atol=2e-3)


def test_it_prints_a_rate(example, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["inverse_kinematics.py", "--targets", "50"])
    example.main()
    assert "targets reached to 0.1 mm and 1 mrad" in capsys.readouterr().out
