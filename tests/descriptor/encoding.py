"""The encoding of schema 1 a second time, from its description alone: text, no json module."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

_SHORT = {0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0C: "\\f", 0x0D: "\\r"}


def identity(descriptor: dict[str, Any]) -> str:
    rest = {k: v for k, v in descriptor.items() if k != "descriptor_id"}
    return hashlib.sha256(encode(rest).encode("utf-8")).hexdigest()


def encode(value: Any) -> str:
    kind = type(value)
    if value is None:
        return '["null"]'
    if kind is bool:
        return f'["bool",{"true" if value else "false"}]'
    if kind is int:
        return f'["int","{value:d}"]'
    if kind is float:
        bits = struct.unpack(">Q", struct.pack(">d", value))[0]
        return f'["f64","{0 if bits == 1 << 63 else bits:016x}"]'
    if kind is str:
        return f'["str",{quote(value)}]'
    if kind is list:
        return f'["list",[{",".join(map(encode, value))}]]'
    assert kind is dict
    keys = sorted(value, key=lambda key: [ord(c) for c in key])
    pairs = ",".join(f"[{quote(key)},{encode(value[key])}]" for key in keys)
    return f'["map",[{pairs}]]'


def quote(text: str) -> str:
    return '"' + "".join(map(_character, text)) + '"'


def _character(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if ord(c) >= 0x20:
        return c
    return _SHORT.get(ord(c), f"\\u{ord(c):04x}")
