"""Arguments and options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from grid_core.cli.comma_list import comma_list
from grid_core.cli.guard import Session

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "COUNT",
    "NAMES",
    "SEED",
    "FilePath",
    "base_option",
    "convention_option",
    "debug_option",
    "dtype_option",
    "example",
    "expanded",
    "grid_command",
    "json_flag",
    "robot_argument",
    "strict_option",
    "targets_option",
]

F = TypeVar("F", bound="Callable[..., Any]")


class _Count(click.IntRange):
    name = "integer"  # Click's "'abc' is not a valid integer range" tells nobody anything


COUNT = _Count(min=1)
"""Of an option: a positive integer."""
SEED = _Count(min=0)
"""Of an option: what random numbers start from."""


def expanded(text: str, name: str) -> Path:
    """Return a path with ``~`` replaced by the home folder, where nothing is called so itself.

    Args:
        text: what was given; not every shell expands ``--option=~/x``.
        name: what it was given as, for the message.

    Raises:
        OptionError: a user without a home folder.
    """
    if not text.startswith("~") or os.path.lexists(text):
        return Path(text)
    from grid_core.load_options import as_path  # noqa: PLC0415 - not for --help

    return as_path(text, name)


class FilePath(click.Path):
    """Of an argument or option: a path, in which ``~`` is the home folder."""

    def __init__(self, **checks: Any) -> None:
        super().__init__(path_type=Path, **checks)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Expand, then check as Click does."""
        name = "the path" if param is None else param.get_error_hint(ctx).strip("'")
        if not os.fspath(value):  # a variable that was not set, which must not mean this folder
            self.fail("the path is empty", param, ctx)
        return super().convert(expanded(os.fsdecode(value), name), param, ctx)


def _set_debug(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    session = ctx.find_object(Session)
    if wanted and session is not None:
        session.debug = True


debug_option = click.option(
    "--debug",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_set_debug,
    help="Show the traceback of an error.",
)
robot_argument = click.argument("robot")
base_option = click.option(
    "--floating/--fixed",
    "floating",
    default=None,
    help="Whether the root link moves freely. Left out: as registered; go2 floats; else fixed.",
)
dtype_option = click.option(
    "--dtype",
    type=click.Choice(["float32", "float64"]),
    help="Precision. Left out: float32, unless the backend lacks it.",
)
NAMES = comma_list(click.STRING)
"""Callback of an option that takes several names."""
targets_option = click.option(
    "-t",
    "--targets",
    "ee_joint_names",
    multiple=True,
    callback=NAMES,
    help="End-effector targets: joints and fixed joints. Left out: every leaf joint.",
)
convention_option = click.option(
    "--convention",
    "output_convention",
    type=click.Choice(["pinocchio", "mujoco"]),
    help="Of q, v and results. Left out: as registered; else pinocchio.",
)
strict_option = click.option(
    "--strict", is_flag=True, help="Refuse a suspicious description instead of warning."
)
json_flag = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def example(*lines: str) -> str:
    """Return the end of a help text."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


def grid_command(name: str, *examples: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command whose help ends with examples and which knows ``--debug``."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        made: click.Command = click.command(name, epilog=example(*examples))(debug_option(function))
        return made

    return decorate
