"""Programs as text, written and read a row at a time.

The first line is the header, a JSON map. Each row is a JSON list: time [s], then the position of
each joint [rad or m]. The last line is ``{"rows": n}``, so that a file cut short is found out.
"""

from __future__ import annotations

import itertools
import json
import math
from typing import TYPE_CHECKING, Any, TextIO

from attrs import asdict, define, field, frozen

from grid_core.description.documents import read_document
from grid_core.description.faults import Faults
from grid_core.description.program_documents import (
    PROGRAM_SCHEMA,
    ProgramHeader,
    RobotCellBlock,
)
from grid_core.description.strict_json import parse
from grid_core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import BinaryIO, Self

    from grid_core.description.faults import Place
    from grid_core.model.types import RobotCell

__all__ = ["Program", "ProgramWriter", "program_header"]


_LONGEST = 2**20
"""Bytes of a line."""


def program_header(
    joints: Sequence[str],
    robot_cell: RobotCell,
    machine_configuration_sha256: str | None = None,
) -> ProgramHeader:
    """Return the header of a program for a cell.

    Args:
        joints: what each column moves, in order.
        robot_cell: what the plan was made with, as `RobotHandle.robot_cell` has it.
        machine_configuration_sha256: the machine's whole configuration, for the record.
    """
    block = RobotCellBlock(
        model_id=robot_cell.model_id,
        robot_description_sha256=robot_cell.robot_description_sha256,
        machine_planning_calibration_sha256=robot_cell.machine_planning_calibration_sha256,
    )
    return ProgramHeader(
        schema=PROGRAM_SCHEMA,
        joints=tuple(joints),
        robot_cell=block,
        machine_configuration_sha256=machine_configuration_sha256,
    )


@define
class ProgramWriter:
    """Writes a program; ``with ProgramWriter(stream, header) as write: write.row(t, q)``.

    The end is written when the block ends without an exception.
    """

    stream: TextIO
    header: ProgramHeader
    rows: int = 0
    _time: float = field(default=-math.inf, init=False)

    def __enter__(self) -> Self:
        faults = Faults()
        values = asdict(self.header, filter=lambda _, value: value is not None)
        text = json.dumps(values)
        read_document(ProgramHeader, text.encode(), faults.at("the header"))
        faults.raise_any()
        self.stream.write(f"{text}\n")
        return self

    def row(self, time: float, positions: Sequence[float]) -> None:
        """Write one row.

        Args:
            time: [s], above that of the row before.
            positions: of each joint of the header [rad or m].

        Raises:
            InputError: another number of positions, time that stands, NaN or infinity.
        """
        row = [float(time), *map(float, positions)]
        problem = _problem(row, self.header, self._time)
        if problem is not None:
            raise InputError(f"row {self.rows}: {problem}")
        self.stream.write(f"{json.dumps(row)}\n")
        self._time = row[0]
        self.rows += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.stream.write(f"{json.dumps({'rows': self.rows})}\n")


@frozen
class Program:
    """A program that is being read: its header now, its rows as they are asked for."""

    header: ProgramHeader
    file: str
    _stream: BinaryIO = field(repr=False)

    @classmethod
    def open(cls, stream: BinaryIO, *, file: str = "the program") -> Program:
        """Read the header.

        Raises:
            DescriptionError: a header that lacks a field, or has one too many.
        """
        faults = Faults()
        at = faults.at(f"{file}: line 1")
        line = _line(stream, at)
        faults.raise_any()
        header = read_document(ProgramHeader, line, at)
        faults.raise_any()
        assert header is not None
        return cls(header, file, stream)

    def rows(self) -> Iterator[tuple[float, ...]]:
        """Yield each row: time [s], then positions [rad or m]; can be done once.

        Raises:
            DescriptionError: a row that is none, or a file that was cut short.
        """
        time, count = -math.inf, 0
        for number in itertools.count(2):
            faults = Faults()
            at = faults.at(f"{self.file}: line {number}")
            line = _line(self._stream, at)
            faults.raise_any()
            if not line:
                break
            value = parse(line, at)
            faults.raise_any()
            if isinstance(value, dict):
                self._check_end(value, count, number)
                return
            problem = _problem(value, self.header, time)
            if problem is not None:
                at.fault(problem)
                faults.raise_any()
            row = tuple(map(float, value))
            time, count = row[0], count + 1
            yield row
        faults = Faults()
        faults.at(self.file).fault(f"cut short after {count} rows: the last line is missing")
        faults.raise_any()

    def _check_end(self, value: dict[str, Any], count: int, number: int) -> None:
        faults = Faults()
        at = faults.at(f"{self.file}: line {number}")
        if value != {"rows": count} or isinstance(value["rows"], bool):
            at.fault(f"the end must be {{'rows': {count}}}; got {dict(value)}")
        if self._stream.read(1):
            at.fault("something follows the end")
        faults.raise_any()


def _line(stream: BinaryIO, at: Place) -> bytes:
    """Read a line, but never much more than a program has (``/dev/zero`` has no end)."""
    line = stream.readline(_LONGEST + 1)
    if len(line) > _LONGEST:
        at.fault(f"longer than {_LONGEST >> 20} MiB")
    return line


def _problem(row: Any, header: ProgramHeader, time: float) -> str | None:
    width = 1 + len(header.joints)
    if not isinstance(row, list) or len(row) != width:
        return f"needs a list of {width} numbers: time and {width - 1} positions"
    for value in row:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"{value!r} is not a number"
        if isinstance(value, float) and not math.isfinite(value):
            return f"{value!r} is not finite"
        if isinstance(value, int) and abs(value) > 2**53:
            return "an integer beyond 2^53"
    return None if row[0] > time else f"time {row[0]!r} is not after {time!r}"
