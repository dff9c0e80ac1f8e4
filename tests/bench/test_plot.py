"""The plot."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from grid_core.bench.plot import check_plot, plot
from grid_core.bench.results import Measurement, Trial
from grid_core.errors import OptionError


def trial(batch: int, *samples: float) -> Trial:
    fields = {"dtype": "float64", "samples": samples}
    return Trial(
        robot="arm",
        floating=False,
        operation="crba",
        label="crba",
        batch=batch,
        threads=2,
        measurements=(
            Measurement(contender="cpu", boundary="call", peer=False, **fields),
            Measurement(contender="pinocchio", boundary="loop", peer=True, **fields),
        ),
    )


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_lines_are_drawn(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"plot{suffix}"
    plot([trial(1, 10.0, 12.0), trial(64, 5.0)], path)
    assert path.stat().st_size > 1000


def test_a_floor_is_a_dashed_line_and_boundaries_are_lines(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    made = trial(1, 10.0)
    ours, peer = made.measurements
    on_card = [
        evolve(one, boundary=boundary, card="H200", floor=None if one.peer else 0.5)
        for boundary in ("call", "graph")
        for one in (ours, peer)
    ]
    path = tmp_path / "plot.svg"
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        plot([evolve(made, measurements=tuple(on_card))], path)
    text = path.read_text()
    assert "floor float64" in text
    for label in ("cpu float64, call", "cpu float64, graph", "pinocchio float64, graph"):
        assert f"{label}<" in text


def test_nothing_to_draw(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(OptionError, match="nothing was timed"):
        plot([trial(1)], tmp_path / "plot.svg")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(OptionError, match="cannot be written"):
        plot([trial(1, 10.0)], tmp_path / "none" / "plot.svg")


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(OptionError, match=r"pip install '\.\[plot\]'"):
        check_plot(Path("a.svg"))


def test_an_unknown_suffix() -> None:
    with pytest.raises(OptionError, match=r"ends in .svg, .png or .pdf; got a.gif"):
        check_plot(Path("a.gif"))
