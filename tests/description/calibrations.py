"""Calibrations for the synthetic 1400."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from grid_core.description import Calibration, RobotDescription
from tests.description.directories import FIXTURES, R1400

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FULL", "SCHEMA", "described", "document", "read", "written"]

SCHEMA = "rosie.machine-planning-calibration.v1"
FULL: dict[str, Any] = {
    "limits": {"J2": {"lower": -1.2, "upper": 1.9, "velocity": 1.1}, "J8": {"velocity": 1.0}},
    "held_joints": {"J8": 0.1},
    "speed_ceiling_rad_s": 1.4,
    "kinematic_corrections": {
        "J3": {"xyz_m": [0.001, 0.002, -0.003], "rpy_rad": [0.001, -0.002, 0.003]},
        "tool": {"xyz_m": [0.0, 0.0, 0.004]},
    },
}
"""Every key that there is."""


def document(**parts: Any) -> dict[str, Any]:
    return {"schema": SCHEMA, "model_id": R1400, **parts}


def described() -> RobotDescription:
    return RobotDescription.load(FIXTURES / R1400)


def read(**parts: Any) -> Calibration:
    """Read a calibration of the 1400 with these parts."""
    return Calibration.read(json.dumps(document(**parts)).encode(), described(), file="cell.json")


def written(folder: Path, **parts: Any) -> Path:
    path = folder / "machine_planning_calibration.json"
    path.write_text(json.dumps(document(**parts)), encoding="utf-8")
    return path
