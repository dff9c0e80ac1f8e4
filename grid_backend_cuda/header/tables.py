"""The model descriptor's rows as initialisers of the header's records.

Everything is taken from the descriptor, not from the model again: header and JSON cannot differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from grid_backend_cuda.header.text import number, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Row", "frame_rows", "joint_rows", "json_lines"]

_BOUNDS = ("lower", "upper", "velocity", "effort")


@frozen
class Row:
    """One record."""

    id: int
    name: str
    """A string literal."""
    values: str
    """The initialiser's entries, in the order of the struct's members."""


def joint_rows(descriptor: Mapping[str, Any]) -> list[Row]:
    """Return a row for each joint."""
    return [Row(j["id"], quoted(j["name"]), _joint(j)) for j in descriptor["joints"]]


def frame_rows(descriptor: Mapping[str, Any]) -> list[Row]:
    """Return a row for each frame."""
    return [Row(f["id"], quoted(f["name"]), _frame(f)) for f in descriptor["frames"]]


def json_lines(text: str) -> list[str]:
    """Return JSON text as string literals, one a line of it."""
    return [quoted(line) for line in text.splitlines(keepends=True)]


def _joint(joint: Mapping[str, Any]) -> str:
    mimic, axis = joint["mimic"], joint["axis"]
    return ", ".join(
        [
            str(joint["id"]),
            f"joint_kind::{joint['kind']}",
            str(joint["parent_body"]),
            str(joint["child_body"]),
            _start(joint["q_start"]),
            _start(joint["v_start"]),
            str(joint["local_nq"]),
            str(joint["local_nv"]),
            _columns(joint["T_parent_joint_zero"]),
            _flag(axis is not None),
            f"{{{', '.join(number(x) for x in axis or (0.0, 0.0, 0.0))}}}",
            number(joint["pitch"] or 0.0),
            _flag(mimic is not None),
            _start(mimic["leader"] if mimic else None),
            number(mimic["multiplier"] if mimic else 0.0),
            number(mimic["offset"] if mimic else 0.0),
            *(_flag(joint["limits"][bound] is not None) for bound in _BOUNDS),
            *(number(joint["limits"][bound] or 0.0) for bound in _BOUNDS),
        ]
    )


def _frame(frame: Mapping[str, Any]) -> str:
    kind = f"frame_kind::{frame['kind']}"
    return f"{frame['id']}, {kind}, {frame['body']}, {_columns(frame['T_body_frame'])}"


def _columns(rows: Sequence[Sequence[float]]) -> str:
    """A 4×4 matrix, column-major: entry (r, c) at r + 4 c."""
    return f"{{{', '.join(number(rows[r][c]) for c in range(4) for r in range(4))}}}"


def _start(value: int | None) -> str:
    return "-1" if value is None else str(value)


def _flag(value: bool) -> str:
    return "true" if value else "false"
