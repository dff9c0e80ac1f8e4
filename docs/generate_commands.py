"""Write ``_generated/commands.md``: what ``--help`` says of every command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grid_core.cli.main import COMMANDS, cli

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["main"]

WIDTH = 88


def main(folder: Path) -> None:
    """Write the page into a folder."""
    folder.mkdir(exist_ok=True)
    root = click.Context(cli, info_name="grid")
    lines: list[str] = []
    for name in sorted(COMMANDS):  # Grid's own, without those of plugins that are installed here
        command = cli.get_command(root, name)
        assert command is not None
        for title, text in _helps(command, f"grid {name}"):
            lines += [f"### `{title}`", "", "```text", text, "```", ""]
    (folder / "commands.md").write_text("\n".join(lines), encoding="utf-8")


def _helps(command: click.Command, title: str) -> Iterator[tuple[str, str]]:
    context = click.Context(
        command,
        info_name=title,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )
    yield title, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _helps(below, f"{title} {name}")


if __name__ == "__main__":
    main(Path(__file__).parent / "_generated")
