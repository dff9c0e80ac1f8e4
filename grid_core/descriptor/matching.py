"""Which rows of one descriptor are which rows of another: by name, else by what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Match", "Row", "match_frames", "match_joints"]

Row: TypeAlias = dict[str, Any]


@frozen
class Match:
    """Rows of two tables, side by side."""

    pairs: list[tuple[Row, Row]] = field(factory=list)
    removed: list[Row] = field(factory=list)
    """In the first table only."""
    added: list[Row] = field(factory=list)
    """In the second table only."""


def match_joints(a: Row, b: Row) -> Match:
    """Match the joints of two descriptors.

    A joint that has no namesake is taken as renamed if one that has none either moves a body of
    the same name, or if it alone moves in the same way from the same place.
    """
    match = Match([], a["joints"], b["joints"])
    for key in (_name, _moved_body, _motion):
        match = _extend(match, a, b, key)
    return match


def match_frames(a: Row, b: Row) -> Match:
    """Match the fixed frames of two descriptors; one without a namesake, by its placement."""
    fixed = [[f for f in d["frames"] if f["kind"] == "fixed"] for d in (a, b)]
    match = Match([], *fixed)
    for key in (_name, _placement):
        match = _extend(match, a, b, key)
    return match


def _name(row: Row, descriptor: Row) -> str:
    del descriptor
    return str(row["name"])


def _moved_body(joint: Row, descriptor: Row) -> str:
    return _body(joint["child_body"], descriptor)


def _motion(joint: Row, descriptor: Row) -> str:
    parent = _body(joint["parent_body"], descriptor)
    return repr([parent, joint["kind"], joint["T_parent_joint_zero"], joint["axis"]])


def _placement(frame: Row, descriptor: Row) -> str:
    return repr([_body(frame["body"], descriptor), frame["T_body_frame"]])


def _body(number: int, descriptor: Row) -> str:
    # A body's name may be anything, so the root's is marked by more than a name.
    return repr(number if number < 0 else descriptor["bodies"][number]["name"])


def _extend(match: Match, a: Row, b: Row, key: Callable[[Row, Row], str]) -> Match:
    """Pair those left over whose keys are equal, and occur once on each side."""
    keys_a = [key(row, a) for row in match.removed]
    keys_b = [key(row, b) for row in match.added]
    common = {text for text in keys_a if keys_a.count(text) == keys_b.count(text) == 1}
    pairs = [
        (row, match.added[keys_b.index(text)])
        for row, text in zip(match.removed, keys_a, strict=True)
        if text in common
    ]
    return Match(
        match.pairs + pairs,
        [row for row, text in zip(match.removed, keys_a, strict=True) if text not in common],
        [row for row, text in zip(match.added, keys_b, strict=True) if text not in common],
    )
