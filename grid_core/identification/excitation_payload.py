"""A robot that holds something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve

from grid_core.errors import OptionError, UnknownName
from grid_core.model.types import Inertia
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.model.types import Array, RobotModel

__all__ = ["with_payload"]


def with_payload(
    model: RobotModel,
    mass: float,
    *,
    com: Sequence[float] = (0.0, 0.0, 0.0),
    frame: str | None = None,
) -> RobotModel:
    """Return a robot with a point mass fixed to it.

    Args:
        model: the robot without it.
        mass: [kg].
        com: where the mass is, in the frame [m].
        frame: name of a joint's frame; None: that of the only joint that carries no other.

    Raises:
        OptionError: a mass or a place that cannot be, or several joints carry no other.
        UnknownName: the robot has no such frame.
    """
    if not (np.isfinite(mass) and mass > 0.0):
        raise OptionError(f"a payload's mass must be above 0 kg; got {mass:g}")
    if len(com) != 3 or not np.all(np.isfinite(com)):
        raise OptionError(f"a payload's centre of mass is three numbers; got {list(com)}")
    body, T = _frame(model, frame)
    c = T[:3, :3] @ np.asarray(com, dtype=np.float64) + T[:3, 3]
    old = model.bodies[body].inertia
    total = old.mass + mass
    middle = (old.mass * old.com + mass * c) / total
    rotational = old.rotational + _point(old.mass, old.com - middle) + _point(mass, c - middle)
    bodies = list(model.bodies)
    bodies[body] = evolve(bodies[body], inertia=Inertia(total, middle, rotational))
    return evolve(model, bodies=tuple(bodies))


def _frame(model: RobotModel, name: str | None) -> tuple[int, Array]:
    frames = {frame.name: frame for frame in model.frames if frame.body >= 0}
    if name is None:
        leaves = [model.joints[k].name for k in model.leaves]
        if len(leaves) != 1:
            raise OptionError(
                f"a payload of {model.name!r} needs the name of its frame; the joints that carry "
                f"no other are {listing(leaves)}"
            )
        name = leaves[0]
    if name not in frames:
        raise UnknownName(f"{model.name!r} has no moving frame {name!r}{near(name, frames)}")
    return frames[name].body, frames[name].placement


def _point(mass: float, r: Array) -> Array:
    rotational: Array = mass * (r @ r * np.eye(3) - np.outer(r, r))
    return rotational
