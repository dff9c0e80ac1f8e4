"""JSON read strictly: one meaning for every document, or faults that say where.

Python's own reader keeps the last of two equal keys, and takes NaN, 1e999 and lone surrogates.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

if TYPE_CHECKING:
    from grid_core.description.faults import Place

__all__ = ["MAX_BYTES", "parse"]

MAX_BYTES = 32 * 2**20
"""Larger documents are refused unread."""


class _Map(dict[str, Any]):
    """A map that remembers which keys came twice."""

    twice: tuple[str, ...] = ()


@frozen
class _NoNumber:
    """A number that JSON or binary64 does not have."""

    text: str = field()


def parse(data: bytes, at: Place) -> Any:
    """Return the document's plain data; None, with faults noted, where there is no such thing."""
    before = len(at.faults.found)
    value = _decode(data, at)
    if len(at.faults.found) == before:
        _walk(value, at)
    return value if len(at.faults.found) == before else None


def _decode(data: bytes, at: Place) -> Any:
    if len(data) > MAX_BYTES:
        at.fault(f"larger than {MAX_BYTES >> 20} MiB")
        return None
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_pairs,
            parse_constant=_NoNumber,
            parse_float=_number,
            parse_int=_whole,
        )
    except UnicodeDecodeError as error:
        at.fault(f"not UTF-8 at byte {error.start}")
    except json.JSONDecodeError as error:
        at.fault(f"not JSON: {error.msg} (line {error.lineno}, column {error.colno})")
    except RecursionError:
        at.fault("nested too deeply")
    return None


def _pairs(pairs: list[tuple[str, Any]]) -> _Map:
    found = _Map(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        found.twice = tuple(key for key, count in counts.items() if count > 1)
    return found


def _number(text: str) -> float | _NoNumber:
    value = float(text)
    return value if math.isfinite(value) else _NoNumber(text)


def _whole(text: str) -> int | _NoNumber:
    try:
        return int(text)
    except ValueError:  # thousands of digits
        return _NoNumber(text)


def _walk(value: Any, at: Place) -> None:
    """Note what is wrong inside; from an explicit stack, as the depth is the document's."""
    stack = [(value, at)]
    while stack:
        node, place = stack.pop()
        if isinstance(node, _Map):
            for key in node.twice:
                place.key(key).fault("this key is given twice")
            for key, member in node.items():
                _check_text(key, place)
                stack.append((member, place.key(key)))
        elif isinstance(node, list):
            stack += [(member, place.item(number)) for number, member in enumerate(node)]
        elif isinstance(node, _NoNumber):
            text = node.text if len(node.text) <= 30 else f"{node.text[:27]}..."
            place.fault(f"{text} is not a finite number")
        elif isinstance(node, str):
            _check_text(node, place)


def _check_text(text: str, at: Place) -> None:
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        at.fault(f"{text!a} has an unpaired surrogate")
