"""From what a user calls a robot to the robot."""

from __future__ import annotations

import functools
from pathlib import Path

from grid_core.bench.robot import BUNDLED, Robot, bundled_robot, robot_from_path
from grid_core.errors import UnknownRobot
from grid_core.registry import get_robot, list_registered
from grid_core.wording import listing, near

__all__ = ["find_robot"]


def find_robot(text: str, floating: bool | None = None) -> Robot:
    """Return a robot: an existing file first, then a registered one, then one that comes along.

    A folder counts last, so that one which happens to be called ``go2`` hides no robot.

    Args:
        text: a path or a name.
        floating: whether the base floats; None: as registered, or as the robot is by nature.

    Raises:
        UnknownRobot: there is no such file or name; says near names.
    """
    path = Path(text)
    if _is_file(path):
        return robot_from_path(path, floating=bool(floating))
    if text in list_registered():
        options = {} if floating is None else {"floating_base": floating}
        return Robot(text, functools.partial(get_robot, text), options)
    if text in BUNDLED:
        return bundled_robot(text, floating=floating)
    if path.is_dir():
        return robot_from_path(path, floating=bool(floating), name=path.resolve().name)
    names = [*list_registered(), *BUNDLED]
    raise UnknownRobot(
        f"there is no file {text!r}, and no robot is called that{near(text, names)}; registered: "
        f"{listing(list_registered())}; with Grid: {listing(BUNDLED)}"
    )


def _is_file(path: Path) -> bool:
    # Anything but a folder: a pipe is readable as well.
    try:
        return path.exists() and not path.is_dir()
    except (OSError, ValueError):
        return False
