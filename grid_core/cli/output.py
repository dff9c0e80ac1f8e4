"""Printing: tables that lose nothing in a pipe, and JSON."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from grid_core.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

__all__ = ["error_console", "print_json", "print_table", "say"]

PIPE_WIDTH = 100_000
"""Columns of what is no terminal: wide enough for any row."""


def say(text: str = "", *, err: bool = False) -> None:
    """Print lines of text; names in it may be anybody's, and the terminal is not theirs."""
    click.echo(printable(text, keep="\n"), err=err)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], *, right: Iterable[str] = ()
) -> None:
    """Print rows below their headers.

    A terminal that is too narrow gets folded text, never a folded number; a file or a pipe gets
    every row on one line, without colours and frames.

    Args:
        headers: one for each column.
        rows: cells; None is an empty one.
        right: headers of the columns to align at the right.
    """
    from rich.table import Table  # noqa: PLC0415 - slow to import

    numeric = set(right)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for header in headers:
        if header in numeric:
            table.add_column(header, justify="right", no_wrap=True)
        else:
            table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*("" if cell is None else _plain(cell) for cell in row))
    console = _console()
    with console.capture() as captured:
        console.print(table)
    # Through click, which knows of closed pipes and of tests that listen.
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def error_console() -> Console:
    """Return the console for what is no result, such as progress."""
    from rich.console import Console  # noqa: PLC0415 - slow to import

    return Console(stderr=True)


def _console() -> Console:
    from rich.console import Console  # noqa: PLC0415 - slow to import

    terminal = sys.stdout.isatty()
    return Console(
        file=sys.stdout,
        width=None if terminal else PIPE_WIDTH,
        no_color=None if terminal else True,
        force_terminal=terminal,
        markup=False,
        highlight=False,
        emoji=False,
    )


def _plain(cell: object) -> Any:
    from rich.text import Text  # noqa: PLC0415 - slow to import

    return Text(printable(str(cell)))
