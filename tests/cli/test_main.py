"""The group: help, version, unknown commands, and what becomes of errors and warnings."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

import click
import pytest
from click.testing import CliRunner

from grid_core.cli.group import GridGroup
from grid_core.cli.root import COMMANDS, cli
from grid_core.errors import GridError, ModelWarning

if TYPE_CHECKING:
    from tests.cli.conftest import Grid


def test_version(grid: Grid) -> None:
    assert re.fullmatch(r"grid \d+\.\d+\.\d+ \(Python 3\.\d+\.\d+\S*\)\n", grid("--version").stdout)


def test_help_lists_every_command_and_says_what_a_robot_is(grid: Grid) -> None:
    text = grid("--help").stdout
    for name in COMMANDS:
        assert f"\n  {name} " in text
    assert "..." not in text.split("Commands:")[1]
    assert "a path of a robot description" in text


def _leaves(command: click.Command, path: tuple[str, ...]) -> list[Any]:
    if not isinstance(command, click.Group):
        return [pytest.param(path, id=" ".join(path))]
    context = click.Context(command)
    found = [pytest.param(path, id=" ".join(path))] if path else []
    names = COMMANDS if not path else command.list_commands(context)
    for name in names:
        below = command.get_command(context, name)
        assert below is not None
        found += _leaves(below, (*path, name))
    return found


@pytest.mark.parametrize("path", _leaves(cli, ()))
def test_every_help_has_an_example(grid: Grid, path: tuple[str, ...]) -> None:
    text = grid(*path, "--help").stdout
    assert "Example:" in text
    assert f"grid {' '.join(path)}" in text.split("Example:")[1]


def test_without_a_command_the_help_is_shown(grid: Grid) -> None:
    result = CliRunner().invoke(cli, [], prog_name="grid")
    assert "Commands:" in result.output


def test_an_unknown_command_is_answered_with_near_ones(fails: Any) -> None:
    line = fails("rnu")
    assert "there is no command 'rnu' (did you mean 'run'?)" in line
    assert "algorithms, artifact, bench" in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run",), "Missing argument 'OPERATION'"),
        (("run", "crba", "go2", "--batch", "many"), "'many' is not a valid integer"),
        (("run", "crba", "go2", "--batch", "0"), "0 is not in the range x>=1"),
        (("run", "crba", "go2", "--dtype", "float16"), "'float16' is not one of"),
        (("inspect", "go2", "--nonsense"), "--nonsense"),
        (("robots", "lst"), "lst"),
    ],
)
def test_a_wrong_command_line_is_answered_with_the_usage(
    fails: Any, arguments: tuple[str, ...], message: str
) -> None:
    assert message in fails(*arguments)


def group(function: Any) -> GridGroup:
    """A command line with one command."""
    made = GridGroup("grid", modules={})
    made.add_command(click.Command("go", callback=function))
    made.get_command = lambda ctx, name: click.Group.get_command(made, ctx, name)  # type: ignore[method-assign]
    return made


def go(function: Any) -> Any:
    return CliRunner().invoke(group(function), ["go"], prog_name="grid")


def raising(error: BaseException) -> Any:
    def function() -> None:
        raise error

    return function


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (GridError("no such thing"), 2, "error: no such thing\n"),
        (click.ClickException("no such thing"), 2, "error: no such thing\n"),
        (MemoryError("3 TiB"), 2, "error: not enough memory: 3 TiB\n"),
        (KeyError("k"), 1, "error: unexpected KeyError: 'k'; --debug shows where\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
    ],
)
def test_an_error_is_one_line_and_a_code(error: BaseException, code: int, message: str) -> None:
    result = go(raising(error))
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.lstrip("\n") == message


def test_a_broken_pipe_is_quiet() -> None:
    result = go(raising(BrokenPipeError()))
    assert (result.exit_code, result.output) == (141, "")


def test_a_warning_is_one_line_once() -> None:
    def function() -> None:
        for _ in range(2):
            warnings.warn("odd inertia", ModelWarning, stacklevel=1)

    result = go(function)
    assert (result.exit_code, result.stderr) == (0, "warning: odd inertia\n")


@pytest.mark.parametrize("place", ["before", "after"])
def test_debug_shows_the_traceback(grid: Grid, place: str) -> None:
    call = ("--debug", "inspect", "none") if place == "before" else ("inspect", "none", "--debug")
    stderr = grid(*call, code=2).stderr
    assert "Traceback (most recent call last)" in stderr
    assert stderr.splitlines()[-1].startswith("error: there is no file 'none'")


def test_a_caller_in_python_gets_the_error_itself() -> None:
    with pytest.raises(GridError, match="there is no file 'none'"):
        cli.main(["inspect", "none"], standalone_mode=False)
