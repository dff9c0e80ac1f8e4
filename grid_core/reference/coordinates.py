"""Between the robot's independent coordinates and each joint's own.

A joint that mimics has no coordinate: θ = m q_l + b of its leader l, θ̇ = m q̇_l and θ̈ = m q̈_l.
A constant joint has no leader and m = 0. Collected, the joints' rates are G q̇ with a constant G,
so forces of the joints become generalised forces by Gᵀ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.model.types import Array, Joint, RobotModel

__all__ = ["fold_forces", "fold_matrix", "is_constant", "joint_positions", "joint_rates"]


def is_constant(joint: Joint) -> bool:
    """Say whether the joint never moves: it follows no leader and has no coordinate."""
    return joint.mimic is not None and joint.mimic.leader is None


def joint_positions(model: RobotModel, q: Array) -> list[Array]:
    """Return each joint's own coordinates, shapes (B, joint.nq).

    Args:
        model: the robot.
        q: configuration, shape (B, nq).
    """
    result = []
    for joint in model.joints:
        if joint.mimic is None:
            assert joint.q_start is not None
            result.append(q[:, joint.q_start : joint.q_start + joint.nq])
        elif joint.mimic.leader is None:
            result.append(np.full((len(q), 1), joint.mimic.offset))
        else:
            start = model.joints[joint.mimic.leader].q_start
            assert start is not None
            result.append(joint.mimic.multiplier * q[:, start : start + 1] + joint.mimic.offset)
    return result


def joint_rates(model: RobotModel, v: Array) -> list[Array]:
    """Return each joint's own rates, or accelerations of v̇, shapes (B, joint.nv).

    Args:
        model: the robot.
        v: velocity or acceleration, shape (B, nv).
    """
    result = []
    for joint in model.joints:
        columns, multiplier = _columns(model, joint)
        result.append(multiplier * v[:, columns] if columns else np.zeros((len(v), joint.nv)))
    return result


def fold_forces(model: RobotModel, forces: Sequence[Array], batch: int) -> Array:
    """Return Gᵀ f for the forces of all joints, shape (B, nv).

    Args:
        model: the robot.
        forces: for each joint, shape (B, joint.nv) [N m or N].
        batch: B.
    """
    result = np.zeros((batch, model.nv))
    for joint, force in zip(model.joints, forces, strict=True):
        columns, multiplier = _columns(model, joint)
        if columns:
            result[:, columns] += multiplier * force
    return result


def fold_matrix(model: RobotModel) -> Array:
    """Return G with [θ̇_0; θ̇_1; ...] = G q̇, shape (sum of joint.nv, nv)."""
    result = np.zeros((sum(j.nv for j in model.joints), model.nv))
    row = 0
    for joint in model.joints:
        columns, multiplier = _columns(model, joint)
        for k, column in enumerate(columns):
            result[row + k, column] = multiplier
        row += joint.nv
    return result


def _columns(model: RobotModel, joint: Joint) -> tuple[list[int], float]:
    """Return the entries of v that drive the joint, and their multiplier."""
    if joint.mimic is None:
        leader, multiplier = joint, 1.0
    elif joint.mimic.leader is None:
        return [], 0.0
    else:
        leader, multiplier = model.joints[joint.mimic.leader], joint.mimic.multiplier
    start = leader.v_start
    assert start is not None
    return list(range(start, start + leader.nv)), multiplier
