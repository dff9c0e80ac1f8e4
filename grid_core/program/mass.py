"""Mass distributions as constants, and how joints let them move towards the root.

A body enters the dynamics only through m, h = m·c and Σ = ∫ x xᵀ dm about its frame's origin.
Some of it never feels the joint: a point mass on a revolute axis moves with the parent
whatever the angle. Moving such parts to the parent leaves every torque, M and forward dynamics
as they are, and leaves zeros that a traced program then folds away (the base inertial
parameters of Gautier & Khalil, "Direct calculation of minimum set of inertial parameters of
serial robots", 1990).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen

from grid_core.model.types import Array, Inertia, JointKind

__all__ = ["NO_MASS", "Mass", "split_at_joint"]


@frozen(eq=False)
class Mass:
    """A mass distribution seen from some frame."""

    m: float
    """Mass [kg]."""
    h: Array
    """First moment m·c [kg m], shape (3,)."""
    second: Array
    """Second moment Σ = ∫ x xᵀ dm [kg m²], shape (3, 3)."""

    @classmethod
    def of(cls, inertia: Inertia) -> Mass:
        """Read a body's inertia, in its joint frame."""
        about_origin = inertia.at_origin
        second = 0.5 * np.trace(about_origin) * np.eye(3) - about_origin
        return cls(inertia.mass, inertia.mass * inertia.com, second)

    @classmethod
    def of_parameters(cls, pi: Any) -> Mass:
        """Read a body's ten parameters, which may be symbolic (`grid_core.model.parameters`)."""
        m, x, y, z, xx, xy, yy, xz, yz, zz = pi
        half = 0.5 * (xx + yy + zz)
        second = [[half - xx, -xy, -xz], [-xy, half - yy, -yz], [-xz, -yz, half - zz]]
        return cls(m, np.array([x, y, z]), np.array(second))

    def __add__(self, other: Mass) -> Mass:
        return Mass(self.m + other.m, self.h + other.h, self.second + other.second)

    def moved(self, T: Array) -> Mass:
        """The same distribution from the frame A, T = T_A_here (4, 4)."""
        R, p = T[:3, :3], T[:3, 3]
        h = R @ self.h
        mixed = np.outer(p, h)
        second = R @ self.second @ R.T + mixed + mixed.T + self.m * np.outer(p, p)
        return Mass(self.m, h + self.m * p, second)


NO_MASS = Mass(0.0, np.zeros(3), np.zeros((3, 3)))


def split_at_joint(kind: JointKind, mass: Mass) -> tuple[Mass, Mass]:
    """Split a body's mass, seen from its canonical frame, into (what stays, what moves on).

    What moves on is to be added to the parent at the joint's zero placement. Canonical frames
    have a revolute joint's axis on z.
    """
    zero = np.zeros((3, 3))
    if kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS):
        # Masses anywhere on the axis: m, h_z and Σ_zz.
        on_axis = np.diag([0.0, 0.0, mass.second[2, 2]])
        moving = Mass(mass.m, np.array([0.0, 0.0, mass.h[2]]), on_axis)
        staying = Mass(0.0, mass.h * [1.0, 1.0, 0.0], mass.second - on_axis)
    elif kind is JointKind.SPHERICAL:
        moving = Mass(mass.m, np.zeros(3), zero)
        staying = Mass(0.0, mass.h, mass.second)
    elif kind is JointKind.PRISMATIC:
        # The orientation is the parent's, so rotational inertia is the parent's too.
        moving = Mass(0.0, np.zeros(3), mass.second)
        staying = Mass(mass.m, mass.h, zero)
    else:
        moving, staying = NO_MASS, mass
    return staying, moving
