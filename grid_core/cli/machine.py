"""``grid machine``: from a machine's config to a directory that a cell is served from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grid_core.cli.options import FilePath, example, grid_command
from grid_core.cli.output import say

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]

_EXAMPLE = "grid machine compile machine.json -o compiled"


@click.group("machine", epilog=example(_EXAMPLE))
def command() -> None:
    """Compile a machine's config."""


@grid_command("compile", _EXAMPLE)
@click.argument("machine", metavar="MACHINE.json", type=FilePath())
@click.option(
    "-o", "--output", required=True, type=FilePath(), help="A directory that is new or empty."
)
def compile_(machine: Path, output: Path) -> None:
    """Check MACHINE.json and its pins, and keep every file that the cell needs.

    A description or calibration that is not the pinned one is refused. What is compiled needs
    neither afterwards.
    """
    from grid_core.description import compile_machine  # noqa: PLC0415 - not for --help

    state = compile_machine(machine, output).describe()
    cell = state.robot_cell
    if cell is not None:
        say(f"model_id {cell.model_id}")
        say(f"robot_description_sha256 {cell.robot_description_sha256}")
        say(f"machine_planning_calibration_sha256 {cell.machine_planning_calibration_sha256}")
    say(f"machine_configuration_sha256 {state.machine_configuration_sha256}")


command.add_command(compile_)
