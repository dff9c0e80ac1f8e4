"""The generated header in an artifact: who writes it, and which model it says that it is of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["HeaderModel", "read_header"]

_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "0": "\0",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}
_RAW = re.compile(r'(?:u8)?R"([^ ()\\\t\v\f\n]{0,16})\(')
_BLANK = re.compile(r"(?:\s|//[^\n]*\n|/\*.*?\*/)*", re.DOTALL)


@frozen
class HeaderModel:
    """What a header says of its model."""

    descriptor_id: str | None
    """None: it does not say, or says it twice."""
    descriptor_json: str | None


def read_header(text: str) -> HeaderModel:
    """Find ``descriptor_id`` and ``descriptor_json`` among a header's definitions."""
    return HeaderModel(_constant(text, "descriptor_id"), _constant(text, "descriptor_json"))


def _constant(text: str, name: str) -> str | None:
    """Return the value of the one string constant of a name."""
    found = re.findall(rf"\b{name}\s*(?:\[\s*\d*\s*\]\s*)?=", text)
    place = re.search(rf"\b{name}\s*(?:\[\s*\d*\s*\]\s*)?=", text)
    if place is None or len(found) != 1:
        return None
    try:
        parts = list(_literals(text, place.end()))
    except (ValueError, IndexError):
        return None
    return "".join(parts) if parts else None


def _literals(text: str, at: int) -> Iterator[str]:
    """Yield the adjacent string literals from a place on."""
    while True:
        blank = _BLANK.match(text, at)
        at = blank.end() if blank else at
        raw = _RAW.match(text, at)
        if raw:
            end = text.index(f'){raw[1]}"', raw.end())
            yield text[raw.end() : end]
            at = end + len(raw[1]) + 2
        elif text.startswith(('"', 'u8"'), at):
            value, at = _plain(text, text.index('"', at) + 1)
            yield value
        else:
            return


def _plain(text: str, at: int) -> tuple[str, int]:
    """Return a literal's value, and where it ends; `at` is behind its first quote."""
    value = bytearray()
    while text[at] != '"':
        if text[at] == "\n":
            raise ValueError("a line ends inside a literal")
        if text[at] != "\\":
            value += text[at].encode()
            at += 1
            continue
        step, at = text[at + 1], at + 2
        if step in "01234567":
            digits = re.compile(r"[0-7]{1,3}").match(text, at - 1)
            assert digits is not None
            value.append(int(digits[0], 8) & 0xFF)
            at = digits.end()
        elif step in "xuU":
            width = {"x": "+", "u": "{4}", "U": "{8}"}[step]
            digits = re.compile(f"[0-9a-fA-F]{width}").match(text, at)
            if digits is None:
                raise ValueError("an escape without digits")
            number = int(digits[0], 16)
            value += bytes([number & 0xFF]) if step == "x" else chr(number).encode()
            at = digits.end()
        else:
            value += _ESCAPES[step].encode() if step in _ESCAPES else step.encode()
    return value.decode(), at + 1
