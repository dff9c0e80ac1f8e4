"""``grid description``: a robot-description directory's identity, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grid_core.cli.options import FilePath, example, expanded, grid_command
from grid_core.cli.output import print_json, say
from grid_core.wording import near

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.group(
    "description",
    epilog=example(
        "grid description identity robots/my_arm", "grid description check robots/my_arm"
    ),
)
def command() -> None:
    """Identify and check robot descriptions."""


@grid_command("identity", "grid description identity robots/my_arm")
@click.argument("directory", metavar="DIR")
def identity(directory: str) -> None:
    """Print the identity of DIR, and DIR.

    That is a SHA-256 over its manifest and every file that the manifest registers. Files that
    are not registered do not matter.
    """
    from grid_core.description import description_identity  # noqa: PLC0415 - not for --help

    # As it was typed, to the letter: programs compare the line.
    click.echo(f"{description_identity(expanded(directory, 'DIR'))} {directory}")


@grid_command("check", "grid description check robots/my_arm")
@click.argument("directory", metavar="DIR", type=FilePath())
def check(directory: Path) -> int:
    """Say everything that is wrong with DIR, one line a fault.

    The exit code is 1 if there is any.
    """
    from grid_core.description import check_description  # noqa: PLC0415 - not for --help

    faults = check_description(directory)
    for fault in faults:
        say(fault)
    if not faults:
        say(f"{directory}: no fault")
    return 1 if faults else 0


@grid_command("schema", "grid description schema grid.robot-config.v1")
@click.argument("name", required=False)
def schema(name: str | None) -> None:
    """Print the JSON Schema of a document by its NAME; without one, list the names."""
    from grid_core.description import json_schema  # noqa: PLC0415 - not for --help
    from grid_core.description.schemas import SCHEMAS  # noqa: PLC0415

    if name is None:
        say("\n".join(SCHEMAS))
        return
    if name not in SCHEMAS:
        raise click.UsageError(f"there is no document {name!r}{near(name, SCHEMAS)}")
    print_json(json_schema(name))


command.add_command(identity)
command.add_command(check)
command.add_command(schema)
