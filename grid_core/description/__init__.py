"""Robot-description directories: their identity, a cell's calibration, and the load check."""

from grid_core.description.calibration import Calibration
from grid_core.description.catalogue import CatalogueEntry, catalogue, catalogue_entry
from grid_core.description.description import (
    RobotDescription,
    check_description,
    description_identity,
)
from grid_core.description.documents import json_schema
from grid_core.description.placements import frame_poses
from grid_core.description.planning import JointPlan, PlanningNumbers, planning_numbers
from grid_core.description.snapshot import Resource
from grid_core.description.views import PlannerView, RtAxis, RtView

__all__ = [
    "Calibration",
    "CatalogueEntry",
    "JointPlan",
    "PlannerView",
    "PlanningNumbers",
    "Resource",
    "RobotDescription",
    "RtAxis",
    "RtView",
    "catalogue",
    "catalogue_entry",
    "check_description",
    "description_identity",
    "frame_poses",
    "json_schema",
    "planning_numbers",
]
