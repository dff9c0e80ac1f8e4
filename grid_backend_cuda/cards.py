"""What programs are fitted to: the shared memory of a card, by its architecture."""

from __future__ import annotations

__all__ = ["USUAL", "block_bytes", "multiprocessor_bytes"]

USUAL = "sm_90"
"""What is assumed where no card is named."""

_KIBIBYTES = {"sm_80": 164, "sm_87": 164, "sm_90": 228, "sm_100": 228, "sm_103": 228}
_LEAST = 100
_KEPT = 1
"""What the driver keeps of each block's [KiB]."""


def multiprocessor_bytes(arch: str, blocks: int = 1) -> int:
    """Shared memory that so many blocks on a multiprocessor can have together, in bytes."""
    return (_KIBIBYTES.get(arch.rstrip("af"), _LEAST) - _KEPT * blocks) * 1024


def block_bytes(arch: str) -> int:
    """Shared memory that a block may take, in bytes."""
    return multiprocessor_bytes(arch)
