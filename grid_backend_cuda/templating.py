"""Templates of CUDA C: an undefined name is an error, and tags leave no blank lines."""

from __future__ import annotations

import functools
from pathlib import Path

import jinja2

__all__ = ["TEMPLATES", "environment"]

TEMPLATES = Path(__file__).parent / "templates"


@functools.cache
def environment(*folders: Path) -> jinja2.Environment:
    """Return the templates of these folders, sought in that order."""
    # CUDA C is no markup: there is nothing to escape.
    return jinja2.Environment(  # noqa: S701
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
