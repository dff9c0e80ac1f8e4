"""Robots of other masses and measures, and Pinocchio's model made the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from grid_core.model.parameters import parameters
from grid_core.reference.rotations import axis_rotation

if TYPE_CHECKING:
    from grid_core.model.types import Array, RobotModel

__all__ = ["apply_to", "varied"]


def varied(model: RobotModel, batch: int, seed: int = 0) -> dict[str, Array]:
    """Return `inertias` (B, nb, 10), loads added, and `placements` (B, nj, 4, 4), joints moved."""
    rng = np.random.default_rng(seed)
    inertias = np.tile(parameters(model).reshape(model.nb, 10), (batch, 1, 1))
    for pi in inertias.reshape(-1, 10):
        for _ in range(4):
            m, c = rng.uniform(0.05, 0.5), rng.normal(scale=0.2, size=3)
            I = m * (c @ c * np.eye(3) - np.outer(c, c))
            pi += [m, *(m * c), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]
    nominal = np.array([joint.placement for joint in model.joints]).reshape(-1, 4, 4)
    placements = np.tile(nominal, (batch, 1, 1, 1))
    for T in placements.reshape(-1, 4, 4):
        axis = rng.normal(size=3)
        turn = axis_rotation(axis / np.linalg.norm(axis), rng.normal(scale=0.4, size=1))[0]
        T[:3, :3] = T[:3, :3] @ turn
        T[:3, 3] += rng.normal(scale=0.1, size=3)
    if model.floating_base:
        placements[:, 0] = nominal[0]
    return {"inertias": inertias, "placements": placements}


def apply_to(theirs: Any, inertias: Array | None, placements: Array | None) -> None:
    """Write one problem's numbers into Pinocchio's model, whose joints are ours one for one."""
    for i, pi in enumerate(() if inertias is None else inertias):
        theirs.inertias[i + 1] = pin.Inertia.FromDynamicParameters(pi)
    for i, T in enumerate(() if placements is None else placements):
        theirs.jointPlacements[i + 1] = pin.SE3(T)
