"""Joint models: how each kind of joint moves its body (Featherstone 2008, Table 4.1).

``jcalc`` of the book, split in two. Every motion subspace here is constant in the body's own
joint frame, so its apparent derivative vanishes and c_J = 0 throughout.
"""

from __future__ import annotations

import numpy as np

from grid_core.model.types import Array, Joint, JointKind
from grid_core.reference.rotations import axis_rotation, quaternion_rotation

__all__ = ["joint_motion", "motion_subspace"]


def motion_subspace(joint: Joint) -> Array:
    """Return S with v_J = S q̇_J, [angular; linear] in the body's joint frame.

    A floating joint's rate is [linear; angular] [m/s, rad/s] and a spherical one's is the angular
    velocity [rad/s], both in the moving frame.

    Returns:
        Shape (6, joint.nv).
    """
    zero, one = np.zeros((3, 3)), np.eye(3)
    if joint.kind is JointKind.FLOATING:
        return np.block([[zero, one], [one, zero]])
    if joint.kind is JointKind.SPHERICAL:
        return np.vstack([one, zero])
    assert joint.axis is not None
    a = joint.axis
    if joint.kind is JointKind.PRISMATIC:
        return np.concatenate([np.zeros(3), a])[:, None]
    # Revolute and continuous joints are helical ones of pitch 0.
    return np.concatenate([a, joint.pitch * a])[:, None]


def joint_motion(joint: Joint, q: Array) -> Array:
    """Return the placement of the moved joint frame in the joint frame at zero motion.

    Args:
        joint: the joint.
        q: its own coordinates, shape (B, joint.nq): an angle [rad], a length [m], a unit
            quaternion xyzw, or a position [m] followed by a unit quaternion xyzw.

    Returns:
        T, shape (B, 4, 4).
    """
    T = np.tile(np.eye(4), (len(q), 1, 1))
    if joint.kind is JointKind.FLOATING:
        T[:, :3, :3], T[:, :3, 3] = quaternion_rotation(q[:, 3:]), q[:, :3]
        return T
    if joint.kind is JointKind.SPHERICAL:
        T[:, :3, :3] = quaternion_rotation(q)
        return T
    assert joint.axis is not None
    if joint.kind is JointKind.PRISMATIC:
        T[:, :3, 3] = q * joint.axis
        return T
    T[:, :3, :3] = axis_rotation(joint.axis, q[:, 0])
    T[:, :3, 3] = joint.pitch * q * joint.axis
    return T
