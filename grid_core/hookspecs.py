"""The hooks a plugin may implement, under the pluggy project name ``grid``.

A package announces its plugin module by an entry point of the group ``grid.plugins``. Hooks
return records; Grid validates them and names the provider in every message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click

    from grid_core.algorithm import Algorithm
    from grid_core.backend import Backend
    from grid_core.header import HeaderWriter
    from grid_core.model.source import ModelSource

__all__ = [
    "PROJECT",
    "grid_algorithms",
    "grid_backends",
    "grid_commands",
    "grid_headers",
    "grid_model_sources",
    "hookimpl",
]

PROJECT = "grid"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def grid_algorithms() -> Iterable[Algorithm]:  # type: ignore[empty-body]
    """Return the algorithms this plugin offers."""


@hookspec
def grid_backends() -> Iterable[Backend]:  # type: ignore[empty-body]
    """Return the backends this plugin offers."""


@hookspec
def grid_model_sources() -> Iterable[ModelSource]:  # type: ignore[empty-body]
    """Return the kinds of robot description this plugin can read."""


@hookspec
def grid_commands() -> Iterable[click.Command]:  # type: ignore[empty-body]
    """Return commands to add to the ``grid`` command line."""


@hookspec
def grid_headers() -> Iterable[HeaderWriter]:  # type: ignore[empty-body]
    """Return ways to write a robot's operations as source text for other programs."""
