"""Random states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from grid_core.model import random_configuration

if TYPE_CHECKING:
    from grid_core.model.types import Array, RobotModel

__all__ = ["State", "random_state"]


@frozen
class State:
    """Everything the dynamics depend on, batched."""

    q: Array
    qd: Array
    qdd: Array
    u: Array
    f_ext: Array
    """Shape (B, nb, 6), [linear; angular]."""


def random_state(model: RobotModel, seed: int = 0, batch: int = 2) -> State:
    """Return states inside the limits, of rates, forces and wrenches about 1."""
    rng = np.random.default_rng(seed)
    q = random_configuration(model, rng, batch)
    qd, qdd, u = (rng.normal(size=(batch, model.nv)) for _ in range(3))
    return State(q, qd, qdd, u, rng.normal(size=(batch, model.nb, 6)))
