"""From what a user calls a robot to the robot."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Literal

from grid_core.bench.robot import BUNDLED, Robot, bundled_robot, robot_from_path
from grid_core.cli.options import expanded
from grid_core.errors import UnknownRobot
from grid_core.registry import get_robot, list_registered
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["find_robot"]


def find_robot(text: str, floating: bool | None = None) -> Robot:
    """Return a robot: an existing file first, then a registered one, then one that comes along.

    A folder counts last, so that one which happens to be called ``go2`` hides no robot.

    Args:
        text: a path or a name.
        floating: whether the base floats; None: as registered, or as the robot is by nature.

    Raises:
        UnknownRobot: there is no such file or name; says near names.
        OptionError: a ~ of a user without a home folder.
    """
    path = expanded(text, "ROBOT")
    kind = _kind(path)
    if kind == "file":
        return robot_from_path(path, floating=bool(floating))
    if text in list_registered():
        options = {} if floating is None else {"floating_base": floating}
        return Robot(text, functools.partial(get_robot, text), options)
    if text in BUNDLED:
        return bundled_robot(text, floating=floating)
    if kind == "folder":
        return robot_from_path(path, floating=bool(floating), name=path.resolve().name)
    registered = list_registered()
    raise UnknownRobot(
        f"there is no file {_shorten(text)!r}, and no robot is called that"
        f"{near(text, [*registered, *BUNDLED])}; registered: {listing(registered)}; with Grid: "
        f"{listing(BUNDLED)}"
    )


def _kind(path: Path) -> Literal["file", "folder"] | None:
    """Return what is there; a pipe counts as a file, as it is readable as well."""
    try:
        if path.is_dir():
            return "folder"
        return "file" if path.exists() else None
    except (OSError, ValueError):  # a name too long, or with a NUL inside
        return None


def _shorten(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:197]}..."
