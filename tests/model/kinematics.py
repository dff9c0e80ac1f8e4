"""Forward kinematics written for the tests alone: 4 by 4 matrices, one joint after another."""

from __future__ import annotations

import numpy as np

from grid_core.model import Joint, JointKind, RobotModel


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]], dtype=float)


def rotation(axis, angle):
    """Rodrigues' formula."""
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)


def quaternion_rotation(q):
    x, y, z, w = q / np.linalg.norm(q)
    K = skew([x, y, z])
    return np.eye(3) + 2 * w * K + 2 * (K @ K)


def motion(joint: Joint, x) -> np.ndarray:
    """Return T_joint_child for the joint's own coordinates."""
    T = np.eye(4)
    match joint.kind:
        case JointKind.REVOLUTE | JointKind.CONTINUOUS:
            T[:3, :3] = rotation(joint.axis, x[0])
        case JointKind.PRISMATIC:
            T[:3, 3] = joint.axis * x[0]
        case JointKind.HELICAL:
            T[:3, :3] = rotation(joint.axis, x[0])
            T[:3, 3] = joint.axis * joint.pitch * x[0]
        case JointKind.SPHERICAL:
            T[:3, :3] = quaternion_rotation(x)
        case JointKind.FLOATING:
            T[:3, 3] = x[:3]
            T[:3, :3] = quaternion_rotation(x[3:])
    return T


def coordinates(model: RobotModel, joint: Joint, q) -> np.ndarray:
    """Return the joint's own coordinates, a mimic joint's from its leader's."""
    if joint.mimic is None:
        return q[joint.q_start : joint.q_start + joint.nq]
    if joint.mimic.leader is None:
        return np.array([joint.mimic.offset])
    leader = model.joints[joint.mimic.leader]
    return joint.mimic.multiplier * q[leader.q_start : leader.q_start + 1] + joint.mimic.offset


def body_poses(model: RobotModel, q) -> dict[int, np.ndarray]:
    """Return T_root_body by body ID; -1 is the root itself."""
    poses = {-1: np.eye(4)}
    for joint in model.joints:
        local = motion(joint, coordinates(model, joint, q))
        poses[joint.id] = poses[joint.parent] @ joint.placement @ local
    return poses


def link_poses(model: RobotModel, q) -> dict[str, np.ndarray]:
    """Return T_root_link by link name."""
    poses = body_poses(model, q)
    return {link.name: poses[link.body] @ link.placement for link in model.links}


def q_of(model: RobotModel, values: dict[str, float]) -> np.ndarray:
    """Return q from the scalar joints' values by name."""
    q = np.zeros(model.nq)
    for joint in model.joints:
        if joint.q_start is not None:
            q[joint.q_start] = values[joint.name]
    return q
