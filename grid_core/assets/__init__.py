"""Robots that come with Grid, so that every example runs right after installation."""

from __future__ import annotations

from pathlib import Path

from grid_core.errors import UnknownRobot

__all__ = ["asset_names", "asset_path"]


def asset_names() -> tuple[str, ...]:
    """Return the names of the robots that come with Grid, sorted."""
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.urdf")))


def asset_path(name: str) -> Path:
    """Return the path of a robot's URDF.

    Args:
        name: such as ``iiwa14`` or ``go2``, with or without ``.urdf``.

    Raises:
        UnknownRobot: no such robot comes with Grid; the message lists those that do.
    """
    folder = Path(__file__).parent
    known = {path.stem: path for path in sorted(folder.glob("*.urdf"))}
    try:
        return known[name.removesuffix(".urdf")]
    except KeyError:
        raise UnknownRobot(
            f"no robot {name!r} comes with Grid; there are {', '.join(known)}"
        ) from None
