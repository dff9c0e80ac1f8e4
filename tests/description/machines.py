"""A machine with the synthetic 1400, and programs for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from grid_core.description import Calibration, RobotDescription, description_identity
from tests.description.directories import R1400, copied

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["checkout", "config", "flat_axis", "write_machine"]


def checkout(folder: Path, calibration: dict[str, Any] | None = None) -> Path:
    """Write a machine's config beside a copy of its description; return the config."""
    root = copied(R1400, folder / "robots")
    if calibration is not None:
        path = folder / "machine_planning_calibration.json"
        path.write_text(json.dumps(calibration), encoding="utf-8")
    return write_machine(folder, config(folder, calibrated=calibration is not None), root)


def config(folder: Path, *, calibrated: bool) -> dict[str, Any]:
    root = folder / "robots" / R1400
    robot: dict[str, Any] = {
        "robot_description": {
            "directory": f"robots/{R1400}",
            "identity": description_identity(root),
        }
    }
    if calibrated:
        path = folder / "machine_planning_calibration.json"
        cell = Calibration.load(path, RobotDescription.load(root))
        robot["machine_planning_calibration"] = {"path": path.name, "sha256": cell.identity}
    axes = [
        {"name": f"A{number}", "joint": f"J{number}", "cpu": 2, "bus_timeout_ms": 8}
        for number in range(1, 10)
    ]
    return {"schema": "grid.machine.v1", "name": "synthetic", "robot": robot, "axes": axes}


def write_machine(folder: Path, machine: dict[str, Any], *_: Any) -> Path:
    path = folder / "machine.json"
    path.write_text(json.dumps(machine), encoding="utf-8")
    return path


def flat_axis(name: str) -> dict[str, Any]:
    return {"name": name, "lower": -1, "upper": 1, "velocity": 0.5, "acceleration": 2}
