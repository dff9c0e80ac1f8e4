"""``<origin>`` → transform."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from grid_core.model.spatial import pose, quaternion_matrix, rpy_matrix

if TYPE_CHECKING:
    from grid_core.model.types import Array
    from grid_core.model.urdf.fields import Element

__all__ = ["read_origin"]


def read_origin(owner: Element) -> Array:
    """Return the transform of the owner's ``<origin>``, identity without one, shape (4, 4).

    ``rpy`` is Rz(yaw)·Ry(pitch)·Rx(roll). URDF 1.1's ``quat_xyzw`` may stand in its place.
    """
    origin = owner.child("origin")
    if origin is None:
        return np.eye(4)
    xyz = origin.vector("xyz", 3) or (0.0, 0.0, 0.0)
    rpy = origin.vector("rpy", 3)
    quaternion = origin.vector("quat_xyzw", 4)
    if quaternion is None:
        return pose(xyz, rpy_matrix(*(rpy or (0.0, 0.0, 0.0))))
    if rpy is not None:
        raise origin.error("both rpy and quat_xyzw are given; keep one", "quat_xyzw")
    norm = math.hypot(*quaternion)
    if not 0.0 < norm < math.inf:
        raise origin.error("a quaternion of zero or unbounded length is no rotation", "quat_xyzw")
    x, y, z, w = (value / norm for value in quaternion)
    return pose(xyz, quaternion_matrix(x, y, z, w))
