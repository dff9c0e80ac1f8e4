from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from grid_core.cli.root import cli
from grid_core.identification import excitation
from tests.support import urdf

if TYPE_CHECKING:
    from pathlib import Path

ARM = urdf.robot(
    "two",
    urdf.link("world"),
    urdf.link("upper", 2.0, (0.0, 0.0, -0.2), np.diag([0.1, 0.1, 0.01])),
    urdf.link("lower", 1.0, (0.1, 0.0, -0.2), np.diag([0.05, 0.05, 0.01])),
    urdf.joint("shoulder", "revolute", "world", "upper", axis=(1, 0, 0)),
    urdf.joint("elbow", "revolute", "upper", "lower", xyz=(0, 0, -0.4), axis=(0, 1, 0)),
)


@pytest.fixture
def arm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(excitation, "_RANDOM", 10)
    (tmp_path / "two.urdf").write_text(ARM)
    return tmp_path / "two.urdf"


def grid(*arguments: object, code: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(cli, [str(a) for a in arguments], prog_name="grid")
    assert result.exit_code == code, f"{result.stdout}\n{result.stderr}\n{result.exception!r}"
    return result.stdout, result.stderr


def test_a_trajectory_is_written_and_told_of(arm: Path, tmp_path: Path) -> None:
    out = tmp_path / "trajectory.npz"
    options = ("--harmonics", 4, "--period", 8, "--rate", 50, "--starts", 1)
    said, _ = grid("excite", arm, "-o", out, *options)
    assert "two: 8 s, 4 harmonics, 401 samples" in said
    assert "base parameters' regressor:" in said
    assert "of 50" in said
    with np.load(out) as file:
        assert file["q"].shape == (401, 2)
        assert list(file["joint_names"]) == ["shoulder", "elbow"]


def test_json_and_a_payload(arm: Path, tmp_path: Path) -> None:
    out = tmp_path / "trajectory.npz"
    options = ("--harmonics", 3, "--starts", 1, "--friction", "--payload", "0.5,0,0,-0.3", "--json")
    said, _ = grid("excite", arm, "-o", out, *options)
    document = json.loads(said)
    assert document["joints"] == ["shoulder", "elbow"]
    assert document["condition"] <= document["random_condition"]
    light = json.loads(grid("excite", arm, "-o", out, *options[:5], "--json")[0])
    assert document["base_parameters"] == light["base_parameters"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--payload", "1,2"), "--payload is a mass, or a mass and a place"),
        (("--payload-frame", "elbow"), "give that as well"),
        (("--payload", "1", "--payload-frame", "wrist"), "no moving frame 'wrist'"),
        (("--period", "-1"), "period must be above 0"),
    ],
)
def test_what_cannot_be(arm: Path, tmp_path: Path, options: tuple[str, ...], text: str) -> None:
    _, said = grid("excite", arm, "-o", tmp_path / "trajectory.npz", *options, code=2)
    assert text in said
    assert not (tmp_path / "trajectory.npz").exists()


def test_a_floating_robot_is_held(tmp_path: Path) -> None:
    _, said = grid("excite", "go2", "-o", tmp_path / "no" / "t.npz", code=2)
    assert "there is no folder" in said
    _, said = grid("excite", "go2", "-o", tmp_path / "t.csv", code=2)
    assert "named arrays are written as .npz" in said
