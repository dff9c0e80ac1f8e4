"""Pinocchio's functions by the names that benchmark cases give, for one state at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from grid_core.bench.contender import Declined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grid_core.model.types import Array

__all__ = ["Function", "find_function"]


@frozen
class Function:
    """How to call it, and how to read what it returns."""

    call: Callable[..., Any]
    """``call(model, data, q, ...)``."""
    read: Callable[[Any], Sequence[Array]]
    """From what a call returns to one array an output; none: not what Grid returns."""
    note: str = ""


def find_function(pin: Any, name: str, frames: Sequence[int]) -> Function:
    """Return a function.

    Args:
        pin: the module ``pinocchio``.
        name: as `BenchmarkCase.pinocchio` has it.
        frames: Pinocchio's frames of the end effectors.

    Raises:
        Declined: Pinocchio has no such function.
    """
    if name in _OF_FRAMES:
        return _OF_FRAMES[name](pin, tuple(frames))
    if not hasattr(pin, name):
        raise Declined(f"this Pinocchio has no {name}")
    return Function(getattr(pin, name), _arrays)


def _arrays(returned: Any) -> list[Array]:
    if returned is None:
        return []
    parts = returned if isinstance(returned, tuple) else (returned,)
    return [np.array(part) for part in parts]


def _placements(pin: Any, frames: tuple[int, ...]) -> Function:
    """Only the frames that are asked for: a robot has many more."""

    def call(model: Any, data: Any, q: Array) -> list[Any]:
        pin.forwardKinematics(model, data, q)
        return [pin.updateFramePlacement(model, data, frame) for frame in frames]

    def read(placements: list[Any]) -> list[Array]:
        poses = [(p.translation, pin.rpy.matrixToRpy(p.rotation)) for p in placements]
        return [np.concatenate([part for pose in poses for part in pose])]

    return Function(call, read, "placements, without their angles")


def _jacobians(pin: Any, frames: tuple[int, ...]) -> Function:
    reference = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED

    def call(model: Any, data: Any, q: Array) -> None:
        for frame in frames:
            pin.computeFrameJacobian(model, data, q, frame, reference)

    return Function(call, _arrays, "geometric Jacobian, without roll, pitch and yaw")


_OF_FRAMES = {"updateFramePlacements": _placements, "computeFrameJacobian": _jacobians}
