"""A robot that can be loaded over and over, with one backend and precision or another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from grid_core.assets import asset_path
from grid_core.loading import load_robot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from grid_core.handle import RobotHandle

__all__ = ["BUNDLED", "Robot", "bundled_robot", "robot_from_path"]

BUNDLED = {"iiwa14": False, "go2": True}
"""Robots that come with Grid and are timed by default, and whether their base floats."""


@frozen
class Robot:
    """A robot's name and how to load it."""

    name: str
    loader: Callable[..., RobotHandle] = field(repr=False)
    options: Mapping[str, Any] = field(factory=dict)
    """Options of `grid_core.load_robot` that every load of it has."""
    path: Path | None = None
    """Its URDF, for libraries that read one; None when there is no such file."""

    def load(self, **options: Any) -> RobotHandle:
        """Load it with these options of `grid_core.load_robot` besides its own."""
        return self.loader(**{**self.options, **options})


def robot_from_path(path: Path, *, floating: bool = False, name: str | None = None) -> Robot:
    """Return the robot of a URDF file."""

    def load(**options: Any) -> RobotHandle:
        return load_robot(path, **options)

    return Robot(name or path.stem, load, {"floating_base": floating}, path)


def bundled_robot(name: str, *, floating: bool | None = None) -> Robot:
    """Return a robot that comes with Grid; ``floating=None`` is the base it has by nature.

    Raises:
        UnknownRobot: no robot of that name comes with Grid.
    """
    path = asset_path(name)
    free = BUNDLED.get(path.stem, False) if floating is None else floating
    return robot_from_path(path, floating=free)
