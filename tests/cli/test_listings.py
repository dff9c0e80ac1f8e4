"""``grid algorithms``, ``plugins`` and ``cache``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.cli.conftest import Grid


def test_algorithms(grid: Grid) -> None:
    lines = grid("algorithms").stdout.splitlines()
    assert lines[0].split() == ["name", "family", "plugin", "version", "needs", "summary"]
    (line,) = [x for x in lines if x.startswith("forward_dynamics ")]
    assert "grid-robotics (fd)" in line
    assert line.endswith("Acceleration that joint forces produce: q̈ = M(q)⁻¹ (u - h(q, q̇)).")


def test_algorithms_as_json(grid: Grid) -> None:
    found = {info["name"]: info for info in json.loads(grid("algorithms", "--json").stdout)}
    assert found["minv"]["needs"] == ["crba"]
    assert set(found["minv"]) >= {"family", "distribution", "version", "summary"}


def test_plugins(grid: Grid) -> None:
    text = grid("plugins", "list").stdout
    assert "algorithms: forward_dynamics, aba, minv" in text
    assert "model sources: urdf-file, urdf-text" in text


def test_plugins_as_json(grid: Grid) -> None:
    found = json.loads(grid("plugins", "list", "--json").stdout)
    assert found["conflicts"] == []
    assert {p["state"] for p in found["plugins"]} == {"loaded"}
    assert "cpu" in [p["provider"]["plugin"] for p in found["plugins"]]


def test_an_empty_cache(grid: Grid, cache_dir: Path) -> None:
    assert grid("cache", "info").stdout == f"{cache_dir}: 0 builds, 0.0 MiB\n"
    assert grid("cache", "clear").stdout == f"{cache_dir}: 0 builds deleted\n"


def test_the_cache_lists_and_forgets_builds(grid: Grid, cache_dir: Path) -> None:
    grid("run", "crba", "iiwa14", "--batch", 2, "--backend", "cpu")
    (line,) = [x for x in grid("cache", "info").stdout.splitlines() if x.startswith("crba ")]
    assert line.split()[:4] == ["crba", "iiwa14", "cpu", "float32"]
    (build,) = json.loads(grid("cache", "info", "--json").stdout)["builds"]
    assert build["sound"] is True
    (path,) = cache_dir.glob("*.build")
    path.write_bytes(path.read_bytes()[:-1])
    result = grid("cache", "info")
    assert "1 builds" in result.stdout
    assert "warning: 1 of them damaged" in result.stderr
    assert "1 builds deleted" in grid("cache", "clear").stdout
    assert list(cache_dir.glob("*.build")) == []


def test_a_cache_that_cannot_be_cleared(
    fails: Any, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("grid_core.artifact.BuildStore.clear", deny)
    line = fails("cache", "clear")
    assert str(cache_dir) in line
    assert "Permission denied" in line
