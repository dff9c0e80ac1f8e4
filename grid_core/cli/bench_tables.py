"""The tables of ``grid bench``."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import click

from grid_core.bench.machine import machine, versions
from grid_core.bench.results import BOUNDARIES
from grid_core.cli.output import print_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grid_core.bench.loads import LoadTimes
    from grid_core.bench.results import Measurement, Trial

__all__ = ["print_loads", "print_trials"]


def print_trials(trials: Sequence[Trial]) -> None:
    """Print a row for each of Grid's measurements, with the peers' beside it."""
    peers = sorted({peer.contender for trial in trials for peer in trial.peers})
    own = ("ns", "M/s")
    theirs = tuple(h for peer in peers for h in (f"{peer} ns", "by", f"vs {peer}"))
    numbers = {*own, "batch", "threads", *(h for h in theirs if h != "by")}
    headers = ("robot", "operation", "batch", "threads", "backend", "dtype", *own, *theirs, "note")
    rows = [row for trial in trials for row in _rows(trial, peers)]
    if not any(row[-1] for row in rows):
        headers, rows = headers[:-1], [row[:-1] for row in rows]
    print_table(headers, rows, right=numbers)
    click.echo()
    used = {m.boundary for trial in trials for m in trial.measurements}
    click.echo("medians of one evaluation in ns, and million evaluations a second")
    for name, meaning in BOUNDARIES.items():
        if name in used:
            click.echo(f"{name}: {meaning}")
    _print_machine()


def print_loads(times: Sequence[LoadTimes]) -> None:
    """Print a row for each load."""
    numbers = ("threads", "operations", "import s", "cold s", "warm s")
    print_table(
        ("robot", "base", "backend", "dtype", *numbers),
        [
            (
                one.robot,
                "floating" if one.floating else "fixed",
                one.backend,
                one.dtype,
                one.threads,
                len(one.operations),
                *(f"{statistics.median(s):.3f}" for s in (one.imports, one.cold, one.warm)),
            )
            for one in times
        ],
        right=numbers,
    )
    click.echo()
    click.echo("medians; each load in a fresh process, after the import; cold: no build is kept")
    _print_machine()


def _rows(trial: Trial, peers: Sequence[str]) -> Iterator[tuple[object, ...]]:
    base = f"{trial.robot}{' (floating)' if trial.floating else ''}"
    start = (base, trial.label, trial.batch, trial.threads)
    if not trial.ours:
        blank = [None] * (4 + 3 * len(peers))
        yield (*start, *blank, trial.note)
        return
    by_name = {peer.contender: peer for peer in trial.peers}
    for ours in trial.ours:
        cells = [cell for name in peers for cell in _peer(trial, ours, by_name.get(name))]
        note = "; ".join(text for text in (ours.note, trial.note) if text)
        yield (*start, ours.contender, ours.dtype, *_own(ours), *cells, note)


def _own(measurement: Measurement) -> tuple[str, str]:
    if measurement.median is None:
        return "-", "-"
    return f"{measurement.median:.1f}", f"{1e3 / measurement.median:.3f}"


def _peer(trial: Trial, ours: Measurement, peer: Measurement | None) -> tuple[str, str, str]:
    if peer is None or peer.median is None:
        return "-", "-", "-"
    ratio = trial.ratio(ours, peer)
    return f"{peer.median:.1f}", peer.boundary, "-" if ratio is None else f"{ratio:.2f}x"


def _print_machine() -> None:
    here = machine()
    load = "" if here["load_average"] is None else f", load average {here['load_average']:.1f}"
    click.echo(f"{here['processor']}, {here['cores']} physical cores{load}")
    click.echo(", ".join(f"{name} {version}" for name, version in versions().items()))
