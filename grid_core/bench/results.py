"""What a trial found, and how it is written down."""

from __future__ import annotations

import statistics
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from grid_core.bench.machine import machine, versions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grid_core.bench.card import Card
    from grid_core.bench.loads import LoadTimes

__all__ = ["BOUNDARIES", "FORMAT", "STATES", "Measurement", "Trial", "document", "loads_document"]

FORMAT = "grid.bench.v1"

BOUNDARIES = {
    "call": "the user's call from Python; on the CPU host arrays and out= given; on a GPU tensors "
    "there, results allocated, by wall clock over many calls and one synchronisation",
    "graph": "a call's share of a CUDA graph of many, by the device's events; out= given to Grid",
    "host": "the user's call from Python on the GPU, NumPy in and NumPy out",
    "loop": "the peer's function for one state in a Python loop, its calls' overhead subtracted",
}
"""What lies between start and stop of a measurement."""

STATES = {
    "turns": "states lie in several places on the GPU, in turns: so many that they do not fit its "
    "L2 cache twice, 64 at most",
    "same": "every launch takes the same arrays, which then lie in the L2 cache where they fit",
}
"""Where the states of a measurement on a GPU lie."""


@frozen(kw_only=True)
class Measurement:
    """One contender's times."""

    contender: str
    dtype: str
    boundary: str
    peer: bool
    states: str = ""
    """Of `STATES`, for tensors on a GPU."""
    samples: tuple[float, ...]
    """[ns an evaluation]; empty when it was not timed."""
    difference: float | None = None
    """Worst norm-relative distance from the peer's results, or from the reference's."""
    note: str = ""
    failed: bool = False
    """Whether its results are wrong."""
    card: str = ""
    """Name of the GPU where arrays lie that are not on the host."""
    floor: float | None = None
    """Least time of an evaluation that the card allows [ns]."""
    details: dict[str, Any] = field(factory=dict)

    @property
    def median(self) -> float | None:
        """[ns an evaluation]."""
        return statistics.median(self.samples) if self.samples else None


@frozen(kw_only=True)
class Trial:
    """All contenders on one case."""

    robot: str
    floating: bool
    operation: str
    label: str
    batch: int
    threads: int
    measurements: tuple[Measurement, ...]
    note: str = ""
    """What somebody could not do, and why."""
    failed: bool = False
    """Whether results were wrong, or Grid could not compute at all."""

    @property
    def ours(self) -> tuple[Measurement, ...]:
        """Grid's own."""
        return tuple(m for m in self.measurements if not m.peer)

    @property
    def peers(self) -> tuple[Measurement, ...]:
        """The other libraries'."""
        return tuple(m for m in self.measurements if m.peer)

    def counterpart(self, ours: Measurement, name: str) -> Measurement | None:
        """Return a peer's measurement to set beside one of ours.

        On a GPU only the same boundary on states that lie alike compares; on the host it is said
        beside it.
        """

        def how(one: Measurement) -> tuple[str, str, str]:
            return one.boundary, one.card, one.states

        named = [peer for peer in self.peers if peer.contender == name]
        same = [peer for peer in named if how(peer) == how(ours)]
        return next(iter(same or [peer for peer in named if not peer.card]), None)

    def ratio(self, ours: Measurement, peer: Measurement) -> float | None:
        """Return how many times as fast ours is, by the medians."""
        if ours.median is None or peer.median is None:
            return None
        return peer.median / ours.median


def document(
    trials: Iterable[Trial], settings: dict[str, Any], card: Card | None = None
) -> dict[str, Any]:
    """Return trials as JSON has them, every sample included; the card if one took part."""
    return {
        **_head(),
        "settings": settings,
        "card": None if card is None else card.document(),
        "unit": "ns per evaluation",
        "boundaries": BOUNDARIES,
        "states": STATES,
        "trials": [_trial(trial) for trial in trials],
    }


def loads_document(times: Iterable[LoadTimes]) -> dict[str, Any]:
    """Return the times of loads as JSON has them."""
    return {**_head(), "unit": "s", "loads": [one.document() for one in times]}


def _head() -> dict[str, Any]:
    return {
        "format": FORMAT,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions(),
    }


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "robot": trial.robot,
        "floating": trial.floating,
        "operation": trial.operation,
        "label": trial.label,
        "batch": trial.batch,
        "threads": trial.threads,
        "note": trial.note,
        "failed": trial.failed,
        "measurements": [
            {
                "contender": m.contender,
                "dtype": m.dtype,
                "boundary": m.boundary,
                "states": m.states,
                "peer": m.peer,
                "median": m.median,
                "samples": list(m.samples),
                "difference": m.difference,
                "failed": m.failed,
                "note": m.note,
                "ratios": _ratios(trial, m),
                "card": m.card,
                "floor": m.floor,
                "details": m.details,
            }
            for m in trial.measurements
        ],
    }


def _ratios(trial: Trial, one: Measurement) -> dict[str, float | None]:
    """Return by how much one of ours is faster, by the peers' names."""
    if one.peer:
        return {}
    names = dict.fromkeys(peer.contender for peer in trial.peers)
    beside = {name: trial.counterpart(one, name) for name in names}
    return {name: trial.ratio(one, peer) for name, peer in beside.items() if peer is not None}
