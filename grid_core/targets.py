"""End-effector targets: from the names of joints to frame IDs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.errors import UnknownName
from grid_core.model.types import FrameKind, RobotModel
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["find_targets"]


def find_targets(model: RobotModel, names: Iterable[str] | None) -> tuple[int, ...]:
    """Return the frame IDs of joints and fixed joints, in the order given; None: every leaf joint.

    Raises:
        UnknownName: the robot has no such joint.
    """
    joints = {f.body: f.id for f in model.frames if f.kind is FrameKind.JOINT}
    if names is None:
        return tuple(joints[leaf] for leaf in model.leaves)
    frames = {f.name: f.id for f in model.frames if f.kind is not FrameKind.ROOT}
    for name in names:
        if name not in frames:
            raise UnknownName(
                f"ee_joint_names: {model.name!r} has no joint {name!r}{near(name, frames)}; "
                f"it has {listing(frames)}"
            )
    return tuple(frames[name] for name in names)
