"""``grid resources``: the files of a served cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grid_core.cli.options import FilePath, example, grid_command
from grid_core.cli.output import say

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]

_EXAMPLE = "grid resources fetch http://127.0.0.1:8080 -o cell"


@click.group("resources", epilog=example(_EXAMPLE))
def command() -> None:
    """Fetch the files of a served cell."""


@grid_command("fetch", _EXAMPLE)
@click.argument("url", metavar="URL")
@click.option("-o", "--output", required=True, type=FilePath(), help="Folder to write into.")
def fetch(url: str, output: Path) -> None:
    """Fetch description and calibration of the cell at URL, each file checked by its hash."""
    from grid_core.description import RemoteCell, fetch_resources  # noqa: PLC0415

    say(str(fetch_resources(RemoteCell(url), output)))


command.add_command(fetch)
