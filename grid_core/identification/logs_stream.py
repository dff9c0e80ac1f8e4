"""One file of a log on its way through checks and filter."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, frozen

from grid_core.errors import InputError
from grid_core.identification.filtering import Filtering, Recording, Signals
from grid_core.identification.logs_columns import QUANTITIES
from grid_core.identification.samples import Samples

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from grid_core.identification.logs_rows import LogFile, Rows
    from grid_core.identification.logs_summary import FileSummary
    from grid_core.model.types import Array, RobotModel

__all__ = ["Preparation", "Stream", "count"]

_GAP = 1.5
"""Times the usual step, after which samples are missing and a recording ends."""
_UNIT = 1e-2
"""How far from 1 the length of a measured quaternion may be."""
_MANY = 1 << 32
"""More trajectories than a recording is cut into."""
_SHOWN = 5
"""Rows without a number that a summary names."""


@frozen
class Preparation:
    """What is done to a log's rows."""

    model: RobotModel
    cutoff: float | None
    every: int
    chunk: int
    filter_torques: bool
    segments: int | None
    """Trajectories that each file is cut into; None: one for each recording."""


class Stream:
    """One file on its way through checks and filter."""

    def __init__(self, how: Preparation, file: LogFile, summary: FileSummary, number: int) -> None:
        self._how = how
        self._file = file
        self._summary = summary
        self._filtering: Filtering | None = None
        self._recording: Recording | None = None
        self._last: tuple[float | None, Any] | None = None
        """Time and trajectory of the last good row."""
        self._cut = True
        """Whether rows were left out since."""
        self._passed = 0
        self._given = 0
        """Samples that were handed out."""
        self._length: int | None = None
        """Samples of a trajectory; None: a recording is one."""
        self.number = number
        """Recordings that were started, in the files before this one too."""

    def __iter__(self) -> Iterator[tuple[Samples, int]]:
        held: list[Samples] = []
        end = 0
        for rows in self._file.read(self._how.chunk):
            end = rows.end
            self._measure(rows)
            for signals, starts in self._contiguous(rows):
                held += self._prepare(signals, starts)
            if sum(map(count, held)) >= self._how.chunk:
                yield _join(held), end
                held = []
            else:
                yield _join([]), end
        held += self._finish()
        yield _join(held), end

    def _contiguous(self, rows: Rows) -> Iterator[tuple[Signals, NDArray[np.bool_]]]:
        """Yield the good rows, and which of them start a recording."""
        good = self._good(rows)
        self._summary.rows += len(rows)
        index = np.flatnonzero(good)
        if len(index) < len(rows):
            columns = {name: x[index] for name, x in rows.columns.items()}
        else:
            columns = rows.columns
        if not len(index):
            self._cut = True
            return
        time = columns.get("time")
        trajectory = None if rows.trajectory is None else rows.trajectory[index]
        starts = self._starts(rows, index, time, trajectory)
        self._check_quaternions(rows, index, columns["q"])
        self._last = (
            None if time is None else float(time[-1]),
            None if trajectory is None else trajectory[-1],
        )
        self._cut = bool(index[-1] != len(rows) - 1)
        yield (
            Signals(time, columns.get("qd"), columns.get("qdd"), columns["q"], columns["tau"]),
            starts,
        )

    def _good(self, rows: Rows) -> NDArray[np.bool_]:
        good = np.ones(len(rows), dtype=bool)
        for name, array in rows.columns.items():
            finite = np.isfinite(array)
            if finite.all():
                continue
            fine = finite if finite.ndim == 1 else finite.all(axis=1)
            for row in np.flatnonzero(good & ~fine)[: _SHOWN - len(self._summary.examples)]:
                self._summary.examples.append(f"{self._file.place(rows.first + int(row))}: {name}")
            good &= fine
        self._summary.not_finite += int(np.count_nonzero(~good))
        return good

    def _starts(
        self,
        rows: Rows,
        index: NDArray[np.intp],
        time: Array | None,
        trajectory: NDArray[Any] | None,
    ) -> NDArray[np.bool_]:
        """Return which of the good rows are no continuation of the one before."""
        named = np.zeros(len(index), dtype=bool)
        last = self._last
        named[0] = last is None
        if trajectory is not None:
            named[1:] = trajectory[1:] != trajectory[:-1]
            named[0] |= last is not None and bool(trajectory[0] != last[1])
        starts = named.copy()
        starts[1:] |= np.diff(index) > 1
        starts[0] |= self._cut or bool(index[0] != 0)
        if time is None:
            return starts
        before = time[0] if last is None or last[0] is None else last[0]
        steps = np.diff(time, prepend=before)
        self._refuse_time(rows, index, time, steps, named)
        forward = steps[1:][~named[1:]]
        if self._summary.step is None and len(forward):
            self._summary.step = float(np.median(forward))
        if self._summary.step is not None:
            starts |= steps > _GAP * self._summary.step
        self._summary.duration += float(np.sum(steps[~starts]))
        return starts

    def _refuse_time(
        self,
        rows: Rows,
        index: NDArray[np.intp],
        time: Array,
        steps: Array,
        named: NDArray[np.bool_],
    ) -> None:
        back = np.flatnonzero((steps <= 0.0) & ~named)
        if not len(back):
            return
        k = int(back[0])
        row = rows.first + int(index[k])
        raise InputError(
            f"{self._file.path}: time does not advance at {self._file.place(row)}: "
            f"{time[k]:.9g} s after {time[k] - steps[k]:.9g} s; several recordings in one file "
            "need a column 'trajectory'"
        )

    def _check_quaternions(self, rows: Rows, index: NDArray[np.intp], q: Array) -> None:
        for joint in self._how.model.joints:
            if joint.q_start is None or joint.nq == 1:
                continue
            stop = joint.q_start + joint.nq
            lengths = np.linalg.norm(q[:, stop - 4 : stop], axis=1)
            bad = np.flatnonzero(np.abs(lengths - 1.0) > _UNIT)
            if len(bad):
                row = self._file.place(rows.first + int(index[bad[0]]))
                raise InputError(
                    f"{self._file.path}: {row}: the quaternion of joint {joint.name!r} has length "
                    f"{lengths[bad[0]]:.6g}; q holds x y z w there, of length 1"
                )

    def _prepare(self, signals: Signals, starts: NDArray[np.bool_]) -> Iterator[Samples]:
        """Filter, where that is wanted, recording by recording."""
        self._summary.recordings += int(np.count_nonzero(starts))
        if not self._changes:
            numbers = self.number - 1 + np.cumsum(starts)
            self.number = int(numbers[-1]) + 1
            kept = slice(-self._passed % self._how.every, None, self._how.every)
            self._passed += len(signals)
            yield self._samples(signals[kept], numbers[kept])
            return
        bounds = [0, *np.flatnonzero(starts[1:]) + 1, len(signals)]
        for start, stop in itertools.pairwise(bounds):
            if starts[start]:
                yield from self._finish()
                self._recording = Recording(self._filter(), self._how.every)
                self.number += 1
            assert self._recording is not None
            for done in self._recording.push(signals[start:stop]):
                yield self._samples(done, self.number - 1)

    def _finish(self) -> Iterator[Samples]:
        """End the recording that is under way."""
        if self._recording is None:
            return
        for done in self._recording.end():
            yield self._samples(done, self.number - 1)
        self._summary.edges += self._recording.dropped
        self._recording = None

    def _measure(self, rows: Rows) -> None:
        """Decide how long a trajectory is, from how much of the file the first rows are."""
        if self._how.segments is not None and self._length is None and len(rows):
            whole = self._file.size * len(rows) / rows.end
            self._length = max(1, math.ceil(whole / self._how.every / self._how.segments))

    def _samples(self, signals: Signals, number: Any) -> Samples:
        """Return signals as a chunk, each sample with the number of its trajectory."""
        assert signals.qd is not None
        assert signals.qdd is not None
        numbers = np.broadcast_to(np.asarray(number), (len(signals),))
        if self._length is not None:
            parts = (self._given + np.arange(len(signals))) // self._length
            numbers = numbers * _MANY + parts
        self._given += len(signals)
        return Samples(signals.q, signals.qd, signals.qdd, signals.tau, signals.time, numbers)

    @property
    def _changes(self) -> bool:
        return self._how.cutoff is not None or any(q not in self._file.has for q in QUANTITIES)

    def _filter(self) -> Filtering:
        if self._filtering is None:
            self._filtering = Filtering(
                self._how.model,
                self._summary.step or 1.0,
                self._how.cutoff,
                any(q not in self._file.has for q in QUANTITIES),
                self._how.filter_torques,
            )
        return self._filtering


def count(samples: Samples) -> int:
    """Return how many samples a chunk has."""
    return int(np.shape(samples.q)[0])


def _join(parts: Iterable[Samples]) -> Samples:
    parts = [part for part in parts if count(part)]
    if not parts:
        return Samples(*(np.zeros((0, 0)) for _ in range(4)))
    if len(parts) == 1:
        return parts[0]
    timed = parts[0].time is not None
    return evolve(
        parts[0],
        **{
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("q", "qd", "qdd", "tau", "trajectory", *(("time",) if timed else ()))
        },
    )
