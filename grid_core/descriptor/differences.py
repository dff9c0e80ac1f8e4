"""What differs between two descriptors, in sentences with numbers and units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grid_core.descriptor.canonical import canonical_bytes
from grid_core.descriptor.joint_differences import (
    Sides,
    joint_differences,
    place_differences,
)
from grid_core.descriptor.matching import Match, Row, match_frames, match_joints

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["differences"]


def differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    """Say what differs from one valid descriptor to another, one sentence a difference.

    Empty exactly when their identities are equal.
    """
    first, second = dict(a), dict(b)
    if first["descriptor_id"] == second["descriptor_id"]:
        return []
    joints, frames = match_joints(first, second), match_frames(first, second)
    sides = Sides.of(first, second, joints)
    found = [
        *_base(first, second),
        *_counts(first, second),
        *_came_and_went(joints, "joint"),
        *(line for pair in joints.pairs for line in joint_differences(*pair, sides)),
        *_came_and_went(frames, "fixed frame"),
        *(line for pair in frames.pairs for line in _frame(*pair, sides)),
    ]
    return found or _order(frames)


def _base(a: Row, b: Row) -> Iterator[str]:
    if a["floating_base"] != b["floating_base"]:
        bases = ["floating" if row["floating_base"] else "fixed" for row in (a, b)]
        yield f"the base is {bases[1]}, was {bases[0]}"
    roots = [row["frames"][0]["name"] for row in (a, b)]
    if roots[0] != roots[1]:
        yield f"the root frame is called {roots[1]!r}, was {roots[0]!r}"


def _counts(a: Row, b: Row) -> Iterator[str]:
    for key, noun in (("nq", "entries in q"), ("nv", "entries in v")):
        if a[key] != b[key]:
            yield f"{noun}: {b[key]}, was {a[key]}"


def _came_and_went(match: Match, noun: str) -> Iterator[str]:
    for row in match.removed:
        yield f"{noun} {row['name']!r} is gone"
    for row in match.added:
        kind = f" ({row['kind']})" if noun == "joint" else ""
        yield f"{noun} {row['name']!r} is new{kind}"


def _frame(x: Row, y: Row, sides: Sides) -> Iterator[str]:
    name = f"fixed frame {x['name']!r}"
    if x["name"] != y["name"]:
        yield f"{name} is called {y['name']!r}"
    carriers, placements = (x["body"], y["body"]), (x["T_body_frame"], y["T_body_frame"])
    yield from place_differences(f"{name} sits on", name, carriers, placements, sides)


def _order(frames: Match) -> list[str]:
    """Say what is left when every row is equal but for its number."""
    moved = [
        f"fixed frame {x['name']!r} has ID {y['id']}, was {x['id']}"
        for x, y in frames.pairs
        if canonical_bytes(x["id"]) != canonical_bytes(y["id"])
    ]
    return moved or ["the numbering differs"]
