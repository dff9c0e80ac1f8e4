"""The tables of ``grid bench``."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from grid_core.bench.machine import machine, versions
from grid_core.bench.results import BOUNDARIES, STATES
from grid_core.cli.output import print_table, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grid_core.bench.card import Card
    from grid_core.bench.loads import LoadTimes
    from grid_core.bench.results import Measurement, Trial

__all__ = ["print_loads", "print_trials"]


SHARED = ("threads", "backend", "states")
"""Columns that become a line above the table when all rows have the same there."""


def print_trials(trials: Sequence[Trial], card: Card | None = None) -> None:
    """Print a row for each of Grid's measurements, with the peers' beside it."""
    peers = sorted({peer.contender for trial in trials for peer in trial.peers})
    rows = [row for trial in trials for row in _rows(trial, peers)]
    headers = list(dict.fromkeys(header for row in rows for header in row))
    headers.sort(key="note".__eq__)
    captions = [(header, {row.get(header) for row in rows}) for header in SHARED]
    for header, values in captions:
        if header not in headers:
            continue
        if len(values) == 1:
            headers.remove(header)
            value = values.pop()
            if value is not None:
                say(f"{header}: {value}")
    if card is not None:
        say(f"card: {card.name}, driver {card.driver}, copies {card.copy_rate:.3g} B/s")
    floating = sorted({trial.robot for trial in trials if trial.floating})
    say(f"floating base: {', '.join(floating) or 'none'}\n")
    if rows:
        texts = {"robot", "operation", "backend", "dtype", "boundary", "states", "by", "note"}
        cells = [[row.get(header) for header in headers] for row in rows]
        print_table(headers, cells, right=[header for header in headers if header not in texts])
        say()
    for note in dict.fromkeys(f"{trial.robot}: {trial.note}" for trial in trials if trial.note):
        say(f"note: {note}")
    _explain(trials)


def _explain(trials: Sequence[Trial]) -> None:
    say("ns: median of one evaluation; M/s: million evaluations a second")
    peers = sorted({peer.contender for trial in trials for peer in trial.peers})
    if peers:
        say(f"{', '.join(peers)}: the same, in ns; ratio: how many times as fast Grid is")
    if any(m.floor is not None for trial in trials for m in trial.measurements):
        say("of floor: the least time that memory and arithmetic allow, of the time taken")
    measured = [m for trial in trials for m in trial.measurements]
    used = {name for m in measured for name in (m.boundary, m.states)}
    for name, meaning in (BOUNDARIES | STATES).items():
        if name in used:
            say(f"{name}: {meaning}")
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
    say()
    say("medians; each load in a fresh process, after the import; cold: no build is kept")
    _print_machine()


def _rows(trial: Trial, peers: Sequence[str]) -> Iterator[dict[str, object]]:
    """Yield a row for each of Grid's measurements, cells by header."""
    start = {
        "robot": trial.robot,
        "operation": trial.label,
        "batch": trial.batch,
    }
    for ours in trial.ours:
        away = ours.boundary == "host" or bool(ours.card)
        row: dict[str, object] = {**start, "threads": None if away else trial.threads}
        row |= {"backend": ours.contender, "dtype": ours.dtype}
        median = ours.median
        if away:
            row["boundary"] = ours.boundary
            if ours.states:
                row["states"] = ours.states
            row["us a call"] = "-" if median is None else f"{1e-3 * median * trial.batch:.2f}"
        row["ns"] = "-" if median is None else f"{median:.{1 if median >= 1.0 else 4}f}"
        row["M/s"] = "-" if median is None else f"{1e3 / median:.3f}"
        for name in peers:
            peer = trial.counterpart(ours, name)
            row |= _peer(trial, ours, peer, name, alone=len(peers) == 1)
        if ours.floor is not None and median is not None:
            row["of floor"] = f"{100 * ours.floor / median:.0f}%"
        yield {**row, "note": ours.note} if ours.note else row


def _peer(
    trial: Trial, ours: Measurement, peer: Measurement | None, name: str, *, alone: bool
) -> dict[str, object]:
    """Return a peer's cells; with several peers each says whose ratio it is."""
    by, ratio = ("by", "ratio") if alone else (f"{name} by", f"{name} ratio")
    if peer is None or peer.median is None:
        return {name: "-", by: "-", ratio: "-"}
    times = trial.ratio(ours, peer)
    return {
        name: f"{peer.median:.{1 if peer.median >= 1.0 else 4}f}",
        by: peer.boundary,
        ratio: "-" if times is None else f"{times:.2f}x",
    }


def _print_machine() -> None:
    here = machine()
    load = "" if here["load_average"] is None else f", load average {here['load_average']:.1f}"
    say(f"{here['processor']}, {here['cores']} physical cores{load}")
    say(", ".join(f"{name} {version}" for name, version in versions().items()))
