"""Wide results: columns that lie in the scratch block, written as rows in a loop.

The loop's code is small, so it comes fast whatever the width. A store to a line that is not in
the nearest cache, or across two, waits for it, so lines are asked for a few rounds before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_backend_cpu.parts import NEAR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_backend_cpu.vector import Emitter

__all__ = ["write_rows"]

AHEAD = 128
"""Bytes before which a row's lines are asked for."""


def write_rows(e: Emitter, tag: str, pointer: str, kept: str, slots: Sequence[int]) -> str:
    """Emit the loop; opens new basic blocks.

    Args:
        e: where to emit.
        tag: what makes its names unique.
        pointer: the tile's first row.
        kept: pointer to the columns.
        slots: place of each column, a vector each; a vector's lanes of them at least.

    Returns:
        The constant that it reads: for each round, an offset into the rows, then into the columns.
    """
    t = e.lanes
    numbers: list[int] = []
    size = len(slots)
    for start in (*range(0, size - t.width, t.width), size - t.width):
        numbers += [start * t.itemsize, *(s * t.bytes for s in slots[start : start + t.width])]
    e.do(f"br label %enter_{tag}")
    e.label(f"enter_{tag}")
    e.do(f"br label %rows_{tag}")
    e.label(f"rows_{tag}")
    e.do(f"%at_{tag} = phi i64 [ 0, %enter_{tag} ], [ %next_{tag}, %rows_{tag} ]")
    e.do(f"%next_{tag} = add i64 %at_{tag}, {t.width + 1}")
    entry = e.let(f"getelementptr i32, ptr @columns{tag}, i64 %at_{tag}")
    rows = _moved(e, pointer, entry, 0)
    columns = [_moved(e, kept, entry, 1 + k) for k in range(t.width)]
    vectors = [e.let(f"load {t.vector}, ptr {column}, align {t.bytes}") for column in columns]
    for start in range(0, t.width, t.piece):
        pieces = e.transpose(vectors[start : start + t.piece])
        e.store_pieces(rows, size, start, pieces, joined=size * t.bytes > NEAR)
    for r in range(t.width):
        at = e.row_pointer(rows, size, r, AHEAD // t.itemsize)
        e.do(f"call void @llvm.prefetch.p0(ptr {at}, i32 1, i32 3, i32 1)")
    more = e.let(f"icmp slt i64 %next_{tag}, {len(numbers)}")
    e.do(f"br i1 {more}, label %rows_{tag}, label %leave_{tag}")
    e.label(f"leave_{tag}")
    table = ", ".join(f"i32 {number}" for number in numbers)
    return f"@columns{tag} = internal constant [{len(numbers)} x i32] [{table}], align 64"


def _moved(e: Emitter, pointer: str, entry: str, k: int) -> str:
    """Move a pointer by the k-th number of an entry of the table."""
    place = e.let(f"getelementptr i32, ptr {entry}, i64 {k}")
    offset = e.let(f"zext i32 {e.let(f'load i32, ptr {place}')} to i64")
    return e.let(f"getelementptr i8, ptr {pointer}, i64 {offset}")
