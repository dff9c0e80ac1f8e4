"""Load a URDF: the two functions that put the reader's steps in a row."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from attrs import evolve

from grid_core.errors import ModelError, ModelWarning
from grid_core.model.urdf.adjust import Adjustments, adjust
from grid_core.model.urdf.assemble import assemble
from grid_core.model.urdf.decode import MAX_BYTES
from grid_core.model.urdf.report import UNNAMED, Report
from grid_core.model.urdf.topology import build_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grid_core.model.types import RobotModel

__all__ = ["load_urdf", "load_urdf_string", "read_urdf"]

_MESHES = frozenset({".3mf", ".glb", ".iges", ".igs", ".obj", ".ply", ".step", ".stl", ".stp"})
"""What files of shapes are called; their first bytes are no tag."""


def load_urdf(
    path: str | os.PathLike[str], *, floating_base: bool = False, strict: bool = False
) -> RobotModel:
    """Read a robot from a URDF file.

    Beyond the URDF of ROS: ``helical`` (or ``screw``) joints with ``<axis pitch="m/rad">`` and
    ``spherical`` (or ``ball``) joints. A ``planar`` joint ``j`` becomes the joints ``j.x``,
    ``j.y`` and ``j.rotation`` in the plane that its axis is normal to; a ``floating`` joint
    below the root becomes ``j.x``, ``j.y``, ``j.z`` and ``j.rotation``. Links behind fixed
    joints are merged into the body that carries them, and stay as frames.

    Args:
        path: the file; at most 32 MiB. Meshes are never opened.
        floating_base: put a FLOATING joint ``root_joint`` between the world and the root link,
            so q starts with [x y z, qx qy qz qw] and v with [linear; angular] in the base frame.
            Otherwise the root link is fixed to the world and its mass does not matter.
        strict: refuse what would otherwise be a warning.

    Returns:
        The effective model, in SI units and radians.

    Raises:
        ModelError: the file cannot be read, or describes no robot; says file, line and element.

    Warns:
        ModelWarning: once for each suspicious thing. ``model.warnings`` keeps them, and notes
            the joints whose limits exclude zero, which is common and no fault of the file.
    """
    try:
        file = os.fsdecode(os.fspath(path))
    except TypeError as error:
        raise ModelError(f"a path is needed, not {type(path).__name__}") from error
    data = _read(file)
    if Path(file).suffix.lower() in _MESHES and b"<" not in data[:64]:
        raise ModelError("a mesh, where a URDF file is needed", file=_label(file))
    return _load(data, file, floating_base=floating_base, strict=strict)


def load_urdf_string(
    text: str | bytes, *, name: str = UNNAMED, floating_base: bool = False, strict: bool = False
) -> RobotModel:
    """Read a robot from the text of a URDF.

    Args:
        text: the document; bytes are decoded as their mark or XML declaration says, or as UTF-8.
        name: what messages call the document.
        floating_base: as in `load_urdf`.
        strict: as in `load_urdf`.

    Returns:
        The effective model, in SI units and radians.

    Raises:
        ModelError: the text describes no robot; says line and element.

    Warns:
        ModelWarning: once for each suspicious thing, also kept in ``model.warnings``.
    """
    if not isinstance(text, str | bytes):
        raise ModelError(f"text is needed, as str or bytes, not {type(text).__name__}")
    return _load(text, name, floating_base=floating_base, strict=strict)


def read_urdf(
    text: str | bytes,
    name: str,
    *,
    floating_base: bool = False,
    strict: bool = False,
    adjustments: Adjustments | None = None,
) -> tuple[RobotModel, tuple[str, ...]]:
    """Read a robot from the text of a URDF, adjusted; warn of nothing.

    Args:
        text: as in `load_urdf_string`.
        name: what messages call the document.
        floating_base: as in `load_urdf`.
        strict: as in `load_urdf`.
        adjustments: what to change before fixed joints merge and mimics are flattened.

    Returns:
        The effective model, and what is suspicious about the document.

    Raises:
        ModelError: the text describes no robot, or an adjustment cannot be made.
    """
    # lxml comes with the first robot that is read, not with `import grid_core`.
    from grid_core.model.urdf.read_robot import read_robot  # noqa: PLC0415

    report = Report(name, strict=strict)
    robot = read_robot(text, report)
    if adjustments is not None:
        robot = adjust(robot, adjustments, report)
    model = assemble(build_tree(robot, report), report, floating_base=floating_base)
    return evolve(model, warnings=(*report.warnings, *report.notes)), tuple(report.warnings)


def _load(text: str | bytes, file: str, *, floating_base: bool, strict: bool) -> RobotModel:
    model, suspicions = read_urdf(text, file, floating_base=floating_base, strict=strict)
    for message in suspicions:
        warnings.warn(message, ModelWarning, stacklevel=3)
    return model


def _read(file: str) -> bytes:
    """Return the file's bytes, but never many more than a robot has (``/dev/zero`` has no end)."""
    if not file:
        raise ModelError("the path is empty")
    try:
        with Path(file).open("rb") as stream:
            return b"".join(_chunks(stream))
    except FileNotFoundError as error:
        hint = "; to read text, use load_urdf_string" if "<" in file else ""
        raise ModelError(f"no such file{hint}", file=_label(file)) from error
    except IsADirectoryError as error:
        raise ModelError("a directory, where a URDF file is needed", file=file) from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError(f"cannot be read: {reason}", file=_label(file)) from error


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the stream's bytes up to the first piece past the limit."""
    total = 0
    while total <= MAX_BYTES and (chunk := stream.read(2**18)):
        total += len(chunk)
        yield chunk


def _label(file: str) -> str:
    return file if len(file) <= 200 else file[:197] + "..."
