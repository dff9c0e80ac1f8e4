"""What every kind of log file gives: consecutive rows, by quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from numpy.typing import NDArray

    from grid_core.model.types import Array

__all__ = ["LogFile", "Rows"]


@frozen(eq=False)
class Rows:
    """Consecutive rows of one file."""

    first: int
    """Number of the first of them, counted from 0."""
    end: int
    """How far into the file they reach, in the unit of `LogFile.size`."""
    columns: dict[str, Array]
    """Arrays by quantity, each (n, width) in the robot's order; ``time`` is (n,)."""
    trajectory: NDArray[Any] | None
    """Which recording each row is of, shape (n,)."""

    def __len__(self) -> int:
        return len(self.columns["q"])


class LogFile(Protocol):
    """A file that can be read over and over, some rows at a time."""

    @property
    def path(self) -> Path:
        """Where it is."""

    @property
    def has(self) -> frozenset[str]:
        """Its quantities, and ``time`` where it has that."""

    @property
    def size(self) -> int:
        """How large it is, in rows or bytes."""

    @property
    def ignored(self) -> tuple[str, ...]:
        """Names of what it holds beside."""

    @property
    def divided(self) -> bool:
        """Whether it tells its recordings apart."""

    def read(self, count: int) -> Iterator[Rows]:
        """Yield all its rows, about `count` at a time.

        Raises:
            InputError: what is in the file is no number, or the file ends too early.
        """

    def place(self, row: int) -> str:
        """Return what a row is called in messages, such as ``row 12``."""
