"""Invariants of each joint by itself: widths, axis, pitch, limits, placement."""

from __future__ import annotations

import math
from typing import Any

from grid_core.descriptor.transforms import TOLERANCE, check_transform
from grid_core.errors import DescriptorError
from grid_core.model.types import JointKind

__all__ = ["check_joints"]

_UNBOUNDED = ("continuous", "spherical", "floating")
_AXISLESS = ("spherical", "floating")


def check_joints(descriptor: dict[str, Any]) -> None:
    """Raise `DescriptorError` unless each joint's fields agree with its kind."""
    for joint in descriptor["joints"]:
        where = f"joints[{joint['id']}]"
        _check_widths(joint, where)
        _check_axis(joint, where)
        _check_pitch(joint, where)
        _check_limits(joint, where)
        check_transform(joint["T_parent_joint_zero"], f"{where}.T_parent_joint_zero")


def _check_widths(joint: dict[str, Any], where: str) -> None:
    kind = JointKind(joint["kind"])
    for key, width in (("local_nq", kind.nq), ("local_nv", kind.nv)):
        if joint[key] != width:
            message = f"a {kind.value} joint has {width}; got {joint[key]}"
            raise DescriptorError(message, where=f"{where}.{key}", invariant="local widths")


def _check_axis(joint: dict[str, Any], where: str) -> None:
    axis, kind = joint["axis"], joint["kind"]
    problem = None
    if kind in _AXISLESS:
        problem = None if axis is None else f"a {kind} joint has no single axis"
    elif axis is None:
        problem = f"a {kind} joint has an axis; got null"
    elif abs(math.hypot(*axis) - 1.0) > TOLERANCE:
        problem = f"a unit vector is needed; its length is {math.hypot(*axis)!r}"
    if problem is not None:
        raise DescriptorError(problem, where=f"{where}.axis", invariant="unit axis")


def _check_pitch(joint: dict[str, Any], where: str) -> None:
    if (joint["pitch"] is not None) != (joint["kind"] == "helical"):
        problem = f"a {joint['kind']} joint has {_some(joint['kind'] == 'helical')} pitch"
        raise DescriptorError(problem, where=f"{where}.pitch", invariant="pitch")


def _some(wanted: bool) -> str:
    return "a" if wanted else "no"


def _check_limits(joint: dict[str, Any], where: str) -> None:
    limits = joint["limits"]
    lower, upper = limits["lower"], limits["upper"]
    problem = None
    if joint["kind"] in _UNBOUNDED:
        if lower is not None or upper is not None:
            problem = f"a {joint['kind']} joint has no interval of positions"
    elif lower is not None and upper is not None and lower > upper:
        problem = f"lower {lower!r} is above upper {upper!r}"
    for key in ("velocity", "effort"):
        if limits[key] is not None and limits[key] < 0.0:
            problem = f"{key} {limits[key]!r} is negative"
    if problem is not None:
        raise DescriptorError(problem, where=f"{where}.limits", invariant="limits")
