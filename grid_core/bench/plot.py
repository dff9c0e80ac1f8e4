"""Throughput over batch, log-log: one panel for each robot and operation."""

from __future__ import annotations

import importlib.util
import math
from typing import TYPE_CHECKING, Any

from attrs import define, field

from grid_core.errors import OptionError
from grid_core.wording import listing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grid_core.bench.results import Trial

__all__ = ["check_plot", "plot"]

COLUMNS = 3
SUFFIXES = (".svg", ".png", ".pdf")


def check_plot(path: Path) -> None:
    """Say before anything is timed why a plot could not be drawn.

    Raises:
        OptionError: matplotlib is not installed, or the file's suffix names no kind of picture.
    """
    if path.suffix not in SUFFIXES:
        raise OptionError(f"a plot's file ends in {listing(SUFFIXES, 'or')}; got {path}")
    if importlib.util.find_spec("matplotlib") is None:
        raise OptionError("a plot needs matplotlib: pip install '.[plot]'")


def plot(trials: Iterable[Trial], path: Path) -> None:
    """Draw the trials into a file; its suffix says which kind.

    Raises:
        OptionError: matplotlib is missing or cannot write such a file, or nothing was timed.
    """
    check_plot(path)
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    panels = _panels(trials)
    if not panels:
        raise OptionError("there is nothing to plot: nothing was timed")
    rows = math.ceil(len(panels) / COLUMNS)
    columns = min(COLUMNS, len(panels))
    figure = Figure(figsize=(4.6 * columns, 3.4 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    places = list(grid.flat)
    for axes, (title, lines) in zip(places, panels.items(), strict=False):
        _draw(axes, title, lines)
    for axes in places[len(panels) :]:
        axes.set_axis_off()
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise OptionError(f"the plot cannot be written to {path}: {error}") from error


@define
class _Line:
    """One contender's throughput."""

    peer: bool
    floor: float | None
    """Least time of an evaluation [ns]."""
    dtype: str
    away: bool
    """Whether the boundary is in its label."""
    points: list[tuple[int, float]] = field(factory=list)
    """Batch, and M evaluations a second."""
    boundaries: set[str] = field(factory=set)


def _panels(trials: Iterable[Trial]) -> dict[str, dict[str, _Line]]:
    """Return lines by panel and label."""
    panels: dict[str, dict[str, _Line]] = {}
    for trial in trials:
        threads = f"{trial.threads} thread{'s' * (trial.threads != 1)}"
        for one in trial.measurements:
            if one.median is None:
                continue
            lines = panels.setdefault(f"{trial.robot}: {trial.label}", {})
            away = bool(one.card) or one.boundary == "host"
            how = ", ".join(filter(None, (one.boundary, one.states))) if away else threads
            fresh = _Line(one.peer, one.floor, one.dtype, away)
            line = lines.setdefault(f"{one.contender} {one.dtype}, {how}", fresh)
            line.points.append((trial.batch, 1e3 / one.median))
            line.boundaries.add(one.boundary)
    return panels


def _draw(axes: Any, title: str, lines: dict[str, _Line]) -> None:
    for label, line in lines.items():
        batches, rates = zip(*sorted(line.points), strict=True)
        style = "s--" if line.peer else "o-"
        how = "" if line.away else f" ({', '.join(sorted(line.boundaries))})"
        axes.loglog(batches, rates, style, label=f"{label}{how}", markersize=4)
    floors: dict[str, float] = {}
    for line in lines.values():
        # States that lie in the cache have a lower floor, or none: the line is device memory's.
        floors[line.dtype] = max(floors.get(line.dtype, 0.0), line.floor or 0.0)
    for dtype, floor in floors.items():
        if not floor:
            continue
        axes.axhline(1e3 / floor, linestyle="--", color="0.4", linewidth=1.0)
        axes.annotate(
            f"floor {dtype}",
            (0.02, 1e3 / floor),
            xycoords=("axes fraction", "data"),
            va="bottom",
            fontsize="x-small",
            color="0.4",
        )
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel("batch")
    axes.set_ylabel("M evaluations / s")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize="x-small")
