"""Robot-description directories: their identity, a cell's calibration, and the load check.

Every load of a robot imports this package, to learn which sources there are; what it exports is
imported when it is first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grid_core.description.calibration import Calibration
    from grid_core.description.catalogue import CatalogueEntry, catalogue_entry, read_catalogue
    from grid_core.description.cell import Cell, CellState, DirectoryCell, check_load
    from grid_core.description.compiled import CompiledCell
    from grid_core.description.description import (
        RobotDescription,
        check_description,
        description_identity,
    )
    from grid_core.description.fetch import RemoteCell, fetch_resources
    from grid_core.description.machine import compile_machine
    from grid_core.description.placements import frame_poses
    from grid_core.description.planning import JointPlan, PlanningNumbers, planning_numbers
    from grid_core.description.program_documents import ProgramHeader, RobotCellBlock
    from grid_core.description.schemas import json_schema
    from grid_core.description.snapshot import Resource
    from grid_core.description.trajectory import Program, ProgramWriter, program_header
    from grid_core.description.views import PlannerView, RtAxis, RtView

__all__ = [
    "Calibration",
    "CatalogueEntry",
    "Cell",
    "CellState",
    "CompiledCell",
    "DirectoryCell",
    "JointPlan",
    "PlannerView",
    "PlanningNumbers",
    "Program",
    "ProgramHeader",
    "ProgramWriter",
    "RemoteCell",
    "Resource",
    "RobotCellBlock",
    "RobotDescription",
    "RtAxis",
    "RtView",
    "catalogue_entry",
    "check_description",
    "check_load",
    "compile_machine",
    "description_identity",
    "fetch_resources",
    "frame_poses",
    "json_schema",
    "planning_numbers",
    "program_header",
    "read_catalogue",
]

_HOMES = {
    "Calibration": "calibration",
    "CatalogueEntry": "catalogue",
    "Cell": "cell",
    "CellState": "cell",
    "CompiledCell": "compiled",
    "DirectoryCell": "cell",
    "JointPlan": "planning",
    "PlannerView": "views",
    "PlanningNumbers": "planning",
    "Program": "trajectory",
    "ProgramHeader": "program_documents",
    "ProgramWriter": "trajectory",
    "RemoteCell": "fetch",
    "Resource": "snapshot",
    "RobotCellBlock": "program_documents",
    "RobotDescription": "description",
    "RtAxis": "views",
    "RtView": "views",
    "read_catalogue": "catalogue",
    "catalogue_entry": "catalogue",
    "check_description": "description",
    "check_load": "cell",
    "compile_machine": "machine",
    "description_identity": "description",
    "fetch_resources": "fetch",
    "frame_poses": "placements",
    "json_schema": "schemas",
    "planning_numbers": "planning",
    "program_header": "trajectory",
}
"""The module of each name."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
