"""Curves of a report, as SVG whose colours are the page's own, for light and dark."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.identification.extra import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.model.types import Array

__all__ = ["COLOURS", "curves", "steps"]

COLOURS = {
    "ink": "#010101",
    "grid": "#020202",
    "measured": "#030303",
    "identified": "#040404",
    "description": "#050505",
    "residual": "#060606",
}
"""Colours that stand for the page's variables of the same names until the SVG is written."""

_SETTINGS = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9.0,
    "text.color": COLOURS["ink"],
    "axes.labelcolor": COLOURS["ink"],
    "axes.edgecolor": COLOURS["grid"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": COLOURS["grid"],
    "grid.linewidth": 0.6,
    "xtick.color": COLOURS["ink"],
    "ytick.color": COLOURS["ink"],
    "lines.linewidth": 1.3,
    "path.simplify_threshold": 0.3,
}


def curves(
    name: str,
    time: Array,
    lines: Mapping[str, Array],
    residual: Array,
    *,
    noise: float,
    unit: str,
    along: str,
) -> str:
    """Draw a joint's torques over time, and below what is left of them.

    Args:
        name: makes the SVG's own identifiers unlike those of other plots.
        time: what is along the page, shape (n,).
        lines: torques by colour, each shape (n,).
        residual: measured less identified, shape (n,).
        noise: standard deviation of the residual in the whole log.
        unit: of the torques.
        along: what `time` is, with its unit.
    """
    with _context(name):
        figure = _figure(7.4, 2.9)
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
        for colour, values in lines.items():
            style = ":" if colour == "description" else "-"
            width = 3.2 if colour == "measured" else 1.2
            top.plot(time, values, style, color=COLOURS[colour], linewidth=width)
        top.set_ylabel(f"τ [{unit}]")
        bottom.axhspan(-2.0 * noise, 2.0 * noise, color=COLOURS["residual"], alpha=0.15, lw=0)
        bottom.plot(time, residual, color=COLOURS["residual"], linewidth=0.8)
        bottom.set_ylabel(f"[{unit}]")
        bottom.set_xlabel(along)
        bottom.margins(x=0.005)
        figure.align_ylabels()
        return _svg(figure)


def steps(name: str, labels: list[str], before: Array, after: Array) -> str:
    """Draw each joint's error before and after as two points on one line.

    Args:
        name: as for `curves`.
        labels: of the joints, the first at the top.
        before: errors of the description [%], shape (len(labels),).
        after: errors of what was identified [%].
    """
    with _context(name):
        figure = _figure(7.4, 0.7 + 0.26 * len(labels))
        axes = figure.subplots()
        places = np.arange(len(labels), dtype=np.float64)
        axes.hlines(places, before, after, color=COLOURS["measured"], linewidth=1.5)
        axes.plot(before, places, "o", color=COLOURS["description"], markersize=6.0)
        axes.plot(after, places, "o", color=COLOURS["identified"], markersize=6.0)
        axes.set_yticks(places, labels, parse_math=False)
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.set_xlabel("root mean square error, of the torque's standard deviation [%]")
        positive = [x for x in (*before, *after) if x > 0.0]
        if positive:
            axes.set_xscale("log")
            axes.set_xlim(min(positive) / 1.6, max(positive) * 1.6)
            axes.xaxis.set_major_formatter(require("matplotlib.ticker")[0].FormatStrFormatter("%g"))
            axes.xaxis.set_minor_formatter(require("matplotlib.ticker")[0].NullFormatter())
        return _svg(figure)


def _context(name: str) -> Any:
    (matplotlib,) = require("matplotlib")
    return matplotlib.rc_context({**_SETTINGS, "svg.hashsalt": name})


def _figure(width: float, height: float) -> Any:
    (figure,) = require("matplotlib.figure")
    return figure.Figure(figsize=(width, height), layout="constrained")


def _svg(figure: Any) -> str:
    """Return the figure as an element of a page."""
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    for name, colour in COLOURS.items():
        svg = svg.replace(colour, f"var(--{name})")
    # As wide as its place, and read by nobody twice: the figure's caption says what it is.
    width = re.search(r'width="([0-9.]+)pt"', svg)
    assert width is not None
    svg = re.sub(r' (?:width|height)="[0-9.]+pt"', "", svg, count=2)
    return svg.replace("<svg ", '<svg role="img" aria-hidden="true" ', 1)
