"""``grid machine``: from a machine's config to a directory that a cell is served from."""

from __future__ import annotations

import click

from grid_core.cli.options import example, grid_command

__all__ = ["command"]

_EXAMPLE = "grid machine compile machine.json -o compiled"


@click.group("machine", epilog=example(_EXAMPLE))
def command() -> None:
    """Compile a machine's config."""


@grid_command("compile", _EXAMPLE)
@click.argument("machine", metavar="MACHINE.json")
@click.option("-o", "--output", required=True, help="A directory that is new or empty.")
def compile_(machine: str, output: str) -> None:
    """Check MACHINE.json and its pins, and keep every file that the cell needs.

    A description or calibration that is not the pinned one is refused. What is compiled needs
    neither afterwards.
    """
    from grid_core.description import compile_machine  # noqa: PLC0415 - not for --help

    state = compile_machine(machine, output).describe()
    cell = state.robot_cell
    if cell is not None:
        click.echo(f"model_id {cell.model_id}")
        click.echo(f"robot_description_sha256 {cell.robot_description_sha256}")
        click.echo(
            f"machine_planning_calibration_sha256 {cell.machine_planning_calibration_sha256}"
        )
    click.echo(f"machine_configuration_sha256 {state.machine_configuration_sha256}")


command.add_command(compile_)
