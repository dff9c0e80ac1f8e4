"""Invariants of the frame table: root first, joints by ID, then fixed frames."""

from __future__ import annotations

from typing import Any

from grid_core.descriptor.transforms import IDENTITY, check_transform
from grid_core.descriptor.tree import check_ids, require_unique
from grid_core.errors import DescriptorError

__all__ = ["check_frames"]


def check_frames(descriptor: dict[str, Any]) -> None:
    """Raise `DescriptorError` unless frames have their own namespace and sit on bodies."""
    frames, joints = descriptor["frames"], descriptor["joints"]
    check_ids(frames, "frames")
    if len(frames) < 1 + len(joints):
        message = f"{len(frames)} frames are fewer than the root and {len(joints)} joints"
        raise DescriptorError(message, where="frames", invariant="frames")
    for frame in frames:
        problem = _misplaced(frame, joints)
        if problem is not None:
            where = f"frames[{frame['id']}]"
            raise DescriptorError(problem, where=where, invariant="frames")
        check_transform(frame["T_body_frame"], f"frames[{frame['id']}].T_body_frame")
    # The root's name is its link's, and may be a joint's as well: the kind tells them apart.
    require_unique((frame["name"] for frame in frames[1:]), "frames")


def _misplaced(frame: dict[str, Any], joints: list[dict[str, Any]]) -> str | None:
    number = frame["id"]
    at_body = frame["T_body_frame"] == IDENTITY
    if number == 0:
        if frame["kind"] != "root" or frame["body"] != -1 or not at_body:
            return "frame 0 is the root: kind root, body -1, identity"
    elif number <= len(joints):
        joint = joints[number - 1]
        if frame["kind"] != "joint" or frame["body"] != joint["child_body"] or not at_body:
            return f"it is the frame of joint {joint['id']}: kind joint, its body, identity"
        if frame["name"] != joint["name"]:
            return f"joint {joint['id']} is called {joint['name']!r}; got {frame['name']!r}"
    elif frame["kind"] != "fixed":
        return f"after the joints' come fixed frames; got kind {frame['kind']!r}"
    elif frame["body"] >= len(joints):
        return f"there is no body {frame['body']}"
    return None
