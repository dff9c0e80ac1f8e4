"""Entry points: sorted, none dropped, none imported before it is time."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

from grid_core.plugins import announcements, plugin_manager

if TYPE_CHECKING:
    import pytest


def test_our_own_plugins_are_announced_in_order() -> None:
    own = [a.provider.plugin for a in announcements() if a.provider.distribution == "grid-robotics"]
    assert own == sorted(own)
    assert {"id", "fd", "urdf", "reference", "cpu"} <= set(own)


def test_entry_points_are_sorted_and_a_second_of_one_name_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def point(distribution: str, name: str, value: str) -> importlib.metadata.EntryPoint:
        entry = importlib.metadata.EntryPoint(name, value, "grid.plugins")
        vars(entry)["dist"] = SimpleNamespace(name=distribution, version="1")
        return entry

    points = [
        point("b", "x", "m.x"),
        point("a", "y", "m.y"),
        point("a", "x", "m.x"),
        point("a", "x", "m.x"),
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: points)
    found = [(a.provider.distribution, a.provider.plugin) for a in announcements()]
    assert found == [("a", "x"), ("a", "y"), ("b", "x")]


def test_the_manager_of_the_process_is_made_once() -> None:
    assert plugin_manager() is plugin_manager()


def test_importing_grid_core_imports_no_plugin_and_nothing_heavy() -> None:
    code = (
        "import grid_core, sys; heavy = {'llvmlite', 'lxml', 'rich', 'click', 'torch', 'jax', "
        "'jinja2', 'grid_plugins', 'grid_backend_cpu', 'grid_core.reference.plugin', 'pinocchio'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
