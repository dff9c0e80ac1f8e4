"""Numbers in attributes, in the grammar of XML Schema's double, finite ones only."""

from __future__ import annotations

import math
import re

__all__ = ["parse_number", "parse_vector"]

# [0-9], not \d: Python would take the digits of every script.
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPACE = " \t\r\n"
_BLANKS = re.compile("[ \t\r\n]+")


def parse_number(text: str) -> float:
    """Return the one number that ``text`` holds.

    Raises:
        ValueError: with a message to show.
    """
    token = text.strip(_SPACE)
    if not token:
        raise ValueError("a number is missing")
    if "${" in token or "$(" in token:
        raise ValueError(
            f"{_short(token)} is an unexpanded xacro expression: expand the file with xacro first"
        )
    if _DOUBLE.fullmatch(token) is None:
        hint = ": numbers have a decimal point, and spaces between them, no commas"
        raise ValueError(f"{_short(token)} is not a finite number{hint if ',' in token else ''}")
    value = float(token)
    if not math.isfinite(value):
        raise ValueError(f"{_short(token)} is too large for a double")
    return value


def parse_vector(text: str, size: int) -> tuple[float, ...]:
    """Return the ``size`` numbers that ``text`` holds, separated by white space.

    Raises:
        ValueError: with a message to show.
    """
    if "${" in text or "$(" in text:  # an expression may hold spaces
        parse_number(text)
    values = tuple(parse_number(token) for token in _BLANKS.split(text) if token)
    if len(values) != size:
        raise ValueError(f"{_short(text)} has {len(values)} numbers where {size} are needed")
    return values


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
