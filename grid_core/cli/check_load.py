"""``grid check-load``: whether a program was planned for a cell as it is now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grid_core.cli.options import FilePath, expanded, grid_command
from grid_core.cli.output import say
from grid_core.errors import GridError, LoadRefused

if TYPE_CHECKING:
    from pathlib import Path

    from grid_core.description import Cell

__all__ = ["command"]


@grid_command(
    "check-load",
    "grid check-load weld.program http://127.0.0.1:8080",
    "grid check-load weld.program compiled",
)
@click.argument("program", type=FilePath())
@click.argument("cell")
def command(program: Path, cell: str) -> int:
    """Compare a program with a cell as it is now.

    CELL is an address, or the directory of a compiled machine. It is described afresh, and every
    field in which PROGRAM was planned for another is listed, with both values; the exit code is
    then 1.
    """
    from grid_core.description import Program, check_load  # noqa: PLC0415 - not for --help

    try:
        with program.open("rb") as stream:
            header = Program.open(stream, file=str(program)).header
    except OSError as error:
        raise GridError(f"{program} cannot be read: {error.strerror}") from error
    try:
        notes = check_load(header, _cell(cell))
    except LoadRefused as error:
        say(str(error), err=True)
        return 1
    for note in notes:
        say(f"note: {note}")
    say("may be loaded")
    return 0


def _cell(text: str) -> Cell:
    from grid_core.description import CompiledCell, RemoteCell  # noqa: PLC0415 - not for --help

    return RemoteCell(text) if "://" in text else CompiledCell(expanded(text, "CELL"))
