"""What only the finished model shows: overflow, and joints that cannot be at zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from grid_core.model.types import Limits, RobotModel
    from grid_core.model.urdf.report import Report

__all__ = ["check_finite", "note_zero_outside"]


def check_finite(model: RobotModel, report: Report) -> None:
    """Refuse finite numbers whose products are not (a mass of 1e300 kg far from its joint)."""
    for link in model.links:
        if not np.isfinite(link.placement).all():
            raise report.error(f"the placement of link {link.name!r} overflows", name=link.name)
    for joint in model.joints:
        if not np.isfinite(joint.placement).all():
            raise report.error(f"the placement of joint {joint.name!r} overflows", name=joint.name)
    for body in model.bodies:
        inertia = body.inertia
        with np.errstate(all="ignore"):
            values = (inertia.mass, inertia.com, inertia.rotational, inertia.at_origin)
        if not all(np.isfinite(value).all() for value in values):
            raise report.error(
                f"the inertia of body {body.name!r} overflows", element="link", name=body.name
            )


def note_zero_outside(model: RobotModel, report: Report) -> None:
    """Note the joints that cannot be at zero, as the calves of a quadruped cannot.

    Nothing in such a file is wrong, so it is neither issued as a warning nor refused.
    """
    names = [
        repr(joint.name)
        for joint in model.joints
        if joint.q_start is not None and _excludes_zero(joint.limits)
    ]
    if names:
        report.notes.append(
            f"{report.file}: the zero configuration is outside the limits of {', '.join(names)};"
            " neutral_configuration(model) stays inside"
        )


def _excludes_zero(limits: Limits) -> bool:
    below = limits.lower is not None and limits.lower > 0.0
    return below or (limits.upper is not None and limits.upper < 0.0)
