"""``grid demo``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from tests.cli.conftest import Grid


def test_the_demo_checks_and_times_both_robots(grid: Grid) -> None:
    result = grid("demo", "--count", 50)
    assert "50 forward dynamics of each robot" in result.stdout
    rows = [x.split() for x in result.stdout.splitlines() if x.endswith(" ok")]
    assert [row[:4] for row in rows] == [
        ["iiwa14", "fixed", "cpu", "float32"],
        ["iiwa14", "fixed", "cpu", "float64"],
        ["go2", "floating", "cpu", "float32"],
        ["go2", "floating", "cpu", "float64"],
    ]


def test_a_wrong_result_fails(grid: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grid_core.cli.demo.worst_error", lambda *_: 0.5)
    result = grid("demo", "--count", 5, code=1)
    assert "FAILED" in result.stdout
    assert result.stderr == "error: results differ from the reference's\n"
