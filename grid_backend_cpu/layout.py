"""What compiled code and its callers agree on.

    void grid_kernel(i64 begin, i64 end, ptr scratch, ptr in..., T uniform..., ptr out...)

``scratch``: addresses of the C library's sin, cos and atan2, then one tile of every batched port,
then what one part of the program leaves to another.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from attrs import asdict, field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grid_backend_cpu.vector import Lanes
    from grid_core.program.program import Program

__all__ = ["KERNEL", "SCRATCH_HEADER", "Layout"]

KERNEL = "grid_kernel"
SCRATCH_HEADER = 64
"""Bytes before the scratch scalars."""


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(names)


@frozen
class Layout:
    """What a caller must know of a kernel beside its code: its ports and its cost."""

    inputs: tuple[str, ...] = field(converter=_names)
    """Names of batched inputs, in argument order."""
    uniform: tuple[str, ...] = field(converter=_names)
    """Names of uniform inputs."""
    outputs: tuple[str, ...] = field(converter=_names)
    """Names of outputs."""
    scratch: int
    """Bytes of the scratch block."""
    kept: int
    """Bytes at its end that one part of the program leaves to another."""
    work: int
    """Instructions for one problem."""

    @classmethod
    def of(cls, program: Program, lanes: Lanes) -> Layout:
        """Lay out a program."""
        # Only who compiles needs it.
        from grid_backend_cpu.parts import Parts, tiles  # noqa: PLC0415

        batched = [p for p in (*program.inputs, *program.outputs) if not p.uniform]
        parts = Parts.of(program)
        kept = tiles(program, parts, lanes) * parts.count * lanes.bytes
        return cls(
            inputs=tuple(p.name for p in program.inputs if not p.uniform),
            uniform=tuple(p.name for p in program.inputs if p.uniform),
            outputs=tuple(p.name for p in program.outputs),
            scratch=SCRATCH_HEADER + lanes.bytes * sum(p.size for p in batched) + kept,
            kept=kept,
            work=len(program.instructions),
        )

    def pack(self, code: bytes) -> bytes:
        """Return itself as a line of JSON, then the code."""
        return json.dumps(asdict(self)).encode() + b"\n" + code

    @classmethod
    def unpack(cls, payload: bytes) -> tuple[Layout, bytes]:
        """Read what `pack` wrote."""
        head, _, code = payload.partition(b"\n")
        return cls(**json.loads(head)), code
