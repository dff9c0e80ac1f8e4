"""Derivatives along MuJoCo's tangents, from those along a floating base's own: the chain rule.

MuJoCo's base has the velocity R v and the acceleration R c, c = v̇ + ω × v, along the world's
axes, and its force R f. Where these stay as the base turns by R [δ]×, its own change:

    δv = v × δ,    δv̇ = c × δ - ω × δv,

and a change of R v and ω at constant R c brings δv̇ = v × δω - ω × δv. The force gains δ × f.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.reference.spatial import skew

if TYPE_CHECKING:
    from grid_core.model.types import Array

__all__ = ["along_world_axes"]


def along_world_axes(dtau: Array, M: Array, tau: Array, qd: Array, qdd: Array) -> Array:
    """Return ∂τ/∂q and ∂τ/∂q̇ with the base's motion along the world's axes held.

    Rows and columns stay along the base's own axes: turning them is left to who knows R.

    Args:
        dtau: [∂τ/∂q | ∂τ/∂q̇] in Pinocchio's coordinates, (B, nv, 2 nv).
        M: mass matrix, (B, nv, nv).
        tau: τ, (B, nv).
        qd: velocity, [linear; angular; ...] in the base's axes, (B, nv).
        qdd: its derivative, (B, nv).
    """
    nv = M.shape[-1]
    v, w = (skew(qd[:, k : k + 3]) for k in (0, 3))
    c = skew(qdd[:, :3] + np.cross(qd[:, 3:6], qd[:, :3]))
    result = dtau.copy()
    by_speed, lifted = dtau[:, :, nv : nv + 3], M[:, :, :3]
    result[:, :, 3:6] += by_speed @ v + lifted @ (c - w @ v)
    result[:, :3, 3:6] -= skew(tau[:, :3])
    result[:, :, nv : nv + 3] -= lifted @ w
    result[:, :, nv + 3 : nv + 6] += lifted @ v
    return result
