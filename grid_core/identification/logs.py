"""Logs of any length: checked, filtered and differentiated while they are read.

>>> log = open_log(["monday.npz", "tuesday.csv"], robot.model, cutoff=10.0)
>>> result = identify_stream(robot, log)
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from attrs import field, frozen

from grid_core.errors import ArgumentError, InputError, OptionError
from grid_core.identification.logs_columns import QUANTITIES
from grid_core.identification.logs_stream import Preparation, Stream, count
from grid_core.identification.logs_summary import FileSummary, LogSummary
from grid_core.identification.options import is_count, is_finite
from grid_core.model.types import RobotModel
from grid_core.wording import brief, listing

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from grid_core.identification.logs_rows import LogFile
    from grid_core.identification.samples import Samples

__all__ = ["Log", "open_log"]

T = TypeVar("T")

CHUNK = 1 << 16
"""Samples of a chunk."""
_SEGMENTS = 20
"""Trajectories that a log is cut into, for some to be held out, when nothing divides it."""
_FILES = 5
"""So many files are trajectories enough."""
_KINDS = (".npz", ".csv", ".txt", ".parquet", ".pq")


@frozen
class Log:
    """Files that are read from start to end, as often as somebody iterates."""

    files: tuple[LogFile, ...]
    how: Preparation
    progress: Callable[[float], None] | None = field(default=None, eq=False)
    """Told after each chunk which part of the files has been read, of 1."""
    summary: LogSummary = field(init=False, eq=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "summary", LogSummary([]))
        self._start()

    def __iter__(self) -> Iterator[Samples]:
        """Yield chunks of at most about `how.chunk` samples.

        Raises:
            InputError: time that does not advance, a quaternion that is none, or what cannot
                be read, with file and row.
        """
        self._start()
        weights = [max(1, _bytes(file)) for file in self.files]
        read = 0
        number = 0
        for file, summary, weight in zip(self.files, self.summary.files, weights, strict=True):
            stream = Stream(self.how, file, summary, number)
            for samples, end in _readable(file, iter(stream)):
                if count(samples):
                    self.summary.samples += count(samples)
                    yield samples
                if self.progress is not None:
                    share = end / file.size if file.size else 1.0
                    self.progress((read + weight * share) / sum(weights))
            read += weight
            number = stream.number
        self.summary.complete = True

    def _start(self) -> None:
        fresh = [FileSummary(file.path, ignored=file.ignored) for file in self.files]
        summary = self.summary
        summary.files, summary.samples, summary.complete = fresh, 0, False
        missing = {q for file in self.files for q in QUANTITIES if q not in file.has}
        summary.derived = tuple(q for q in QUANTITIES if q in missing)
        summary.cutoff, summary.every = self.how.cutoff, self.how.every
        summary.torques_filtered = self.how.filter_torques and self.how.cutoff is not None


def open_log(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    model: RobotModel,
    *,
    cutoff: float | None = None,
    filter_torques: bool = False,
    every: int = 1,
    chunk: int = CHUNK,
    progress: Callable[[float], None] | None = None,
) -> Log:
    """Open logs for `identify_stream`: headers are checked now, rows as they are read.

    Each recording is a trajectory, which may be held out: a file, or what a column ``trajectory``
    tells apart, up to where time is missing. Of fewer than five files without that column some 20
    pieces are made instead.

    Args:
        paths: ``.npz``, ``.csv`` or ``.parquet`` files; docs/identification.md has their columns.
        model: the robot that was recorded.
        cutoff: where a zero-phase Butterworth filter of order 4 cuts positions, velocities and
            accelerations off [Hz]; None: no filter.
        filter_torques: put the filter over the torques too. Where friction steps this spoils
            the fit; docs/identification.md has figures.
        every: keep one sample in so many.
        chunk: samples of a chunk.
        progress: told which part has been read, of 1.

    Raises:
        ArgumentError: `model` is none.
        InputError: a file is missing or of no known kind, or lacks a column or a joint.
        OptionError: an option of a value that it cannot have, or a package is not installed.
    """
    if not isinstance(model, RobotModel):
        raise ArgumentError(
            f"open_log: model must be a robot's, as handle.model; got {brief(model)}"
        )
    for name, value in (("every", every), ("chunk", chunk)):
        if not is_count(value, 1):
            raise OptionError(f"{name} must be at least 1; got {brief(value)}")
    if cutoff is not None and not (is_finite(cutoff) and cutoff > 0.0):
        raise OptionError(f"cutoff must be above 0 Hz; got {brief(cutoff)}")
    many = paths if isinstance(paths, (list, tuple)) else [paths]
    files = tuple(_open(Path(path), model) for path in many)  # type: ignore[arg-type]
    if not files:
        raise OptionError("there is no log to read")
    for file in files:
        _check_time(file, cutoff)
    enough = len(files) >= _FILES or any(file.divided for file in files)
    segments = None if enough else math.ceil(_SEGMENTS / len(files))
    how = Preparation(model, cutoff, every, chunk, filter_torques, segments)
    return Log(files, how, progress)


def _bytes(file: LogFile) -> int:
    try:
        return file.path.stat().st_size
    except OSError as error:
        raise _unreadable(file.path, error) from error


def _readable(file: LogFile, parts: Iterator[T]) -> Iterator[T]:
    """Yield what a file gives; one that went away, say, is an error of Grid's."""
    while True:
        try:
            part = next(parts)
        except StopIteration:
            return
        except OSError as error:
            raise _unreadable(file.path, error) from error
        yield part


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: cannot be read: {error.strerror or error}")


def _open(path: Path, model: RobotModel) -> LogFile:
    suffix = path.suffix.lower()
    if suffix not in _KINDS:
        raise InputError(f"{path}: a log is a file of kind {listing(_KINDS, 'or')}")
    try:
        if suffix == ".npz":
            from grid_core.identification.logs_npz import open_npz  # noqa: PLC0415 - its kind only

            return open_npz(path, model)
        if suffix in {".parquet", ".pq"}:
            from grid_core.identification.logs_parquet import open_parquet  # noqa: PLC0415

            path.stat()  # which tells of a missing file as the others' opening does
            return open_parquet(path, model)
        from grid_core.identification.logs_csv import open_csv  # noqa: PLC0415

        return open_csv(path, model)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except OSError as error:
        raise _unreadable(path, error) from error


def _check_time(file: LogFile, cutoff: float | None) -> None:
    missing = [q for q in QUANTITIES if q not in file.has]
    if "time" in file.has or (not missing and cutoff is None):
        return
    why = f"differences, for there is no {listing(missing, 'and no')}" if missing else "a filter"
    raise InputError(f"{file.path}: time (or t) is missing, which is needed for {why}")
