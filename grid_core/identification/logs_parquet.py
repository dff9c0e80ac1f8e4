"""Logs as Parquet tables, read one row group after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import define

from grid_core.errors import InputError
from grid_core.identification.extra import require
from grid_core.identification.logs_columns import TableLog, match_table
from grid_core.identification.logs_rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grid_core.model.types import Array, RobotModel

__all__ = ["ParquetLog", "open_parquet"]


@define
class ParquetLog(TableLog):
    """A Parquet file."""

    size: int
    """Rows."""

    def place(self, row: int) -> str:
        """Return what a row is called."""
        return f"row {row}"

    def read(self, count: int) -> Iterator[Rows]:
        """Yield all rows."""
        pyarrow, parquet = require("pyarrow", "pyarrow.parquet")
        table = self.table
        first = 0
        try:
            with parquet.ParquetFile(self.path) as file:
                for batch in file.iter_batches(batch_size=count, columns=list(table.used)):
                    columns = {
                        quantity: np.stack([_numbers(batch.column(name)) for name in names], axis=1)
                        for quantity, names in table.columns.items()
                    }
                    if table.time is not None:
                        columns["time"] = _numbers(batch.column(table.time))
                    trajectory = None
                    if table.trajectory is not None:
                        raw = batch.column(table.trajectory)
                        trajectory = np.asarray(raw.to_numpy(zero_copy_only=False))
                        if trajectory.dtype == object:
                            trajectory = trajectory.astype(str)
                    end = first + batch.num_rows
                    yield Rows(first, end, columns, trajectory)
                    first = end
        except (OSError, pyarrow.ArrowException) as error:
            raise InputError(
                f"{self.path}: rows from {first} on cannot be read: {error}"
            ) from error


def open_parquet(path: Path, model: RobotModel) -> ParquetLog:
    """Read the schema of a Parquet file.

    Raises:
        InputError: it is no Parquet file, a column is missing, or one is not of numbers.
        OptionError: pyarrow is not installed.
    """
    pyarrow, parquet = require("pyarrow", "pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{path}: no Parquet file: {error}") from error
    table = match_table(path, list(schema.names), model)
    types = pyarrow.types
    for name in table.used:
        kind = schema.field(name).type
        number = types.is_floating(kind) or types.is_integer(kind)
        text = name == table.trajectory and (types.is_string(kind) or types.is_large_string(kind))
        if not number and not text:
            raise InputError(f"{path}: column {name!r} must hold numbers; it is of type {kind}")
    return ParquetLog(path, table, int(rows))


def _numbers(column: Any) -> Array:
    """Return a column as float64, NaN where it has nothing."""
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
