"""A humanoid of 29 joints, made up: two legs of 6, a waist of 3, two arms of 7."""

from __future__ import annotations

import functools

import numpy as np

from tests.support import urdf
from tests.support.robots import Robot

__all__ = ["HUMANOID", "humanoid_urdf"]

_AXES = {"pitch": (0, 1, 0), "roll": (1, 0, 0), "yaw": (0, 0, 1)}

# Joint, axis, offset from the parent [m] (left side), tilt about y [rad], mass [kg], length [m].
_LEG = [
    ("hip_pitch", "pitch", (0.0, 0.065, -0.1), 0.0, 1.35, 0.06),
    ("hip_roll", "roll", (0.0, 0.052, -0.03), -0.17, 1.5, 0.08),
    ("hip_yaw", "yaw", (0.025, 0.0, -0.124), 0.0, 1.7, 0.18),
    ("knee", "pitch", (-0.08, 0.002, -0.178), 0.17, 1.93, 0.3),
    ("ankle_pitch", "pitch", (0.0, 0.0, -0.3), 0.0, 0.074, 0.02),
    ("ankle_roll", "roll", (0.0, 0.0, -0.0176), 0.0, 0.61, 0.05),
]
_WAIST = [
    ("waist_yaw", "yaw", (-0.004, 0.0, 0.0), 0.0, 0.21, 0.04),
    ("waist_roll", "roll", (0.0, 0.0, 0.035), 0.0, 0.086, 0.02),
    ("waist_pitch", "pitch", (0.0, 0.0, 0.019), 0.0, 8.6, 0.35),
]
_ARM = [
    ("shoulder_pitch", "pitch", (0.004, 0.1, 0.238), 0.0, 0.72, 0.06),
    ("shoulder_roll", "roll", (0.0, 0.038, -0.014), 0.28, 0.64, 0.1),
    ("shoulder_yaw", "yaw", (0.0, 0.006, -0.103), 0.0, 0.73, 0.1),
    ("elbow", "pitch", (0.016, 0.0, -0.081), 0.0, 0.6, 0.1),
    ("wrist_roll", "roll", (0.1, 0.002, -0.01), 0.0, 0.085, 0.04),
    ("wrist_pitch", "pitch", (0.038, 0.0, 0.0), 0.0, 0.48, 0.05),
    ("wrist_yaw", "yaw", (0.046, 0.0, 0.0), 0.0, 0.25, 0.08),
]


@functools.cache
def humanoid_urdf() -> str:
    """Return the document; every number is made up, in the proportions of a small humanoid."""
    elements = [_body("pelvis", 3.8, 0.15)]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        elements += _limb("pelvis", f"{side}_", sign, _LEG)
    elements += _limb("pelvis", "", 1.0, _WAIST)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        elements += _limb("waist_pitch_link", f"{side}_", sign, _ARM)
    return urdf.robot("humanoid", *elements)


def _limb(parent: str, prefix: str, sign: float, joints: list) -> list[str]:
    elements = []
    for name, axis, (x, y, z), tilt, mass, length in joints:
        link = f"{prefix}{name}_link"
        elements += [
            _body(link, mass, length),
            urdf.joint(
                f"{prefix}{name}_joint",
                "revolute",
                parent,
                link,
                xyz=(x, sign * y, z),
                rpy=(0.0, tilt, 0.0),
                axis=_AXES[axis],
            ),
        ]
        parent = link
    return elements


def _body(name: str, mass: float, length: float) -> str:
    """Return a link like a rod with some thickness, its inertia not aligned with its axes."""
    a, b = mass * (length**2 / 12.0 + 1e-3), mass * (length**2 / 60.0 + 5e-4)
    inertia = np.array(
        [[a, 0.05 * b, 0.02 * b], [0.05 * b, a, -0.03 * b], [0.02 * b, -0.03 * b, b]]
    )
    return urdf.link(name, mass, (0.1 * length, 0.03 * length, -0.4 * length), inertia)


HUMANOID = Robot("humanoid", text=humanoid_urdf())
"""Load it with ``floating_base=True``: nq = 36, nv = 35."""
