"""What a motion must keep to: positions, velocities, accelerations and efforts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import cmp_using, field, frozen

from grid_core.errors import OperationRefused, OptionError
from grid_core.identification.options import is_finite
from grid_core.model.types import JointKind
from grid_core.wording import brief, listing

if TYPE_CHECKING:
    from grid_core.model.types import Array, Joint, RobotModel

__all__ = ["Bounds", "bounds"]

FREE_ANGLE, FREE_SHIFT = np.pi, 1.0
"""Half range of a joint without limits [rad, m]; the speed a second as well."""

_by_value = cmp_using(eq=np.array_equal)


@frozen
class Bounds:
    """Bounds of each coordinate, shape (nv,); infinite where there is none."""

    lower: Array = field(eq=_by_value, hash=False)
    upper: Array = field(eq=_by_value, hash=False)
    velocity: Array = field(eq=_by_value, hash=False)
    acceleration: Array = field(eq=_by_value, hash=False)
    effort: Array = field(eq=_by_value, hash=False)

    @property
    def middle(self) -> Array:
        """Positions half way, shape (nv,)."""
        middle: Array = (self.lower + self.upper) / 2.0
        return middle

    @property
    def half(self) -> Array:
        """Half the range of positions, shape (nv,)."""
        half: Array = (self.upper - self.lower) / 2.0
        return half


def bounds(model: RobotModel, *, margin: float, acceleration: float | None) -> Bounds:
    """Return the limits of a robot's coordinates, drawn in by a margin.

    A joint without limits of position stays in ±π rad or ±1 m, one without a limit of speed below
    π rad/s or 1 m/s. Limits of joints that follow another are limits of what they follow.

    Args:
        model: the robot.
        margin: which part of each limit is left free, at least 0 and below 1.
        acceleration: the largest of any coordinate [rad/s² or m/s²]; None: no limit.

    Raises:
        OperationRefused: the base floats, or a joint has more than one coordinate.
        OptionError: an option of a value that it cannot have, or limits leave a joint no room.
    """
    if not (is_finite(margin) and 0.0 <= margin < 1.0):
        raise OptionError(f"margin must be at least 0 and below 1; got {brief(margin)}")
    if acceleration is not None and not (is_finite(acceleration) and acceleration > 0.0):
        raise OptionError(f"acceleration must be above 0; got {brief(acceleration)}")
    _refuse_wide(model)
    free = np.array([_free(joint) for joint in model.joints if joint.v_start is not None])
    lower, upper = np.full(model.nv, -np.inf), np.full(model.nv, np.inf)
    velocity, effort = np.full(model.nv, np.inf), np.full(model.nv, np.inf)
    for joint in model.joints:
        leader, factor, shift = _leader(model, joint)
        if leader is None:
            continue
        at, limits = leader.v_start, joint.limits
        ends = sorted(
            (x - shift) / factor
            for x in (
                -np.inf if limits.lower is None else limits.lower,
                np.inf if limits.upper is None else limits.upper,
            )
        )
        assert at is not None
        lower[at], upper[at] = max(lower[at], ends[0]), min(upper[at], ends[1])
        if limits.velocity:
            velocity[at] = min(velocity[at], limits.velocity / abs(factor))
        if limits.effort and joint is leader:
            effort[at] = limits.effort
    lower = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, free) - free)
    lower = np.where(np.isfinite(lower), lower, -free)
    upper = np.where(np.isfinite(upper), upper, lower + 2.0 * free)
    for joint in model.joints:
        if joint.v_start is not None and not lower[joint.v_start] < upper[joint.v_start]:
            raise OptionError(
                f"joint {joint.name!r} cannot move: its limits are {lower[joint.v_start]:g} and "
                f"{upper[joint.v_start]:g}"
            )
    half = (upper - lower) / 2.0 * margin
    part = 1.0 - margin
    return Bounds(
        lower=lower + half,
        upper=upper - half,
        velocity=part * np.where(np.isfinite(velocity), velocity, free),
        acceleration=np.full(model.nv, np.inf if acceleration is None else acceleration),
        effort=part * effort,
    )


def _refuse_wide(model: RobotModel) -> None:
    if model.floating_base:
        raise OperationRefused(
            f"an exciting trajectory of {model.name!r}: its base floats, and moves as contacts "
            "and balance have it; hold the base and load the robot without floating_base"
        )
    wide = [joint.name for joint in model.joints if joint.nv > 1]
    if wide:
        raise OperationRefused(
            f"an exciting trajectory of {model.name!r}: a Fourier series of one coordinate cannot "
            f"move {listing(wide)}"
        )
    if not model.nv:
        raise OperationRefused(f"an exciting trajectory of {model.name!r}: it has no joint to move")


def _free(joint: Joint) -> float:
    return FREE_SHIFT if joint.kind is JointKind.PRISMATIC else FREE_ANGLE


def _leader(model: RobotModel, joint: Joint) -> tuple[Joint | None, float, float]:
    """Return which joint leads this one (itself, if it is independent), and the law."""
    if joint.mimic is None:
        return joint, 1.0, 0.0
    if joint.mimic.leader is None or joint.mimic.multiplier == 0.0:
        return None, 0.0, 0.0
    return model.joints[joint.mimic.leader], joint.mimic.multiplier, joint.mimic.offset
