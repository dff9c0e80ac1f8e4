"""Fetching the memory that a tile's results go to, while they are computed.

A store to a line that is not in the nearest cache waits for it. A tile's rows are written all at
once, in an order that no processor foresees and with nothing beside them to hide the wait. So
their lines are asked for before, evenly among the arithmetic: once a batch's results leave the
second-level cache, wide ones come two to three times as fast. Asking for the next tile's instead
was no better, and two tiles of a mass matrix crowd the nearest cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grid_backend_cpu.vector import Emitter

__all__ = ["Ahead"]

LINE = 64
"""Bytes of a cache line."""
SHARE = 0.85
"""Part of the arithmetic after which all is asked for; the last lines need time to come, too."""


class Ahead:
    """Lines of a tile's results, asked for one after the other as the work goes on."""

    def __init__(self, e: Emitter, sizes: Iterable[int], steps: int) -> None:
        """Plan.

        Args:
            e: where to emit.
            sizes: scalars in a row of each output.
            steps: instructions among which to spread the requests.
        """
        self._e = e
        self._lines = [
            (port, at)
            for port, size in enumerate(sizes)
            for at in range(0, size * e.lanes.bytes, LINE)
        ]
        self._steps = max(1, int(SHARE * steps))
        self._step = self._asked = 0

    def step(self, pointers: Sequence[str], steps: int = 1) -> None:
        """Ask for what is due one instruction later, of a tile's rows at each pointer."""
        self._step += steps
        count = min(len(self._lines), len(self._lines) * self._step // self._steps)
        e = self._e
        for port, offset in self._lines[self._asked : count]:
            at = e.let(f"getelementptr i8, ptr {pointers[port]}, i64 {offset}")
            # To write, into the nearest cache. Beyond the last row it asks for nothing.
            e.do(f"call void @llvm.prefetch.p0(ptr {at}, i32 1, i32 3, i32 1)")
        self._asked = max(self._asked, count)
