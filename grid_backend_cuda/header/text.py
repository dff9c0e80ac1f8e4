"""Names, strings and numbers as C++ writes them."""

from __future__ import annotations

import re

from grid_core.cpp import CPP_KEYWORDS

__all__ = ["comment", "identifier", "number", "quoted"]

_GENERATED = re.compile(
    r"[xt]\d+|a\d+_\w+|[hds]_\w+|T|real|data|stream|lane|first|rows|num_timesteps"
    r"|stride_q_qd_u|model|detail|zeroed|error|check|\w*gridData|GRID_\w*|NUM_\w*|Q_QD_U_STRIDE"
)
"""Names that the header uses itself."""
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "?": "\\?"}


def identifier(name: str) -> str:
    """Return a name that C++ allows for a Python one, and that the generated code leaves free."""
    text = "".join(c if c.isascii() else f"_u{ord(c):x}_" for c in name)
    text = re.sub("__+", "_", text)  # names with two underscores are the compiler's
    taken = text in CPP_KEYWORDS or _GENERATED.fullmatch(text) is not None
    return f"{text}_" if taken else text


def number(value: float) -> str:
    """Return a double with all its digits; no negative zero."""
    return repr(float(value) + 0.0)


def quoted(text: str) -> str:
    """Return a string literal of the text's UTF-8 bytes, for compilers of any source charset.

    Question marks are escaped as they may begin trigraphs; octal escapes end after three digits.
    """
    return f'"{"".join(_character(c) for c in text)}"'


def _character(c: str) -> str:
    if c in _ESCAPES:
        return _ESCAPES[c]
    if " " <= c <= "~":
        return c
    return "".join(f"\\{byte:03o}" for byte in c.encode())


def comment(text: str) -> str:
    """Return what a one-line comment may hold."""
    return "".join(c if c.isprintable() and c != "\\" else "?" for c in text)
