"""What a log held, and what of it was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, field

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FileSummary", "LogSummary"]


@define
class FileSummary:
    """What one file held."""

    path: Path
    rows: int = 0
    """Rows that were read."""
    not_finite: int = 0
    """Rows left out because a number was missing, NaN or infinite."""
    examples: list[str] = field(factory=list)
    """Where the first of those were."""
    edges: int = 0
    """Rows left out at the ends of recordings, where the filter has not settled."""
    recordings: int = 0
    """Uninterrupted recordings."""
    step: float | None = None
    """Usual time between samples [s]; None where the file has no time."""
    duration: float = 0.0
    """Time from the first to the last sample of each recording, summed up [s]."""
    ignored: tuple[str, ...] = ()
    """Columns that say nothing to Grid."""


@define
class LogSummary:
    """What was read so far, or in the last complete reading."""

    files: list[FileSummary]
    samples: int = 0
    """Samples handed out."""
    complete: bool = False
    """Whether the end was reached."""
    derived: tuple[str, ...] = ()
    """Quantities that were missing, and came from differences."""
    cutoff: float | None = None
    """Of the filter [Hz]."""
    torques_filtered: bool = False
    """Whether it was put over the torques as well."""
    every: int = 1
    """One sample in so many was kept."""

    @property
    def rows(self) -> int:
        """Rows that were read."""
        return sum(file.rows for file in self.files)

    @property
    def not_finite(self) -> int:
        """Rows left out for a number that is none."""
        return sum(file.not_finite for file in self.files)

    @property
    def edges(self) -> int:
        """Rows left out at the ends of recordings."""
        return sum(file.edges for file in self.files)

    def to_dict(self) -> dict[str, Any]:
        """Return what a JSON document can hold."""
        return {
            "samples": self.samples,
            "rows": self.rows,
            "excluded": {"not_finite": self.not_finite, "edges": self.edges},
            "derived": list(self.derived),
            "cutoff_hz": self.cutoff,
            "torques_filtered": self.torques_filtered,
            "every": self.every,
            "files": [
                {
                    "path": str(file.path),
                    "rows": file.rows,
                    "not_finite": file.not_finite,
                    "examples": list(file.examples),
                    "edges": file.edges,
                    "recordings": file.recordings,
                    "step_s": file.step,
                    "duration_s": file.duration,
                    "ignored": list(file.ignored),
                }
                for file in self.files
            ],
        }
