"""The part of a log that a report shows, kept while the log is read for the fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import define, field, frozen

from grid_core.identification.samples import Samples

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike

    from grid_core.model.types import Array

__all__ = ["Shown", "ShownSamples"]

_LONGEST = 20_000
"""Consecutive samples that are kept."""
_POINTS = 800
"""Points of a curve."""
_GAP = 10.0
"""Times the usual step, after which a curve would cross missing time."""


@frozen(eq=False)
class Shown:
    """Consecutive samples, thinned out to what a plot can show."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    time: Array | None
    every: int
    """One in so many of the log's samples."""
    count: int
    """Samples before they were thinned out."""


@define
class ShownSamples:
    """Passes a log on, and keeps the stretch at the start of a chunk where most moves."""

    log: Iterable[Samples]
    samples: int = 0
    _squares: Array | None = None
    _sums: Array | None = None
    _best: Samples | None = field(default=None, repr=False)
    _motion: float = -1.0

    def __iter__(self) -> Iterator[Samples]:
        """Yield the log's chunks."""
        for chunk in self.log:
            self._look(chunk)
            yield chunk

    @property
    def spread(self) -> Array:
        """Standard deviation of the measured torques, shape (nv,)."""
        assert self._squares is not None
        assert self._sums is not None
        mean = self._sums / self.samples
        return np.sqrt(np.maximum(self._squares / self.samples - mean**2, 0.0))

    def shown(self) -> Shown:
        """Return what was kept."""
        assert self._best is not None
        best = self._best
        count = int(np.shape(best.q)[0])
        every = max(1, count // _POINTS)
        q, qd, qdd, tau = (_array(x)[::every] for x in (best.q, best.qd, best.qdd, best.tau))
        time = None if best.time is None else _array(best.time)[::every]
        return Shown(q, qd, qdd, tau, time, every, count)

    def _look(self, chunk: Samples) -> None:
        tau = _array(chunk.tau)
        self.samples += len(tau)
        sums, squares = tau.sum(axis=0), np.sum(tau**2, axis=0)
        self._sums = sums if self._sums is None else self._sums + sums
        self._squares = squares if self._squares is None else self._squares + squares
        stop = min(len(tau), _LONGEST)
        if chunk.time is not None:
            steps = np.diff(_array(chunk.time)[:stop])
            usual = float(np.median(steps)) if len(steps) else 0.0
            breaks = np.flatnonzero((steps <= 0.0) | (steps > _GAP * usual))
            stop = int(breaks[0]) + 1 if len(breaks) else stop
        motion = float(np.sum(_array(chunk.qd)[:stop] ** 2))
        if motion > self._motion:
            self._motion = motion
            q, qd, qdd, tau = (
                _array(x)[:stop].copy() for x in (chunk.q, chunk.qd, chunk.qdd, chunk.tau)
            )
            time = None if chunk.time is None else _array(chunk.time)[:stop].copy()
            self._best = Samples(q, qd, qdd, tau, time)


def _array(x: ArrayLike) -> Array:
    return np.asarray(x, dtype=np.float64)
