"""A build of an operation: machine code, and what a launch must know; no compiler is imported."""

from __future__ import annotations

import json
from typing import Any

from attrs import asdict, frozen

__all__ = ["Build"]


@frozen
class Build:
    """Machine code, and what a launch must know."""

    kernel: str
    arch: str
    dtype: str
    inputs: tuple[str, ...]
    """Batched and uniform inputs in argument order."""
    uniform: tuple[str, ...]
    outputs: tuple[str, ...]
    threads: int
    """Threads of a block."""
    shared_bytes: int
    """Dynamic shared memory of a block."""
    problems: int
    """Problems a block works on at a time."""
    waves: int
    """Blocks for each resident one; 0: as many as the batch needs."""
    parts: int
    """Warps that share one problem; 1: one problem a thread."""
    registers: int
    spill_bytes: int
    stack_bytes: int
    static_shared_bytes: int
    operations: int
    fused: int
    live: int
    code: bytes

    def pack(self) -> bytes:
        """A line of JSON, then the code."""
        head = asdict(self)
        code = head.pop("code")
        return json.dumps(head).encode() + b"\n" + bytes(code)

    @classmethod
    def unpack(cls, payload: bytes) -> Build:
        """Read what `pack` wrote."""
        head, _, code = payload.partition(b"\n")
        fields: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in json.loads(head).items()
        }
        return cls(**fields, code=code)
