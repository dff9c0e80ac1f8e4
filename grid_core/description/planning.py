"""The numbers that a planner works with: a description and a calibration, taken together.

Workers get these and never a path: this is the one place where a plan's files become numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.description.calibration import Calibration, adjustments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.description.description import RobotDescription
    from grid_core.model.types import RobotCell

__all__ = ["JointPlan", "PlanningNumbers", "planning_numbers"]


@frozen
class JointPlan:
    """What a plan holds one driven joint to."""

    joint: str
    lower: float | None
    """The URDF's, narrowed by the calibration [rad or m]; None for a continuous joint."""
    upper: float | None
    velocity: float
    """The lesser of the config's planning velocity and the calibration's [rad/s or m/s]."""
    acceleration: float
    """[rad/s² or m/s²]"""
    reset: float
    """Where the joint is in the reset pose [rad or m]."""


@frozen
class PlanningNumbers:
    """Everything that a plan for one cell depends on, but for the model itself."""

    robot_cell: RobotCell
    driven: tuple[JointPlan, ...]
    """In the plan's order."""
    held: Mapping[str, float]
    """Axes that the plan leaves where they are [rad or m]."""
    speed_ceiling: float
    """The calibration's if it sets one, else the model's [rad/s]."""


def planning_numbers(
    description: RobotDescription, calibration: Calibration | None = None
) -> PlanningNumbers:
    """Return the numbers for a cell; without a calibration, for one that is as its model.

    Raises:
        DescriptionError: a bench, or a calibration that this robot cannot have.
    """
    shared = description.require_urdf()
    cell = Calibration.empty(description.model_id) if calibration is None else calibration
    cell.check(description)
    changes, config = adjustments(shared, cell), shared.config
    driven = []
    for name in config.driven_joints:
        if name in changes.held:
            continue
        limits = changes.limits.get(name, shared.axes[name].limits)
        planned = config.planning.velocity[name]
        driven.append(
            JointPlan(
                joint=name,
                lower=limits.lower,
                upper=limits.upper,
                velocity=planned if limits.velocity is None else min(planned, limits.velocity),
                acceleration=config.planning.acceleration[name],
                reset=config.reset_pose[name],
            )
        )
    ceiling = cell.document.speed_ceiling_rad_s
    return PlanningNumbers(
        robot_cell=description.robot_cell(cell),
        driven=tuple(driven),
        held=dict(changes.held),
        speed_ceiling=config.speed_ceiling_rad_s if ceiling is None else ceiling,
    )
