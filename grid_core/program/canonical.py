"""The choice of body frames in which a robot's constants are mostly 0 and ±1.

A revolute joint leaves its child's frame free to slide along its axis and to turn about it;
a prismatic joint leaves everything free. Programs use that freedom, as Denavit and Hartenberg
did, so that placements lose components: fewer products in every recursion. Results do not
depend on the choice, only their cost does.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from grid_core.model.types import Array, Joint, JointKind

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["canonical_frame", "snap", "upright_frame"]

SNAP = 1e-11
"""A rotation's entry this near to 0 or ±1 is a quarter turn as far as a URDF's digits tell."""

REACH = 2.0
"""How far a frame may slide along its axis, in distances between its joint and the next ones.

Two axes that are parallel but for a millionth meet far away. A frame there would save a product
or two and lose every digit: moments about it are of the distance squared.
"""

_TURNING = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.HELICAL)


def snap(T: Array) -> Array:
    """Round what is 0 or ±1 but for rounding in a placement (4, 4)."""
    T = T.copy()
    R, p = T[:3, :3], T[:3, 3]
    for target in (-1.0, 0.0, 1.0):
        R[np.abs(R - target) < SNAP] = target
    p[np.abs(p) < 1e-14 * max(1.0, float(np.abs(p).max()))] = 0.0
    return T


def _align(axis: Array) -> Array:
    """Return a rotation C with C·e_z = axis, a signed permutation where the axis allows."""
    k = int(np.argmax(np.abs(axis)))
    z = np.zeros(3)
    z[k] = math.copysign(1.0, axis[k])
    C = np.column_stack([np.roll(np.eye(3)[k], 1), np.cross(z, np.roll(np.eye(3)[k], 1)), z])
    if np.abs(axis - z).max() < SNAP:
        return C
    # The least turn from that signed unit vector to the axis (Rodrigues; never opposite).
    v = np.cross(z, axis)
    K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    result: Array = (np.eye(3) + K + K @ K / (1.0 + z @ axis)) @ C
    return result


def _about_z(angle: float, slide: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, slide], [0, 0, 0, 1.0]])


def _cost(T: Array) -> float:
    """Products that a placement costs in one recursion, roughly."""
    R, p = snap(T)[:3, :3], T[:3, 3]
    skew = np.count_nonzero((R != 0.0) & (np.abs(R) != 1.0))
    return float(skew) + 5.0 * float(np.count_nonzero(np.abs(p) > SNAP))


def _angles(T: Array) -> Iterator[float]:
    """Turns about the child's z that zero an entry of the rotation's last row."""
    yield 0.0
    R = snap(T)[:3, :3]
    if np.count_nonzero((R != 0.0) & (np.abs(R) != 1.0)) > 4:
        # Row 2 of R·Rz(φ) begins with R20 cos φ + R21 sin φ.
        yield math.atan2(-R[2, 0], R[2, 1])


def _slides(T: Array, reach: float) -> Iterator[float]:
    """Slides along the child's z that zero components of the placement's translation."""
    yield 0.0
    axis, p = T[:3, 2], T[:3, 3]
    candidates = [-p[k] / axis[k] for k in range(3) if min(abs(axis[k]), abs(p[k])) > SNAP]
    foot = -float(axis @ p)
    yield from (d for d in (*candidates, foot) if abs(d) <= reach)


def _parent_slides(T: Array, reach: float) -> Iterator[float]:
    """Slides of the parent along its z that bring it level with this child's axis."""
    axis, p = T[:3, 2], T[:3, 3]
    candidates = [float(p[2])]
    flat = axis[:2]
    along = float(flat @ flat)
    if along > SNAP:
        # Foot of the common normal of the two axes.
        candidates.append(float(p[2] - axis[2] * (flat @ p[:2]) / along))
    yield from (d for d in candidates if abs(d) <= reach)


def _best_cost(T: Array, reach: float) -> float:
    moves = itertools.product(_angles(T), _slides(T, reach))
    return min(_cost(T @ _about_z(a, d)) for a, d in moves)


def canonical_frame(joint: Joint, placement: Array, children: list[tuple[Joint, Array]]) -> Array:
    """Choose T_joint_canonical (4, 4).

    Args:
        joint: the joint.
        placement: T_parent_joint at zero motion from the parent's canonical frame, (4, 4).
        children: each child joint with its T_joint_child placement, for looking ahead.
    """
    if joint.kind is JointKind.PRISMATIC:
        # The child's frame may lie anywhere: on the parent's.
        return np.asarray(np.linalg.inv(placement))
    if joint.kind not in _TURNING or joint.axis is None:
        return np.eye(4)
    base = np.eye(4)
    base[:3, :3] = _align(joint.axis)
    start = placement @ base
    below = [
        np.linalg.inv(base) @ T @ upright_frame(child)
        for child, T in children
        if child.kind is not JointKind.PRISMATIC
    ]
    distances = [np.linalg.norm(T[:3, 3]) for T in (joint.placement, *(T for _, T in children))]
    reach = REACH * float(max(distances))
    weight = 0.0 if joint.parent < 0 else 1.0  # nothing moves above the first joint
    angles = [*_angles(start), *(a for T in below for a in _parent_angles(T))]
    slides = [*_slides(start, reach), *(d for T in below for d in _parent_slides(T, reach))]
    best, best_cost = (0.0, 0.0), math.inf
    for angle, slide in itertools.product(dict.fromkeys(angles), dict.fromkeys(slides)):
        own = _about_z(angle, slide)
        back = np.linalg.inv(own)
        cost = weight * _cost(start @ own) + sum(_best_cost(back @ T, reach) for T in below)
        if cost < best_cost - 1e-9:
            best, best_cost = (angle, slide), cost
    return base @ _about_z(*_facing(start, *best))


def _facing(start: Array, angle: float, slide: float) -> tuple[float, float]:
    """Turn a frame about its axis by half a turn where fewer entries are then -1.

    Of two frames that cost the same one is to be taken by rule, and the same one in a limb and in
    its mirror image.
    """
    turned = angle + math.pi
    if _minus_ones(start @ _about_z(turned, slide)) < _minus_ones(start @ _about_z(angle, slide)):
        return turned, slide
    return angle, slide


def _minus_ones(T: Array) -> int:
    return int(np.count_nonzero(snap(T)[:3, :2] == -1.0))


def upright_frame(joint: Joint) -> Array:
    """Return T_joint_node (4, 4) that only puts an axis that turns on z, wherever joints stand."""
    T = np.eye(4)
    if joint.kind in _TURNING and joint.axis is not None:
        T[:3, :3] = _align(joint.axis)
    return T


def _parent_angles(T: Array) -> Iterator[float]:
    """Turns of the parent about its z that take up this child's turn about it."""
    R = snap(T)[:3, :3]
    if np.count_nonzero((R != 0.0) & (np.abs(R) != 1.0)) > 4:
        turn = R @ _about_z(math.atan2(-R[2, 0], R[2, 1]), 0.0)[:3, :3]
        yield math.atan2(turn[1, 0], turn[0, 0])
