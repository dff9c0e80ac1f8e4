"""Forces that a joint's own damping and friction need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.reference.coordinates import fold_forces, joint_rates

if TYPE_CHECKING:
    from grid_core.model.types import Array, RobotModel

__all__ = ["joint_friction"]


def joint_friction(model: RobotModel, qd: Array) -> Array:
    """Return the generalised force that overcomes every moving joint's damping and friction.

    d θ̇ + μ sign(θ̇) of each joint; a joint that mimics acts with its own rate, folded onto its
    leader. A joint at rest takes none. Every coordinate of a spherical or floating joint has the
    joint's coefficients.

    Args:
        model: the robot.
        qd: velocity, shape (B, nv) [rad/s or m/s].

    Returns:
        Shape (B, nv) [N m or N].
    """
    forces = [
        joint.damping * rate + joint.friction * np.sign(rate)
        for joint, rate in zip(model.joints, joint_rates(model, qd), strict=True)
    ]
    return fold_forces(model, forces, len(qd))
