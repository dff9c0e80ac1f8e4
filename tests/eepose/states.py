"""Configurations whose targets are away from, or right at, the singularity of the angles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.model import random_configuration
from grid_core.reference.kinematics import forward_kinematics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.model.types import Array, RobotModel

__all__ = ["regular_configurations", "some_targets"]


def some_targets(model: RobotModel, most: int = 3) -> tuple[int, ...]:
    """Return frame IDs: the first and the last leaf, and the last fixed frame."""
    joints = {f.body: f.id for f in model.frames if f.kind.name == "JOINT"}
    fixed = [f.id for f in model.frames if f.kind.name not in {"JOINT", "ROOT"}]
    leaves = [joints[leaf] for leaf in model.leaves]
    return tuple(dict.fromkeys([*leaves[:1], *leaves[-1:], *fixed[-1:]]))[:most]


def regular_configurations(
    model: RobotModel, targets: Sequence[int], batch: int = 2, seed: int = 0, margin: float = 0.15
) -> Array:
    """Draw configurations where every target's cos(pitch) is at least the margin."""
    rng = np.random.default_rng(seed)
    q = random_configuration(model, rng, 400)
    T = forward_kinematics(model, q)
    good = np.ones(len(q), dtype=bool)
    for frame in (model.frames[t] for t in targets):
        R = frame.placement if frame.body < 0 else T[:, frame.body] @ frame.placement
        good &= np.hypot(R[..., 0, 0], R[..., 1, 0]) >= margin
    if not good.any():  # a target that is fixed to the root, pointing straight down
        return q[:batch]
    return q[good][:batch]
