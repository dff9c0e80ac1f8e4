"""What only the finished model shows: overflow, and joints that cannot be at zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.model.urdf.inertia import merge

if TYPE_CHECKING:
    from grid_core.errors import ModelError
    from grid_core.model.types import Array, Body, Inertia, Limits, RobotModel
    from grid_core.model.urdf.elements import InertialElement, JointElement
    from grid_core.model.urdf.report import Report
    from grid_core.model.urdf.topology import Tree

__all__ = ["check_finite", "note_zero_outside"]


def check_finite(model: RobotModel, tree: Tree, report: Report) -> None:
    """Refuse finite numbers whose products are not (a mass of 1e300 kg far from its joint)."""
    above = {joint.child: joint for joint in tree.joints}
    for link in model.links:
        if not np.isfinite(link.placement).all():
            raise _far(f"the placement of link {link.name!r} overflows", above[link.name], report)
    sources = {joint.name: joint for joint in tree.joints}
    for joint in model.joints:
        if not np.isfinite(joint.placement).all():
            message = f"the placement of joint {joint.name!r} overflows"
            raise _far(message, sources[joint.source], report)
    for body in model.bodies:
        if not _is_finite(body.inertia):
            raise _heavy(body, model, tree, report)


def _is_finite(inertia: Inertia) -> bool:
    with np.errstate(all="ignore"):
        values = (inertia.mass, inertia.com, inertia.rotational, inertia.at_origin)
    return all(bool(np.isfinite(value).all()) for value in values)


def _far(message: str, joint: JointElement, report: Report) -> ModelError:
    return report.error(
        f"{message} (in joint {joint.name!r})",
        line=joint.origin_line,
        element="origin",
        name=joint.name,
        attribute="xyz",
    )


def _heavy(body: Body, model: RobotModel, tree: Tree, report: Report) -> ModelError:
    """Make the error at the first link with which a body's inertia overflows."""
    elements = {link.name: link.inertial for link in tree.links}
    parts: list[tuple[Array, InertialElement]] = []
    for link in model.links:
        inertial = elements[link.name]
        if link.body != body.id or inertial is None:
            continue
        parts.append((link.placement, inertial))
        with np.errstate(all="ignore"):
            whole = merge(parts)
        if not _is_finite(whole):
            break
    mass = not np.isfinite(whole.mass)
    return report.error(
        f"the {'mass' if mass else 'inertia'} of body {body.name!r} overflows"
        f" (in link {link.name!r})",
        line=inertial.line if inertial else None,
        element="mass" if mass else "inertial",
        name=link.name,
        attribute="value" if mass else None,
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
