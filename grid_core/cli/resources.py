"""``grid resources``: the files of a served cell."""

from __future__ import annotations

import click

from grid_core.cli.options import example, grid_command

__all__ = ["command"]

_EXAMPLE = "grid resources fetch http://127.0.0.1:8080 -o cell"


@click.group("resources", epilog=example(_EXAMPLE))
def command() -> None:
    """Fetch the files of a served cell."""


@grid_command("fetch", _EXAMPLE)
@click.argument("url", metavar="URL")
@click.option("-o", "--output", required=True, help="Folder to write into.")
def fetch(url: str, output: str) -> None:
    """Fetch description and calibration of the cell at URL, each file checked by its hash."""
    from grid_core.description import RemoteCell, fetch_resources  # noqa: PLC0415

    click.echo(str(fetch_resources(RemoteCell(url), output)))


command.add_command(fetch)
