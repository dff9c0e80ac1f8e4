"""``grid description``: a robot-description directory's identity, and what is wrong with it."""

from __future__ import annotations

import click

from grid_core.cli.options import example, grid_command
from grid_core.cli.output import print_json
from grid_core.wording import near

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

    click.echo(f"{description_identity(directory)} {directory}")


@grid_command("check", "grid description check robots/my_arm")
@click.argument("directory", metavar="DIR")
def check(directory: str) -> int:
    """Say everything that is wrong with DIR, one line a fault.

    The exit code is 1 if there is any.
    """
    from grid_core.description import check_description  # noqa: PLC0415 - not for --help

    faults = check_description(directory)
    for fault in faults:
        click.echo(fault)
    if not faults:
        click.echo(f"{directory}: no fault")
    return 1 if faults else 0


@grid_command("schema", "grid description schema grid.robot-config.v1")
@click.argument("name", required=False)
def schema(name: str | None) -> None:
    """Print the JSON Schema of a document by its NAME; without one, list the names."""
    from grid_core.description import json_schema  # noqa: PLC0415 - not for --help
    from grid_core.description.schemas import SCHEMAS  # noqa: PLC0415

    if name is None:
        click.echo("\n".join(SCHEMAS))
        return
    if name not in SCHEMAS:
        raise click.UsageError(f"there is no document {name!r}{near(name, SCHEMAS)}")
    print_json(json_schema(name))


command.add_command(identity)
command.add_command(check)
command.add_command(schema)
