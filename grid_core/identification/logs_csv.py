"""Logs as text: a header, then a row a line; never whole in memory."""

from __future__ import annotations

import csv
import functools
import importlib.util
import io
import itertools
from typing import TYPE_CHECKING

import numpy as np
from attrs import define

from grid_core.errors import InputError
from grid_core.identification.extra import require
from grid_core.identification.logs_columns import TableLog, match_table
from grid_core.identification.logs_rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from grid_core.model.types import Array, RobotModel

__all__ = ["CsvLog", "open_csv"]

_DELIMITERS = ",;\t"
_MISSING = frozenset({"", "nan", "null", "none", "n/a", "na"})
"""What a cell without a number says, in lower case."""
_SPELLINGS = sorted({x for text in _MISSING for x in (text, text.upper(), text.title(), "NaN")})


@define
class CsvLog(TableLog):
    """A text file with a header."""

    header: tuple[str, ...]
    delimiter: str
    size: int
    """Bytes."""

    def place(self, row: int) -> str:
        """Return what a row is called; the header is line 1."""
        return f"line {row + 2}"

    def read(self, count: int) -> Iterator[Rows]:
        """Yield all rows."""
        used = self.table.used
        where = [self.header.index(name) for name in used]
        with self.path.open("rb") as file:
            file.readline()
            first, end = 0, file.tell()
            while lines := list(itertools.islice(file, count)):
                end += sum(map(len, lines))
                if not lines[-1].strip():
                    while lines and not lines[-1].strip():
                        lines.pop()
                    self._refuse_rest(file, first + len(lines))
                    if not lines:
                        return
                numbers = self._numbers(lines, first, where)
                yield self._rows(first, end, dict(zip(used, numbers.T, strict=True)))
                first += len(lines)

    def _rows(self, first: int, end: int, by_name: dict[str, Array]) -> Rows:
        table = self.table
        columns = {
            quantity: np.stack([by_name[name] for name in names], axis=1)
            for quantity, names in table.columns.items()
        }
        if table.time is not None:
            columns["time"] = np.ascontiguousarray(by_name[table.time])
        trajectory = None if table.trajectory is None else by_name[table.trajectory]
        return Rows(first, end, columns, trajectory)

    def _numbers(self, lines: list[bytes], first: int, where: list[int]) -> Array:
        """Return the wanted cells, shape (len(lines), len(where))."""
        data = b"".join(lines)
        numbers = None
        if all(map(bytes.strip, lines)):  # of lines without anything readers make what they like
            arrow = _has_arrow()
            numbers = self._with_arrow(data) if arrow else self._with_numpy(data, lines, where)
        if numbers is not None and len(numbers) == len(lines):
            return numbers
        return self._cell_by_cell(data, first, where)

    def _with_arrow(self, data: bytes) -> Array | None:
        """Read fast; None where some cell is no number, or a row has too many or too few."""
        pyarrow, arrow = require("pyarrow", "pyarrow.csv")
        used = list(self.table.used)
        try:
            table = arrow.read_csv(
                io.BytesIO(data),
                arrow.ReadOptions(column_names=list(self.header)),
                arrow.ParseOptions(delimiter=self.delimiter, ignore_empty_lines=False),
                arrow.ConvertOptions(
                    include_columns=used,
                    column_types=dict.fromkeys(used, pyarrow.float64()),
                    null_values=_SPELLINGS,
                ),
            )
        except pyarrow.ArrowException:
            return None
        columns = [table.column(name).to_numpy() for name in used]
        return np.stack(columns, axis=1)

    def _with_numpy(self, data: bytes, lines: list[bytes], where: list[int]) -> Array | None:
        """Read without pyarrow."""
        # A cell too many or too few would shift the others: NumPy reads the wanted columns only.
        mark, marks = self.delimiter.encode(), len(self.header) - 1
        if any(line.count(mark) != marks for line in lines):
            return None
        try:
            return np.loadtxt(
                io.StringIO(data.decode()),
                delimiter=self.delimiter,
                usecols=where,
                ndmin=2,
                comments=None,
                quotechar='"',
            )
        except ValueError:  # UnicodeDecodeError is one
            return None

    def _cell_by_cell(self, data: bytes, first: int, where: list[int]) -> Array:
        """Read slowly: empty cells are missing numbers, and what is wrong is told where."""
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            bad = first + data.count(b"\n", 0, error.start)
            raise InputError(f"{self.path}: {self.place(bad)} is not UTF-8") from error
        result = []
        for row, line in enumerate(text.removesuffix("\n").split("\n"), start=first):
            cells = next(csv.reader([line.rstrip("\r")], delimiter=self.delimiter), [])
            if len(cells) != len(self.header):
                raise InputError(
                    f"{self.path}: {self.place(row)} has {len(cells)} cells, and the header "
                    f"{len(self.header)}"
                )
            result.append([self._number(cells[k], row, k) for k in where])
        return np.array(result).reshape(-1, len(where))

    def _number(self, cell: str, row: int, column: int) -> float:
        text = cell.strip()
        if text.lower() in _MISSING:
            return float("nan")
        try:
            return float(text)
        except ValueError:
            raise InputError(
                f"{self.path}: {self.place(row)}, column {self.header[column]!r}: {cell[:40]!r} "
                "is no number"
            ) from None

    def _refuse_rest(self, file: io.BufferedReader, row: int) -> None:
        """Allow empty lines at the end, and nothing after them."""
        if any(line.strip() for line in file):
            raise InputError(f"{self.path}: {self.place(row)} is empty, and more rows follow")


def open_csv(path: Path, model: RobotModel) -> CsvLog:
    """Read the header of a text file.

    Raises:
        InputError: the file is empty, or its header lacks a column or names no joint.
    """
    with path.open("rb") as file:
        line = file.readline()
    try:
        text = line.decode("utf-8-sig").strip("\r\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: the header is not UTF-8") from error
    delimiter = max(_DELIMITERS, key=text.count)
    header = _cells(text, delimiter) if text.strip() else []
    if all(map(_is_number, header)):
        raise InputError(f"{path}: there is no header in line 1, such as time,q0,...,tau0,...")
    return CsvLog(
        path, match_table(path, header, model), tuple(header), delimiter, path.stat().st_size
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@functools.cache
def _has_arrow() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


def _cells(text: str, delimiter: str) -> Sequence[str]:
    return [cell.strip() for cell in next(csv.reader([text], delimiter=delimiter))]
