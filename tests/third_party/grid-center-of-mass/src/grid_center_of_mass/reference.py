"""The center of mass as a textbook has it: batched NumPy in float64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.reference.coordinates import fold_matrix
from grid_core.reference.joints import motion_subspace
from grid_core.reference.kinematics import forward_kinematics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.algorithm import Context
    from grid_core.model.types import Array, RobotModel


def center_of_mass(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return the mean of the bodies' centers of mass, weighted by their masses.

    Inputs: ``q`` (B, nq).

    Returns:
        ``com`` (B, 3) in the world [m].
    """
    masses = body_masses(ctx.model)
    centers = body_centers(ctx.model, forward_kinematics(ctx.model, ctx["q"]))
    return {"com": np.einsum("i,bix->bx", masses, centers) / masses.sum()}


def center_of_mass_jacobian(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return the derivative of the center of mass along each velocity coordinate.

    A body's center at x moves with a joint at p that carries it by R (v + ω × Rᵀ(x - p)), where
    [ω; v] is a column of the joint's motion subspace and R turns the joint's frame into the
    world's.

    Inputs: ``q`` (B, nq).

    Returns:
        ``J`` (B, 3, nv) in the world [m/rad, or 1 for prismatic joints].
    """
    model, masses = ctx.model, body_masses(ctx.model)
    T = forward_kinematics(model, ctx["q"])
    centers = body_centers(model, T)
    widths = np.cumsum([0, *(joint.nv for joint in model.joints)])
    own = np.zeros((len(T), 3, widths[-1]))  # over all joints, also those that mimic
    for body in range(model.nb):
        j = body
        while j >= 0:
            R, p = T[:, j, :3, :3], T[:, j, :3, 3]
            S = motion_subspace(model.joints[j])
            arm = np.einsum("bxi,bx->bi", R, centers[:, body] - p)
            moved = S[3:].T + np.cross(S[:3].T, arm[:, None])  # (B, joint.nv, 3)
            own[:, :, widths[j] : widths[j + 1]] += masses[body] * (R @ moved.swapaxes(1, 2))
            j = model.joints[j].parent
    return {"J": own @ fold_matrix(model) / masses.sum()}


def refuse(ctx: Context[Array]) -> str | None:
    """Say that a robot has no center of mass; None when it has one."""
    return None if body_masses(ctx.model).sum() > 0.0 else "its moving bodies have no mass"


def body_masses(model: RobotModel) -> Array:
    """Return the mass of each body [kg], shape (nb,)."""
    return np.array([body.inertia.mass for body in model.bodies])


def body_centers(model: RobotModel, T: Array) -> Array:
    """Return the center of mass of each body in the world [m], shape (B, nb, 3)."""
    local = np.array([body.inertia.com for body in model.bodies]).reshape(model.nb, 3, 1)
    centers: Array = (T[..., :3, :3] @ local)[..., 0] + T[..., :3, 3]
    return centers
