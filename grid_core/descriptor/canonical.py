"""The canonical typed encoding of schema 1, and the identity that is its SHA-256.

Every value becomes a tagged list, so that ``1``, ``1.0``, ``true`` and ``"1"`` never meet:

    null        ["null"]
    bool        ["bool", value]
    integer     ["int", decimal digits]
    float       ["f64", 16 hex digits: IEEE binary64, big-endian; -0.0 counts as 0.0]
    string      ["str", text, spelt as it is]
    list        ["list", [element, ...]]
    map         ["map", [[key, value], ...], keys by Unicode code point]

The tagged tree is written as compact JSON, in UTF-8, without ASCII escapes.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from typing import TYPE_CHECKING, Any

from grid_core.errors import DescriptorError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ID_KEY", "canonical_bytes", "compute_descriptor_id"]

ID_KEY = "descriptor_id"
"""The field that holds the identity, and the only one that it does not cover."""


def compute_descriptor_id(descriptor: Mapping[str, Any]) -> str:
    """Return the identity of a descriptor, 64 hexadecimal digits.

    Covers every field but the top-level ``descriptor_id``, which may be absent.

    Raises:
        DescriptorError: a value that JSON does not have, NaN, infinity or an unpaired surrogate.
    """
    fields = {key: value for key, value in descriptor.items() if key != ID_KEY}
    return hashlib.sha256(canonical_bytes(fields)).hexdigest()


def canonical_bytes(value: Any) -> bytes:
    """Return the canonical encoding of plain JSON data.

    Raises:
        DescriptorError: as for `compute_descriptor_id`.
    """
    tagged = _tag(value)
    return json.dumps(tagged, ensure_ascii=False, separators=(",", ":")).encode()


def _tag(value: Any) -> list[Any]:
    if isinstance(value, list):
        return ["list", [_tag(element) for element in value]]
    if isinstance(value, dict):
        return ["map", [[_key(key), _tag(value[key])] for key in sorted(value, key=_key)]]
    return ["null"] if value is None else _tag_scalar(value)


def _tag_scalar(value: Any) -> list[Any]:
    if isinstance(value, bool):  # before int, of which it is a subclass
        return ["bool", value]
    if isinstance(value, int):
        return ["int", str(int(value))]
    if isinstance(value, float):
        return ["f64", _binary64(value)]
    if isinstance(value, str):
        return ["str", _paired(value)]
    raise DescriptorError(f"{type(value).__name__} is not plain JSON data", invariant="form")


def _binary64(value: float) -> str:
    if not math.isfinite(value):
        raise DescriptorError(f"{value} is not a finite number", invariant="form")
    return struct.pack(">d", value + 0.0).hex()  # -0.0 + 0.0 is 0.0


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise DescriptorError(f"the key {key!r} is not a string", invariant="form")
    return _paired(key)


def _paired(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DescriptorError(
            f"{text!r} has an unpaired surrogate, which UTF-8 does not", invariant="form"
        ) from error
    return text
