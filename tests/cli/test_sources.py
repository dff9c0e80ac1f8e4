"""No command writes over what it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("generate", ("--algorithm-list", "crba", "--output")),
        ("describe", ("--output",)),
        ("plot", ("--output",)),
        ("bench", ("--quick", "--robot", None, "--json")),
        ("bench", ("--quick", "--robot", None, "--plot")),
        ("identify", ("log.npz", "--output")),
        ("identify", ("log.npz", "--report")),
    ],
)
def test_descriptions_stay(
    command: str,
    options: tuple[str | None, ...],
    fails: Any,
    arm: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By their own name, by another spelling, and by a link."""
    monkeypatch.chdir(tmp_path)
    robot = tmp_path / ("arm.svg" if command == "plot" or "--plot" in options else "arm.urdf")
    robot.write_bytes(arm.read_bytes())
    (tmp_path / "folder").mkdir()
    (tmp_path / f"link{robot.suffix}").symlink_to(robot)
    first = () if command == "bench" else (robot,)
    given = [robot if option is None else option for option in options]
    for name in (robot, tmp_path / "folder" / ".." / robot.name, f"link{robot.suffix}"):
        line = fails(command, *first, *given, name)
        assert "give it another name" in line
        assert f"{options[-1]} {name}" in line
    assert robot.read_bytes() == arm.read_bytes()


def test_logs_and_calibrations_stay(fails: Any, arm: Path, tmp_path: Path) -> None:
    """Whatever is in them: it is not even read."""
    for option in ("--output", "--report"):
        for log in ("a.npz", "b.npz"):
            (tmp_path / log).write_text(log)
        logs = (tmp_path / "a.npz", tmp_path / "b.npz")
        line = fails("identify", arm, *logs, option, logs[1])
        assert f"{option} {logs[1]} would be written over {logs[1]}, which is read" in line
        assert logs[1].read_text() == "b.npz"
    calibration = tmp_path / "calibration.json"
    calibration.write_text("{}")
    for command in ("generate", "describe"):
        line = fails(command, arm, "--calibration", calibration, "-o", calibration)
        assert "which is read; give it another name" in line
    assert calibration.read_text() == "{}"
