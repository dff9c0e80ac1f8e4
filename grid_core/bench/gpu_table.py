"""A line for each operation, boundary, precision and place of the states, batches across."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.bench.results import STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grid_core.bench.results import Measurement, Trial

__all__ = ["table"]

SHOWN = (1, 1024, 16384, 131072)
"""Batches with columns of their own; the best throughput of all is in the last ones."""
SHORT = {"inverse_dynamics": "ID", "forward_dynamics": "FD"}
MOST_NOTES = 12


def table(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield the lines: microseconds a call, how many times as fast as the peer, and the best."""
    if not trials:
        return
    lines = {" ".join(filter(None, key)): pairs for key, pairs in _lines(trials).items()}
    width = max(34, *(len(head) + 1 for head in lines), 0)
    heads = "".join(f"{f'B={batch}':>15}" for batch in SHOWN)
    yield "us a call and how many times as fast as the peer (in float32); best G evaluations/s"
    title = "robot operation boundary"
    yield f"{title:{width}}{heads}{'G/s':>9}{'at B':>9}{'floor':>7}{'share':>6}"
    for head, pairs in lines.items():
        cells = "".join(f"{_cell(pairs, batch):>15}" for batch in SHOWN)
        yield f"{head:{width}}{cells}{_best(pairs)}"
    for states in dict.fromkeys(one.states for trial in trials for one in trial.ours):
        if states:
            yield f"{states}: {STATES[states]}"
    yield from _closing(trials)


_Pairs = dict[int, tuple["Trial", "Measurement"]]


def _short(trial: Trial) -> str:
    return f"{trial.robot} {SHORT.get(trial.label, trial.label)}"


def _lines(trials: Iterable[Trial]) -> dict[tuple[str, str, str, str], _Pairs]:
    lines: dict[tuple[str, str, str, str], _Pairs] = {}
    for trial in trials:
        for one in trial.ours:
            key = (_short(trial), one.boundary, one.dtype, one.states)
            lines.setdefault(key, {})[trial.batch] = (trial, one)
    return lines


def _cell(pairs: _Pairs, batch: int) -> str:
    if batch not in pairs:
        return "-"
    trial, one = pairs[batch]
    if one.median is None:
        return "wrong"
    time = f"{1e-3 * one.median * batch:.2f}"
    peers = dict.fromkeys(peer.contender for peer in trial.peers)
    beside = (trial.counterpart(one, name) for name in peers)
    ratios = [r for peer in beside if peer is not None and (r := trial.ratio(one, peer))]
    return f"{time} {ratios[0]:.3g}x" if ratios else time


def _best(pairs: _Pairs) -> str:
    timed = [(one.median, batch, one) for batch, (_, one) in pairs.items() if one.median]
    if not timed:
        return ""
    median, batch, one = min(timed, key=lambda entry: entry[0])
    text = f"{1.0 / median:9.3f}{batch:9}"
    return text if one.floor is None else f"{text}{1.0 / one.floor:7.1f}{one.floor / median:6.0%}"


def _closing(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield the notes, each once, and the worst errors."""
    worst: dict[str, float] = {}
    notes: dict[str, dict[str, None]] = {}
    for trial in trials:
        for one in trial.measurements:
            who = f"{one.contender} {one.dtype}"
            if one.difference is not None:
                worst[who] = max(worst.get(who, 0.0), one.difference)
            if one.note:
                notes.setdefault(f"{who}: {one.note}", {})[_short(trial)] = None
        if trial.note:
            notes.setdefault(trial.note, {})[_short(trial)] = None
    apart = ", ".join(f"{who} {error:.1e}" for who, error in worst.items())
    yield f"worst norm-relative distance from the reference: {apart or 'not known'}"
    for note, where in list(notes.items())[:MOST_NOTES]:
        yield f"note: {note} ({', '.join(where)})"[:240]
    if len(notes) > MOST_NOTES:
        yield f"and {len(notes) - MOST_NOTES} more notes, in the JSON"
