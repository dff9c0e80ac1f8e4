"""``<joint>`` → `JointElement`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from grid_core.model.types import Array, Limits
from grid_core.model.urdf.elements import JointElement, JointType, MimicElement
from grid_core.model.urdf.fields import Element
from grid_core.model.urdf.read_limits import read_limits
from grid_core.model.urdf.read_origin import read_origin

if TYPE_CHECKING:
    from grid_core.model.urdf.report import Report
    from grid_core.model.urdf.xml import Node

__all__ = ["read_joint"]

_NOISE = 1e-12
"""A shorter axis is suspicious."""
_SMALL, _LARGE = 1e-100, 1e100
"""Between them an axis is normalised as it stands."""
_SYNONYMS = {"screw": "helical", "ball": "spherical"}


def read_joint(node: Node, report: Report) -> JointElement:
    """Read one joint.

    Raises:
        ModelError: a missing name, type, parent or child; an unknown type; a zero axis; a lower
            limit above the upper; a helical joint without pitch; a bad number.
    """
    name = Element(node, report, "joint").text("name")
    joint = Element(node, report, "joint", name)
    kind = _type(joint)
    parent, parent_line = _link(joint, "parent")
    child, child_line = _link(joint, "child")
    axis, pitch = _axis(joint, kind)
    damping, friction = _dynamics(joint, kind)
    return JointElement(
        name=name,
        line=node.line,
        type=kind,
        parent=parent,
        child=child,
        parent_line=parent_line,
        child_line=child_line,
        origin=read_origin(joint),
        axis=axis,
        pitch=pitch,
        limits=Limits() if kind is JointType.FIXED else read_limits(joint, kind),
        mimic=None if kind is JointType.FIXED else _mimic(joint),
        damping=damping,
        friction=friction,
        origin_line=next((n.line for n in node.children if n.tag == "origin"), node.line),
    )


def _type(joint: Element) -> JointType:
    text = joint.text("type")
    try:
        return JointType(_SYNONYMS.get(text, text))
    except ValueError:
        known = ", ".join([kind.value for kind in JointType] + list(_SYNONYMS))
        raise joint.error(f"unknown joint type {text!r}; known: {known}", "type") from None


def _link(joint: Element, tag: str) -> tuple[str, int]:
    found = [node for node in joint.node.children if node.tag == tag]
    if len(found) != 1:
        count = "is missing" if not found else f"is given {len(found)} times"
        raise joint.error(f"<{tag}> {count}; a joint has one")
    element = Element(found[0], joint.report, "joint", joint.name)
    return element.text("link"), element.line


def _axis(joint: Element, kind: JointType) -> tuple[Array | None, float]:
    if not kind.has_axis:
        return None, 0.0
    element = joint.child("axis")
    pitch = element.number("pitch") if element and kind is JointType.HELICAL else None
    if kind is JointType.HELICAL and pitch is None:
        message = 'a helical joint needs its pitch [m/rad], as in <axis xyz="0 0 1" pitch="0.01"/>'
        raise (element or joint).error(message, "pitch" if element else None)
    xyz = (element.vector("xyz", 3) if element else None) or (1.0, 0.0, 0.0)
    largest = max(abs(value) for value in xyz)
    if element is not None and largest == 0.0:
        raise element.error(f"the axis of a {kind.value} joint has zero length", "xyz")
    if element is not None and largest < _NOISE:
        element.warn("an axis this short may be zero with rounding errors", "xyz")
    # Scaled before it is squared, so that no length is lost at either end of the exponents.
    scaled = xyz if _SMALL < largest < _LARGE else [value / largest for value in xyz]
    return np.array(scaled) / math.hypot(*scaled), pitch or 0.0


def _dynamics(joint: Element, kind: JointType) -> tuple[float, float]:
    if kind in {JointType.FIXED, JointType.PLANAR, JointType.FLOATING}:
        return 0.0, 0.0  # one coefficient has not the units of both metres and radians
    element = joint.child("dynamics")
    if element is None:
        return 0.0, 0.0
    values = {key: element.number(key) or 0.0 for key in ("damping", "friction")}
    for key, value in values.items():
        if value < 0.0:
            element.warn(f"a negative {key} adds energy", key)
    return values["damping"], values["friction"]


def _mimic(joint: Element) -> MimicElement | None:
    element = joint.child("mimic")
    if element is None:
        return None
    multiplier, offset = element.number("multiplier"), element.number("offset")
    return MimicElement(
        line=element.line,
        leader=element.text("joint"),
        multiplier=1.0 if multiplier is None else multiplier,
        offset=0.0 if offset is None else offset,
    )
