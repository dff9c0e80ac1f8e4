"""The plugin that offers URDF, as a file and as text."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

from grid_core.hookspecs import hookimpl
from grid_core.model.loading import load_urdf, load_urdf_string
from grid_core.model.source import ModelSource

__all__ = ["grid_model_sources"]

_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def is_urdf_text(source: object) -> bool:
    """Whether the source is a document: its first character that is not space is ``<``."""
    if isinstance(source, str):
        return source.removeprefix("\ufeff")[:4096].lstrip().startswith("<")
    if not isinstance(source, bytes):
        return False
    start = source[:4096]
    for mark in _MARKS:
        start = start.removeprefix(mark)
    return start.lstrip(b" \t\r\n\0").startswith(b"<")


def is_urdf_file(source: object) -> bool:
    """Whether the source is a path, to anything but a directory."""
    if not isinstance(source, str | os.PathLike) or is_urdf_text(source):
        return False
    try:
        return source == "" or not Path(source).is_dir()
    except (OSError, TypeError, ValueError):  # load_urdf has the message for an impossible path
        return True


@hookimpl
def grid_model_sources() -> list[ModelSource]:
    """Offer the two forms of URDF."""
    return [
        ModelSource("urdf-file", "a URDF file, by its path", is_urdf_file, load_urdf),
        ModelSource("urdf-text", "the text of a URDF", is_urdf_text, load_urdf_string),
    ]
