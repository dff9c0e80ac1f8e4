"""``<limit>`` → `Limits`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.model.types import Limits
from grid_core.model.urdf.elements import JointType

if TYPE_CHECKING:
    from grid_core.model.urdf.fields import Element

__all__ = ["read_limits"]


def read_limits(joint: Element, kind: JointType) -> Limits:
    """Read the limits of a moving joint; None where the file gives no finite bound.

    A range belongs to revolute, prismatic and helical joints. One ``<limit>`` cannot bound the
    metres and radians of a planar or floating joint at once, so it is not read there.

    Raises:
        ModelError: lower above upper, or a bad number.
    """
    if kind in {JointType.PLANAR, JointType.FLOATING}:
        return Limits()
    limit = joint.child("limit")
    if limit is None:
        if kind in {JointType.REVOLUTE, JointType.PRISMATIC}:
            joint.warn(f"a {kind.value} joint without <limit>: taken as unbounded")
        return Limits()
    lower, upper = _range(limit, kind)
    return Limits(
        lower=lower,
        upper=upper,
        velocity=_magnitude(limit, "velocity"),
        effort=_magnitude(limit, "effort"),
    )


def _range(limit: Element, kind: JointType) -> tuple[float | None, float | None]:
    if kind in {JointType.CONTINUOUS, JointType.SPHERICAL}:
        return None, None
    lower, upper = limit.number("lower"), limit.number("upper")
    if lower is not None and upper is not None and lower > upper:
        raise limit.error(f"lower {lower:g} is above upper {upper:g}", "lower")
    missing = [key for key, value in (("lower", lower), ("upper", upper)) if value is None]
    if missing and kind is not JointType.HELICAL:
        limit.warn(f"no {' and no '.join(missing)}: taken as unbounded there")
    return lower, upper


def _magnitude(limit: Element, attribute: str) -> float | None:
    value = limit.number(attribute)
    if value is not None and value < 0.0:
        limit.warn(f"a negative bound, {value:g}: taken as unbounded", attribute)
        return None
    return value
