"""Text of a document → text safe to give to an XML parser, and the line of every element.

One pass over the markup, linear in its length. It refuses document types and entities before
anything could expand them, blanks XML declarations (whatever their version) and comments that
strict XML dislikes (``<!-- a -- b -->``), and notes where each element starts: parsers report
the line where a tag ends.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from grid_core.model.urdf.report import Report

__all__ = ["Scanned", "scan"]

_MARKUP = re.compile(r"<(!--|!\[CDATA\[|\?|!|/)?")
_ENDS = {"!--": "-->", "![CDATA[": "]]>", "?": "?>"}
_DECLARATION = re.compile(r"<\?xml[\s?]", re.IGNORECASE)
_LINE_CHARACTERS = re.compile(r"[^\n]")


@frozen
class Scanned:
    """A document that holds no document type."""

    text: str
    lines: list[int]
    """Line of each element's start tag, in document order, counted from 1."""


def scan(text: str, report: Report) -> Scanned:
    """Look at every piece of markup once.

    Raises:
        ModelError: a document type, an entity declaration, or markup that is never closed.
    """
    pieces: list[str] = []
    lines: list[int] = []
    line, counted, copied, position = 1, 0, 0, 0
    while (found := _MARKUP.search(text, position)) is not None:
        start, opening = found.start(), found[1]
        line += text.count("\n", counted, start)
        counted = start
        position = found.end()
        if opening is None:
            lines.append(line)
        elif opening == "!":
            _refuse(text, start, line, report)
        elif opening != "/":
            end = text.find(_ENDS[opening], position)
            if end < 0:
                raise report.error(f"not well-formed XML: <{opening} is never closed", line=line)
            position = end + len(_ENDS[opening])
            if _blanked(opening, text, start, position, prolog=not lines):
                pieces += text[copied:start], _LINE_CHARACTERS.sub(" ", text[start:position])
                copied = position
    pieces.append(text[copied:])
    return Scanned("".join(pieces).lstrip(" "), lines)


def _blanked(opening: str, text: str, start: int, end: int, *, prolog: bool) -> bool:
    if opening == "!--":
        return "--" in text[start + 4 : end - 3] or text[end - 4] == "-"
    return prolog and _DECLARATION.match(text, start) is not None


def _refuse(text: str, start: int, line: int, report: Report) -> None:
    word = text[start + 2 : start + 12].upper()
    if word.startswith("DOCTYPE"):
        what = "DOCTYPE"
    elif word.startswith("ENTITY"):
        what = "ENTITY"
    else:
        return  # malformed: left to the parser
    raise report.error(
        f"<!{what}> found: a document type or entity declaration is refused unread"
        " (it can expand without bound, or open other files); remove it",
        line=line,
    )
