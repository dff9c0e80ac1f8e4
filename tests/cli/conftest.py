"""How the tests call the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest
from click.testing import CliRunner

from grid_core.assets import asset_path
from grid_core.cli.root import cli

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


class Grid(Protocol):
    """Calls ``grid`` with these arguments in this process."""

    def __call__(self, *arguments: object, code: int = 0) -> Result: ...


@pytest.fixture
def grid() -> Grid:
    """Return a function that runs the command line and checks the exit code."""

    def run(*arguments: object, code: int = 0) -> Result:
        result = CliRunner().invoke(cli, [str(a) for a in arguments], prog_name="grid")
        assert result.exit_code == code, f"{result.stdout}\n{result.stderr}\n{result.exception!r}"
        assert "Traceback" not in result.stderr or "--debug" in arguments
        return result

    return run


@pytest.fixture
def fails(grid: Grid) -> Any:
    """Return a function that runs a command which fails; it returns the one line about it."""

    def run(*arguments: object) -> str:
        result = grid(*arguments, code=2)
        (line,) = [x for x in result.stderr.splitlines() if x.startswith("error: ")]
        assert result.stderr.endswith(f"{line}\n"), result.stderr
        return line

    return run


@pytest.fixture
def arm() -> Path:
    """Return the path of the bundled arm."""
    return asset_path("iiwa14")


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder of registered robots."""
    monkeypatch.setenv("GRID_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def cache_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder of the build cache."""
    monkeypatch.setenv("GRID_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"
