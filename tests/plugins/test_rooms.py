"""Who may import whom: plugins and backends import `grid_core`, and it imports neither."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import grid_core

ROOT = Path(grid_core.__file__).parent.parent
ROOMS = sorted(
    path.name for path in ROOT.iterdir() if path.name.startswith(("grid_plugins", "grid_backend"))
)


def imports(path: Path) -> set[str]:
    """Every module that a file imports anywhere, also below TYPE_CHECKING, with full names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write the whole name instead of a relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def ours(names: set[str]) -> set[str]:
    return {name for name in names if name.split(".")[0].startswith("grid_")}


def files(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def test_there_are_rooms() -> None:
    assert {"grid_plugins", "grid_backend_cpu"} <= set(ROOMS)


def test_grid_core_imports_no_plugin_and_no_backend() -> None:
    for path in files("grid_core"):
        foreign = {n for n in ours(imports(path)) if not n.startswith("grid_core")}
        assert not foreign, path


@pytest.mark.parametrize("room", [room for room in ROOMS if room.startswith("grid_backend")])
def test_a_backend_imports_grid_core_and_itself_only(room: str) -> None:
    for path in files(room):
        allowed = ("grid_core", room)
        foreign = {n for n in ours(imports(path)) if n.split(".")[0] not in allowed}
        assert not foreign, path


FAMILIES = sorted(path.parent.name for path in (ROOT / "grid_plugins").glob("*/plugin.py"))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_imports_grid_core_and_itself_only(family: str) -> None:
    for path in files(f"grid_plugins/{family}"):
        foreign = {
            name
            for name in ours(imports(path))
            if not name.startswith(("grid_core.", f"grid_plugins.{family}"))
        }
        assert not foreign, path
