"""``grid description`` and ``grid describe`` of a directory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from grid_core import describe_model
from grid_core.cli.root import cli
from grid_core.description import description_identity, json_schema
from tests.description.directories import EVERY, R1400, copied, edit

if TYPE_CHECKING:
    from pathlib import Path


def grid(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, prog_name="grid")


@pytest.mark.parametrize("name", EVERY)
def test_identity_prints_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R12: the identity and the directory as it was typed, benches included."""
    root = copied(name, tmp_path)
    monkeypatch.chdir(tmp_path)
    for typed in (name, f"./{name}/", str(root), f"{name}/../{name}"):
        result = grid("description", "identity", typed)
        assert result.exit_code == 0
        assert result.stdout == f"{description_identity(root)} {typed}\n"
        assert result.stderr == ""
    monkeypatch.chdir(root)
    assert grid("description", "identity", ".").stdout == f"{description_identity(root)} .\n"


def test_identity_of_what_has_none(tmp_path: Path) -> None:
    """R12: an error, and nothing on standard output."""
    for path in (tmp_path / "nowhere", tmp_path):
        result = grid("description", "identity", str(path))
        assert (result.exit_code, result.stdout) == (2, "")
        assert str(path) in result.stderr


@pytest.mark.parametrize("name", EVERY)
def test_check_of_a_good_directory(name: str, tmp_path: Path) -> None:
    root = copied(name, tmp_path)
    result = grid("description", "check", str(root))
    assert (result.exit_code, result.stdout) == (0, f"{root}: no fault\n")


def test_check_says_everything_at_once(r1400: Path) -> None:
    """R5, R29: faults of five files in one go, each with its file and key path."""
    edit(r1400 / "config.json", "torch", electrode_axis=[1, 1, 0])
    edit(r1400 / "config.json", "frames", tool="tool1")
    edit(r1400 / "spheres.json", "spheres", "link_1", 0, colour="red")
    edit(r1400 / "rtcore_definition.json", model_id="another")
    edit(r1400 / "manifest.json", files=[*_files(r1400), "../x", "meshes/gone.stl"])
    urdf = r1400 / f"{R1400}.srdf"
    urdf.write_text(urdf.read_text(encoding="utf-8").replace('"J9"', '"J10"'), encoding="utf-8")
    result = grid("description", "check", str(r1400))
    assert result.exit_code == 1
    for line in (
        f"{r1400}/config.json: torch.electrode_axis: not a unit vector",
        f"{r1400}/config.json: frames.tool: there is no link or surface 'tool1'",
        f"{r1400}/spheres.json: spheres.link_1[0].colour: unknown key",
        f"{r1400}/rtcore_definition.json: model_id: 'another'",
        f"{r1400}/manifest.json: files[6]: '../x'",
        f"{r1400}/meshes/gone.stl: no such file",
        f"{r1400}/{R1400}.srdf: line 3: 'J10' is not an axis of the URDF",
    ):
        assert line in result.stdout


def test_schemas_are_printed() -> None:
    """R29: each by the name that its documents state."""
    names = grid("description", "schema").stdout.split()
    assert "rosie.machine-planning-calibration.v1" in names
    for name in names:
        assert json.loads(grid("description", "schema", name).stdout) == json_schema(name)
    result = grid("description", "schema", "grid.robot-confg.v1")
    assert result.exit_code == 2
    assert "did you mean 'grid.robot-config.v1'" in result.stderr


def test_describe_takes_a_directory_and_a_calibration(r1400: Path, tmp_path: Path) -> None:
    """R26: the descriptor of a cell, from the command line."""
    calibration = tmp_path / "cell.json"
    calibration.write_text(
        json.dumps(
            {
                "schema": "rosie.machine-planning-calibration.v1",
                "model_id": R1400,
                "held_joints": {"J7": 0.5},
            }
        ),
        encoding="utf-8",
    )
    result = grid("describe", str(r1400), "--calibration", str(calibration))
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == describe_model(r1400, calibration=calibration)
    assert json.loads(grid("describe", str(r1400)).stdout) == describe_model(r1400)


def _files(root: Path) -> list[str]:
    found: list[str] = json.loads((root / "manifest.json").read_text(encoding="utf-8"))["files"]
    return found
