"""Commands of plugins stand beside Grid's own, and a bad plugin breaks nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click
import pytest

import grid_core.plugins
from grid_core.errors import GridError
from tests.plugins.builders import algorithm, announce, failing, manager, plugin

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_core.plugins import Announcement
    from tests.cli.conftest import Grid


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that makes these the only plugins."""

    def run(*plugins: Announcement) -> None:
        made = manager(*plugins)
        for module in ("algorithms", "plugins"):
            name = f"grid_core.cli.{module}.plugin_manager"
            monkeypatch.setattr(name, lambda: made)
        monkeypatch.setattr("grid_core.loading.plugin_manager", lambda: made)
        monkeypatch.setattr(grid_core.plugins, "plugin_manager", lambda: made)

    return run


def offering(name: str, function: Any = None, distribution: str = "grid-hello") -> Announcement:
    def say() -> None:
        """Say hello."""
        click.echo("hello")

    made = click.command(name)(function or say)
    return announce(plugin(commands=[made]), distribution, distribution)


def boom() -> None:
    raise ZeroDivisionError("not today")


def refuse() -> None:
    raise GridError("not on a Sunday")


def test_a_plugin_adds_a_command(grid: Grid, install: Any) -> None:
    install(offering("hello"))
    assert grid("hello").stdout == "hello\n"
    assert re.search(r"hello +Say hello\.", grid("--help").stdout)


def test_a_failed_plugin_is_named_where_a_command_is_missing(grid: Grid, install: Any) -> None:
    install(failing(ImportError("libfoo is missing")), offering("hello"))
    assert grid("hello").stdout == "hello\n"
    assert "libfoo is missing" in grid("helo", code=2).stderr
    assert "(did you mean 'hello'?)" in grid("helo", code=2).stderr
    assert "run " in grid("--help").stdout


def test_a_command_that_raises_names_its_plugin(grid: Grid, install: Any) -> None:
    install(offering("go", boom))
    line = grid("go", code=1).stderr
    assert line.startswith("error: the command of grid-hello 1.2 (plugin 'grid-hello') failed: ")
    assert "ZeroDivisionError: not today" in line


def test_a_command_may_raise_grid_errors(fails: Any, install: Any) -> None:
    install(offering("go", refuse))
    assert fails("go") == "error: not on a Sunday"


def test_two_plugins_of_one_command(grid: Grid, fails: Any, install: Any) -> None:
    install(offering("go"), offering("go", distribution="grid-other"))
    assert "is claimed by grid-hello 1.2" in fails("go", "--anything")
    assert "Not available: " in grid("--help").stdout
    assert "grid-other 1.2" in grid("plugins", "list").stderr


def test_a_plugin_does_not_replace_our_commands(grid: Grid, install: Any) -> None:
    install(offering("plugins"))
    result = grid("plugins", "list")
    assert "grid-hello" in result.stdout
    assert "'plugins' of grid-hello 1.2 (plugin 'grid-hello') is hidden" in result.stderr


def test_plugins_that_failed_are_listed_with_where_and_why(grid: Grid, install: Any) -> None:
    bad = announce(plugin(algorithms=[algorithm("bad", summary="")]), "bad", "grid-bad")
    install(failing(ImportError("libfoo is missing")), bad)
    text = grid("plugins", "list").stdout
    assert "failed  " in text
    assert "import" in text
    assert "ImportError: libfoo is missing" in text
    assert "summary must be one line of text" in text
    stderr = grid("algorithms").stderr
    assert "warning: grid-broken 0.3 (plugin 'broken') failed (import)" in stderr
