"""Phrases that error messages share."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["brief", "listing", "near", "printable"]


def brief(value: object) -> str:
    """Return what a caller gave, on one line: its repr, or its type where that is long."""
    text = repr(value)
    short = len(text) <= 60 and "\n" not in text
    return text if short else f"a value of type {type(value).__name__}"


def printable(text: str, keep: str = "") -> str:
    """Return text with what a terminal would obey or hide written out, as in ``repr``.

    Args:
        text: such as a name from somebody's file.
        keep: characters to leave, such as a newline between lines.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text
    )


def listing(names: Iterable[object], last: str = "and") -> str:
    """Join names as in a sentence: ``a, b and c``; ``none`` when there are none."""
    texts = [str(name) for name in names]
    if len(texts) < 2:
        return texts[0] if texts else "none"
    return f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def near(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the names closest to one, or nothing."""
    folded = {k.casefold(): k for k in known}
    found = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)
    if not found:
        return ""
    return f" (did you mean {listing((repr(folded[f]) for f in found), 'or')}?)"
