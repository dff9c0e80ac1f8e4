"""Forward kinematics from a descriptor alone, as an application would write it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from grid_core.model.types import Array

__all__ = ["body_poses", "frame_poses", "local_rate", "motion", "theta"]


def frame_poses(descriptor: dict[str, Any], q: Array) -> dict[int, Array]:
    """T_world_frame by frame ID: world body pose times the frame's offset."""
    bodies = body_poses(descriptor, q)
    return {
        frame["id"]: bodies[frame["body"]] @ np.array(frame["T_body_frame"])
        for frame in descriptor["frames"]
    }


def body_poses(descriptor: dict[str, Any], q: Array) -> dict[int, Array]:
    """T_world_body by body ID: parent world pose times local pose."""
    poses = {-1: np.eye(4)}
    for joint in descriptor["joints"]:
        zero = np.array(joint["T_parent_joint_zero"])
        local = zero @ motion(joint, theta(descriptor, joint, q))
        poses[joint["child_body"]] = poses[joint["parent_body"]] @ local
    return poses


def theta(descriptor: dict[str, Any], joint: dict[str, Any], q: Array) -> Array:
    """The joint's local configuration."""
    if joint["mimic"] is None:
        return q[joint["q_start"] : joint["q_start"] + joint["local_nq"]]
    return _follow(descriptor, joint, q, "q_start", joint["mimic"]["offset"])


def local_rate(descriptor: dict[str, Any], joint: dict[str, Any], v: Array) -> Array:
    """The joint's local velocity."""
    if joint["mimic"] is None:
        return v[joint["v_start"] : joint["v_start"] + joint["local_nv"]]
    return _follow(descriptor, joint, v, "v_start", 0.0)


def _follow(descriptor: Any, joint: Any, values: Array, start: str, offset: float) -> Array:
    law = joint["mimic"]
    if law["leader"] is None:
        return np.array([offset])
    leader = descriptor["joints"][law["leader"]]
    return np.array([law["multiplier"] * values[leader[start]] + offset])


def motion(joint: dict[str, Any], x: Array) -> Array:
    """M_joint(q) of the local parameterizations."""
    T = np.eye(4)
    match joint["kind"]:
        case "revolute" | "continuous":
            T[:3, :3] = _about(joint["axis"], x[0])
        case "prismatic":
            T[:3, 3] = np.array(joint["axis"]) * x[0]
        case "helical":
            T[:3, :3] = _about(joint["axis"], x[0])
            T[:3, 3] = np.array(joint["axis"]) * joint["pitch"] * x[0]
        case "spherical":
            T[:3, :3] = _quaternion(x)
        case "floating":
            T[:3, :3], T[:3, 3] = _quaternion(x[3:]), x[:3]
    return T


def _about(axis: list[float], angle: float) -> Array:
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def _quaternion(xyzw: Array) -> Array:
    x, y, z, w = xyzw
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * w * K + 2.0 * K @ K
