"""Placements of the bodies, batched over axis 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.reference.coordinates import joint_positions
from grid_core.reference.joints import joint_motion
from grid_core.reference.spatial import motion_transform

if TYPE_CHECKING:
    from grid_core.model.types import Array, RobotModel

__all__ = ["body_transforms", "forward_kinematics", "joint_placements"]


def joint_placements(model: RobotModel, q: Array) -> list[Array]:
    """Return T_parent_body of each body, shapes (B, 4, 4).

    Args:
        model: the robot.
        q: configuration, shape (B, nq).
    """
    own = joint_positions(model, q)
    return [j.placement @ joint_motion(j, own[j.id]) for j in model.joints]


def body_transforms(model: RobotModel, q: Array) -> list[Array]:
    """Return i_X_λ(i) = X_J(i) X_T(i) of each body.

    Args:
        model: the robot.
        q: configuration, shape (B, nq).

    Returns:
        For each body, shape (B, 6, 6): motion vectors from the parent's coordinates to its own.
    """
    return [motion_transform(T) for T in joint_placements(model, q)]


def forward_kinematics(model: RobotModel, q: Array) -> Array:
    """Return T_root_body of every body, shape (B, nb, 4, 4) [m].

    Args:
        model: the robot.
        q: configuration, shape (B, nq).
    """
    result = np.empty((len(q), model.nb, 4, 4))
    for joint, T in zip(model.joints, joint_placements(model, q), strict=True):
        result[:, joint.id] = T if joint.parent < 0 else result[:, joint.parent] @ T
    return result
