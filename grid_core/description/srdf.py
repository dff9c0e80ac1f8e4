"""The named poses of an SRDF."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grid_core.errors import ModelError
from grid_core.model.urdf.report import Report

if TYPE_CHECKING:
    from collections.abc import Collection

    from grid_core.description.faults import Place
    from grid_core.model.urdf.xml import Node

__all__ = ["read_named_poses"]


def read_named_poses(
    data: bytes, model_id: str, axes: Collection[str], at: Place
) -> dict[str, dict[str, float]]:
    """Return each ``<group_state>``: its joints' positions by its name [rad or m].

    Faults are noted: another robot's name, a joint that is no axis, two states of one name.
    """
    from grid_core.model.urdf.decode import decode  # noqa: PLC0415 - lxml, as for a URDF
    from grid_core.model.urdf.scan import scan  # noqa: PLC0415
    from grid_core.model.urdf.xml import parse_xml  # noqa: PLC0415

    report = Report(at.file)
    try:
        root = parse_xml(scan(decode(data, report), report), report)
    except ModelError as error:
        at.faults.found.append(str(error))
        return {}
    name = root.attributes.get("name", "")
    if root.tag != "robot" or name != model_id:
        at.fault(f"<{root.tag}> attribute 'name': {name!r}, but the manifest says {model_id!r}")
    poses: dict[str, dict[str, float]] = {}
    for node in root.children:
        if node.tag != "group_state":
            continue
        pose = poses.setdefault(node.attributes.get("name", ""), {})
        if pose:
            at.fault(f"line {node.line}: a second state of this name")
        _read_pose(node, pose, axes, at)
    return poses


def _read_pose(node: Node, pose: dict[str, float], axes: Collection[str], at: Place) -> None:
    for child in node.children:
        if child.tag != "joint":
            continue
        name, text = (child.attributes.get(key, "") for key in ("name", "value"))
        if name not in axes:
            at.fault(f"line {child.line}: {name!r} is not an axis of the URDF")
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            at.fault(f"line {child.line}: {text!r} is not a finite number")
        pose[name] = value
