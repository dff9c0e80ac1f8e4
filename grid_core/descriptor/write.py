"""Write a descriptor as JSON that people can read: one line a row of a matrix."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["to_json"]

# JSON escapes line ends inside strings, so this meets lists of numbers only.
_NUMBERS = re.compile(r"\[\n([^\[\]{}\"]*)\n *\]")


def to_json(descriptor: Mapping[str, Any]) -> str:
    """Return the descriptor as indented JSON, without a line end at the end."""
    text = json.dumps(descriptor, indent=2, ensure_ascii=False, allow_nan=False)
    return _NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text)
