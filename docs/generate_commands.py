"""Write ``_generated/commands.md``, what ``--help`` says of every command, and examples' output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.testing import CliRunner

from grid_core.cli.root import COMMANDS, cli

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["main"]

WIDTH = 88
EXAMPLES = {
    "inspect.txt": ("inspect", "iiwa14"),
    "plugins.txt": ("plugins", "list"),
    "error.txt": ("inspect", "arm.urdf"),
}
"""Command lines whose output is the same everywhere, by the file that it goes to."""


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
    for file, arguments in EXAMPLES.items():
        (folder / file).write_text(_example(arguments), encoding="utf-8")


def _example(arguments: tuple[str, ...]) -> str:
    """Run a command in an empty folder, where no robot is registered."""
    runner = CliRunner(env={"GRID_DATA_DIR": "none"})
    with runner.isolated_filesystem():
        output = runner.invoke(cli, arguments, prog_name="grid").output
    lines = output.splitlines()
    if arguments[0] == "plugins":  # without those that are installed where the pages are built
        lines = [line for line in lines if "grid-robotics" in line or line.startswith("plugin ")]
    return "\n".join([f"$ grid {' '.join(arguments)}", *lines, ""])


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
