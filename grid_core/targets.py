"""Frames by name: end-effector targets, and what a call asks for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from grid_core.errors import ArgumentError, UnknownName
from grid_core.model.types import Frame, FrameKind, RobotModel
from grid_core.wording import brief, listing, near

if TYPE_CHECKING:
    from grid_core.algorithm import Options

__all__ = [
    "chosen_frame",
    "find_frame",
    "find_targets",
    "first_leaf",
    "require_name",
    "require_names",
]


def require_name(argument: str, value: object) -> str:
    """Return an argument that names a frame.

    Raises:
        ArgumentError: it is no text.
    """
    if not isinstance(value, str):
        raise ArgumentError(f"{argument} must be the name of a frame; got {brief(value)}")
    return value


def require_names(argument: str, value: object) -> tuple[str, ...] | None:
    """Return an argument that names frames: one name, a list of them, or None.

    Raises:
        ArgumentError: it is none of these.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return (value,)
    names = tuple(value) if isinstance(value, Iterable) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"{argument} must be a name or a list of names; got {brief(value)}")
    return names


def find_targets(model: RobotModel, names: Iterable[str] | None) -> tuple[int, ...]:
    """Return the frame IDs of joints and fixed joints, in the order given; None: every leaf joint.

    Raises:
        UnknownName: the robot has no such joint.
    """
    if names is None:
        joints = {f.body: f.id for f in model.frames if f.kind is FrameKind.JOINT}
        return tuple(joints[leaf] for leaf in model.leaves)
    frames = _by_name(model)
    for name in names:
        if name not in frames:
            raise _unknown(model, frames, name, "ee_joint_names")
    return tuple(frames[name] for name in names)


def find_frame(model: RobotModel, name: str, argument: str) -> int:
    """Return the frame ID of a joint, a fixed joint, a link or the root link.

    Args:
        model: the robot.
        name: the frame's name; a joint comes before a link that is called the same.
        argument: what the name was given for, for the message.

    Raises:
        UnknownName: the robot has no such frame.
    """
    frames = _by_name(model)
    if name in frames:
        return frames[name]
    if name == model.root_link and not model.floating_base:
        return 0
    found = _frame_of_link(model, name)
    if found is None:
        raise _unknown(model, frames, name, argument, links=True)
    return found


def chosen_frame(model: RobotModel, options: Options) -> Frame:
    """Return the frame that an operation on one frame is for: the first target, else the root."""
    return model.frames[options.targets[0] if options.targets else 0]


def first_leaf(model: RobotModel) -> Frame:
    """Return the frame of the first joint from which no other hangs; the root without joints."""
    return model.frames[next(iter(find_targets(model, None)), 0)]


def _by_name(model: RobotModel) -> dict[str, int]:
    return {f.name: f.id for f in model.frames if f.kind is not FrameKind.ROOT}


def _unknown(
    model: RobotModel, frames: dict[str, int], name: str, argument: str, *, links: bool = False
) -> UnknownName:
    """Make the error for a name that no joint has, nor, where links may be named, any link."""
    if not links:
        joint = _joint_of_link(model, name)
        hint = near(name, frames)
        if joint is not None:
            hint = f": that is a link, and its joint is {joint!r}"
        return UnknownName(
            f"{argument}: {model.name!r} has no joint {name!r}{hint}; it has {listing(frames)}"
        )
    others = [link.name for link in model.links if link.name not in frames]
    hint = near(name, [*frames, *others]) or _starts(name, [*frames, *others])
    return UnknownName(
        f"{argument}: {model.name!r} has no joint or link {name!r}{hint}; it has the joints "
        f"{listing(frames)}, and the links {listing(others)}"
    )


def _starts(name: str, known: list[str]) -> str:
    """Return the hint of `near` for names that begin as one does, at most three."""
    found = [repr(k) for k in known if name and k.casefold().startswith(name.casefold())]
    return f" (did you mean {listing(found[:3], 'or')}?)" if found else ""


def _joint_of_link(model: RobotModel, name: str) -> str | None:
    """The name of the joint, or fixed joint, whose frame a link's is."""
    frame = _frame_of_link(model, name)
    return None if frame is None else model.frames[frame].name


def _frame_of_link(model: RobotModel, name: str) -> int | None:
    """The frame that coincides with a link: its joint's, or its fixed joint's."""
    for link in model.links:
        if link.name != name:
            continue
        for frame in model.frames:
            same = frame.kind is not FrameKind.ROOT and frame.body == link.body
            if same and np.allclose(frame.placement, link.placement, rtol=0.0, atol=1e-12):
                return frame.id
    return None
