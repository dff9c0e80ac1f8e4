"""What a caller changes about a robot before its model is assembled, in double precision.

A cell's calibration is such a change. Nothing is written as URDF text, where digits would be lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from grid_core.model.spatial import compose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.model.types import Array, Limits
    from grid_core.model.urdf.elements import JointElement, RobotElement
    from grid_core.model.urdf.report import Report

__all__ = ["Adjustments", "adjust"]


@frozen(eq=False)
class Adjustments:
    """Changes by URDF joint name."""

    offsets: Mapping[str, Array] = field(factory=dict)
    """Transforms from the right of a joint's origin, T' = T_origin · offset, shape (4, 4)."""
    limits: Mapping[str, Limits] = field(factory=dict)
    """Limits in place of the joint's own."""
    held: Mapping[str, float] = field(factory=dict)
    """Values of joints that do not move [rad or m]: each becomes a constant joint."""


def adjust(robot: RobotElement, adjustments: Adjustments, report: Report) -> RobotElement:
    """Return the robot with its joints changed.

    Raises:
        ModelError: a joint that does not exist, or one held that cannot be.
    """
    names = {joint.name for joint in robot.joints}
    for change in (adjustments.offsets, adjustments.limits, adjustments.held):
        for name in change:
            if name not in names:
                raise report.error(f"there is no joint {name!r} to adjust")
    joints = tuple(_adjusted(joint, adjustments, report) for joint in robot.joints)
    return evolve(robot, joints=joints)


def _adjusted(joint: JointElement, adjustments: Adjustments, report: Report) -> JointElement:
    offset = adjustments.offsets.get(joint.name)
    held = adjustments.held.get(joint.name)
    if held is not None and (joint.mimic is not None or not joint.type.is_scalar):
        why = "follows another joint" if joint.mimic is not None else "has not one coordinate"
        raise report.error(
            f"joint {joint.name!r} {why}, so it cannot be held",
            line=joint.line,
            element="joint",
            name=joint.name,
        )
    return evolve(
        joint,
        origin=joint.origin if offset is None else compose(joint.origin, offset),
        limits=adjustments.limits.get(joint.name, joint.limits),
        held=held,
    )
