"""A URDF joint → the effective joints that make its motion.

A planar joint is two prismatic joints and a continuous one, a floating joint below the root
three prismatic joints and a spherical one; each but the last moves a massless body.
"""

from __future__ import annotations

import math

import numpy as np
from attrs import field, frozen

from grid_core.model.types import Array, JointKind, Limits
from grid_core.model.urdf.elements import JointElement, JointType

__all__ = ["Motion", "motions", "plane_basis"]

_NATIVE = {
    JointType.REVOLUTE: JointKind.REVOLUTE,
    JointType.CONTINUOUS: JointKind.CONTINUOUS,
    JointType.PRISMATIC: JointKind.PRISMATIC,
    JointType.HELICAL: JointKind.HELICAL,
    JointType.SPHERICAL: JointKind.SPHERICAL,
    JointType.FLOATING: JointKind.FLOATING,
}


@frozen(eq=False)
class Motion:
    """One effective joint to be."""

    suffix: str
    """What its name has after that of the URDF joint; empty for the joint itself."""
    kind: JointKind
    axis: Array | None = None
    pitch: float = 0.0
    limits: Limits = field(factory=Limits)


def motions(joint: JointElement, *, from_root: bool) -> list[Motion]:
    """Return the effective joints, root side first; a fixed joint has none.

    Args:
        joint: the URDF joint.
        from_root: whether it hangs from the root reference, where a floating joint is native.
    """
    if joint.type is JointType.FIXED:
        return []
    if joint.type is JointType.PLANAR:
        assert joint.axis is not None
        x, y, normal = plane_basis(joint.axis)
        return [
            Motion(".x", JointKind.PRISMATIC, x),
            Motion(".y", JointKind.PRISMATIC, y),
            Motion(".rotation", JointKind.CONTINUOUS, normal),
        ]
    if joint.type is JointType.FLOATING and not from_root:
        axes = zip((".x", ".y", ".z"), np.eye(3), strict=True)
        slides = [Motion(suffix, JointKind.PRISMATIC, axis) for suffix, axis in axes]
        return [*slides, Motion(".rotation", JointKind.SPHERICAL)]
    native = Motion("", _NATIVE[joint.type], joint.axis, joint.pitch, joint.limits)
    return [native]


def plane_basis(normal: Array) -> tuple[Array, Array, Array]:
    """Return x, y and the normal of a planar joint: right-handed, unit, in the joint frame.

    x is the coordinate axis after the one closest to the normal (z → x, x → y, y → z), made
    normal to it; y = normal cross x. Pinocchio 4.1 moves every planar joint in the joint frame's
    x and y, whatever its axis; for axis z the two agree.
    """
    nearest = int(np.argmax(np.abs(normal)))
    x = np.eye(3)[(nearest + 1) % 3]
    # Not by BLAS, whose last bit is the processor's; see grid_core.model.spatial.compose.
    x = x - float(normal[(nearest + 1) % 3]) * normal
    x = x / math.hypot(*x.tolist())
    return x, np.cross(normal, x), normal
