"""Zero-phase filtering and differentiation of recordings that are longer than memory.

Positions and recorded derivatives go through a Butterworth filter, forwards and backwards, so that
nothing is delayed against the torques; derivatives are central differences, which do not delay
either. Torques may go through the same filter (Gautier 1997, Dynamic identification of robots with
power model), but are better left as they were measured: a fit averages their noise, and a filter
takes the steps of friction from them, which the regressor of the filtered motion still has.

A recording is filtered in pieces that overlap by as many samples as the filter remembers: what
lies further away has an effect below 1e-12. At a recording's two ends the filter has not settled,
and samples there are left out (`Filtering.edge`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import define, evolve, field, frozen

from grid_core.errors import OptionError
from grid_core.identification.extra import require
from grid_core.model.configuration import difference
from grid_core.model.types import JointKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grid_core.model.types import Array, RobotModel

__all__ = ["Filtering", "Recording", "Signals"]

ORDER = 4
_REMEMBERED = 1e-12
"""Part of a sample that the filter still holds when it counts as forgotten."""
_SETTLED = 1e-5
"""Part of the transient at a recording's end that is left in the first sample kept."""
_BATCH = 1 << 15
"""Samples that are filtered at once, beside the overlap."""


@frozen(eq=False)
class Signals:
    """Consecutive samples of one recording; qd and qdd may still be missing."""

    time: Array | None
    qd: Array | None
    qdd: Array | None
    q: Array
    tau: Array

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, rows: slice) -> Signals:
        time, qd, qdd = (None if x is None else x[rows] for x in self._optional())
        return Signals(time, qd, qdd, self.q[rows], self.tau[rows])

    def then(self, more: Signals) -> Signals:
        """Return these samples and those that follow."""
        time, qd, qdd = (
            None if a is None or b is None else np.concatenate([a, b])
            for a, b in zip(self._optional(), more._optional(), strict=True)
        )
        q, tau = np.concatenate([self.q, more.q]), np.concatenate([self.tau, more.tau])
        return Signals(time, qd, qdd, q, tau)

    def _optional(self) -> tuple[Array | None, Array | None, Array | None]:
        return self.time, self.qd, self.qdd


@frozen
class Filtering:
    """What is done to a recording before it is used."""

    model: RobotModel
    step: float
    """Time between samples [s]."""
    cutoff: float | None = None
    """Where the filter is 6 dB down, both passes together [Hz]; None: no filter."""
    differentiated: bool = False
    """Whether qd or qdd is missing and comes from differences."""
    torques: bool = False
    """Whether the torques are filtered as well."""
    sections: Any = field(init=False, eq=False, repr=False)
    overlap: int = field(init=False)
    """Samples beyond a piece that its own samples depend on."""
    edge: int = field(init=False)
    """Samples left out at each end of a recording."""

    def __attrs_post_init__(self) -> None:
        reach = 2 if self.differentiated else 0
        sections, overlap, edge = None, reach, reach
        if self.cutoff is not None:
            (signal,) = require("scipy.signal")
            rate = 1.0 / self.step
            if not 0.0 < self.cutoff < rate / 2.0:
                raise OptionError(
                    f"a cutoff must be above 0 and below half the sampling rate of {rate:.6g} Hz; "
                    f"got {self.cutoff:g} Hz"
                )
            sections = signal.butter(ORDER, self.cutoff, fs=rate, output="sos")
            _, poles, _ = signal.sos2zpk(sections)
            slowest = float(np.max(np.abs(poles)))
            overlap += _samples(_REMEMBERED, slowest)
            edge += max(_samples(_SETTLED, slowest), 3 * (ORDER + 1))
        object.__setattr__(self, "sections", sections)
        object.__setattr__(self, "overlap", overlap)
        object.__setattr__(self, "edge", edge)

    @property
    def changes(self) -> bool:
        """Whether anything is done at all."""
        return self.cutoff is not None or self.differentiated

    def apply(self, signals: Signals) -> Signals:
        """Return the signals filtered and with both derivatives, as many samples as before."""
        signals = filtered = evolve(signals, q=_unwrapped(self.model, signals.q))
        if self.cutoff is not None:
            filtered = Signals(
                time=signals.time,
                qd=None if signals.qd is None else self._smooth(signals.qd),
                qdd=None if signals.qdd is None else self._smooth(signals.qdd),
                q=self._smooth_configuration(signals.q),
                tau=self._smooth(signals.tau) if self.torques else signals.tau,
            )
        time = filtered.time
        qd, qdd = filtered.qd, filtered.qdd
        if qd is None:
            assert time is not None
            qd = _rate(self.model, filtered.q, time)
            if self._rotates and self.cutoff is not None:
                qd = self._smooth_rotating(qd)
        if qdd is None:
            assert time is not None
            qdd = np.gradient(qd, time, axis=0)
        return evolve(filtered, qd=qd, qdd=qdd)

    @property
    def _rotates(self) -> bool:
        return any(j.nq > 1 for j in self.model.joints if j.q_start is not None)

    def _smooth(self, x: Array) -> Array:
        (signal,) = require("scipy.signal")
        result: Array = signal.sosfiltfilt(self.sections, x, axis=0)
        return result

    def _smooth_configuration(self, q: Array) -> Array:
        """Filter the scalar entries; those of a quaternion, or of a pose, stay measured."""
        result = q.copy()
        at = [j.q_start for j in self.model.joints if j.q_start is not None and j.nq == 1]
        if at:
            result[:, at] = self._smooth(q[:, at])
        return result

    def _smooth_rotating(self, qd: Array) -> Array:
        """Filter the rates whose positions could not be."""
        result = qd.copy()
        for joint in self.model.joints:
            if joint.v_start is not None and joint.nq > 1:
                at = slice(joint.v_start, joint.v_start + joint.nv)
                result[:, at] = self._smooth(qd[:, at])
        return result


@define
class Recording:
    """One uninterrupted recording on its way through the filter."""

    filtering: Filtering
    every: int = 1
    """Of the samples that come out, one in so many is kept."""
    dropped: int = 0
    """Samples at its ends that were left out."""
    _waiting: Signals | None = None
    _before: int = 0
    """Samples at the front of `_waiting` that are there for the filter only."""
    _fresh: bool = True
    _passed: int = 0

    def push(self, signals: Signals) -> Iterator[Signals]:
        """Take more samples; yield those that are final."""
        waiting = signals if self._waiting is None else self._waiting.then(signals)
        self._waiting = waiting
        if len(waiting) - self._before - self.filtering.overlap >= _BATCH:
            yield from self._flush(ended=False)

    def end(self) -> Iterator[Signals]:
        """Yield what is left."""
        if self._waiting is not None and len(self._waiting):
            yield from self._flush(ended=True)
        self._waiting = None

    def _flush(self, *, ended: bool) -> Iterator[Signals]:
        waiting, how = self._waiting, self.filtering
        assert waiting is not None
        n = len(waiting)
        start = how.edge if self._fresh else self._before
        stop = n - (how.edge if ended else how.overlap)
        if ended and self._fresh and n <= 2 * how.edge:
            self.dropped += n
            return
        if stop <= start:
            if ended:
                self.dropped += n - self._before
            return
        done = how.apply(waiting)[start:stop]
        self.dropped += (start if self._fresh else 0) + (n - stop if ended else 0)
        self._fresh = False
        keep = max(0, stop - how.overlap)
        self._waiting, self._before = waiting[keep:], stop - keep
        skip = -self._passed % self.every
        self._passed += len(done)
        if skip < len(done):
            yield done[skip :: self.every]


def _unwrapped(model: RobotModel, q: Array) -> Array:
    """Return q without the jumps of continuous joints that were recorded within one turn."""
    kind = JointKind.CONTINUOUS
    at = [j.q_start for j in model.joints if j.q_start is not None and j.kind is kind]
    if not at:
        return q
    result = q.copy()
    result[:, at] = np.unwrap(q[:, at], axis=0)
    return result


def _rate(model: RobotModel, q: Array, time: Array) -> Array:
    """Return q̇ by central differences, on the configurations' manifold, shape (n, nv)."""
    steps = np.diff(time)[:, None]
    slopes = difference(model, q[:-1], q[1:]) / steps
    before, after = steps[:-1], steps[1:]
    middle = (slopes[1:] * before + slopes[:-1] * after) / (before + after)
    result: Array = np.concatenate([slopes[:1], middle, slopes[-1:]])
    return result


def _samples(part: float, pole: float) -> int:
    """Return after how many samples a mode of that pole is down to a part."""
    return math.ceil(math.log(part) / math.log(pole))
