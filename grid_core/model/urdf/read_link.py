"""``<link>`` → `LinkElement`. Geometry is not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.model.urdf.elements import InertialElement, LinkElement
from grid_core.model.urdf.fields import Element
from grid_core.model.urdf.read_origin import read_origin

if TYPE_CHECKING:
    from grid_core.model.types import Array
    from grid_core.model.urdf.report import Report
    from grid_core.model.urdf.xml import Node

__all__ = ["read_link"]


def read_link(node: Node, report: Report) -> LinkElement:
    """Read one link.

    Raises:
        ModelError: a missing name, a negative mass, an incomplete inertia, a bad number.
    """
    name = Element(node, report, "link").text("name")
    link = Element(node, report, "link", name)
    inertial = link.child("inertial")
    return LinkElement(name, node.line, None if inertial is None else _inertial(inertial))


def _inertial(inertial: Element) -> InertialElement:
    mass = inertial.child("mass")
    if mass is None:
        raise inertial.error("<mass> is missing; leave out <inertial> for a massless link")
    value = mass.required("value")
    if value < 0.0:
        raise mass.error(f"a negative mass, {value:g} kg", "value")
    inertia = inertial.child("inertia")
    if inertia is None:
        raise inertial.error("<inertia> is missing; a point mass has one of zeros")
    return InertialElement(inertial.line, read_origin(inertial), value, _tensor(inertia))


def _tensor(inertia: Element) -> Array:
    xx, xy, xz = (inertia.required(key) for key in ("ixx", "ixy", "ixz"))
    yy, yz, zz = (inertia.required(key) for key in ("iyy", "iyz", "izz"))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
