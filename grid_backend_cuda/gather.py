"""Long rows of several warps: each distinct value once in shared memory, then whole lines.

Most entries of a long row are alike: structural zeros, and values that stand in it twice. What is
distinct fits shared memory where the row does not. A table says for each entry of a row where
its value lies, and all warps of a block write the rows, in their order in device memory, so that
every line of it is written once and by one instruction. Where even that does not fit, a tile has
fewer problems than a warp has lanes, which compute them several times: what counts is what is
written.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from attrs import frozen

from grid_backend_cuda.staged import WARP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grid_backend_cuda.split import Split

__all__ = ["Gathered", "gather", "rows_at_a_time"]

_LEAST = 8
_LINE = 128
"""Bytes that one instruction of a warp writes at best."""
_ENTRIES = 1 << 16
"""Places that an entry of a table, of 16 bits, can name."""
_PER_VECTOR = 8
"""Entries of a table, of 16 bits each, that are copied at once."""


@frozen
class Gathered:
    """Where the entries of long rows lie."""

    known: Mapping[int, int]
    """Slots of inputs and constants, after those of the split."""
    num_slots: int
    """Slots of all that lies in shared memory, handed over or gathered."""
    tables: Mapping[int, tuple[int, ...]]
    """Of each output port, by its index, the slot of every entry of a row."""
    problems: int = WARP
    """Problems of a tile, of which a warp has a lane or several for each."""
    near: bool = True
    """Whether tables are copied into shared memory, and not read where the module has them."""

    @property
    def pitch(self) -> int:
        """Scalars from a value of a tile's problems to the next.

        Neither lanes that put a value down for a problem each nor lanes that take values of one
        problem meet in a bank.
        """
        return self.problems + 1

    @property
    def named(self) -> bool:
        """Whether entries can name all slots."""
        return self.num_slots * self.pitch <= _ENTRIES

    @property
    def starts(self) -> dict[int, int]:
        """First entry of each port's table, where they lie one after the other."""
        found, start = {}, 0
        for index, table in self.tables.items():
            found[index] = start
            start += len(table) + -len(table) % _PER_VECTOR
        return found

    @property
    def entries(self) -> list[int]:
        """All tables, each begun where a vector begins: scalars from the first slot on."""
        found: list[int] = []
        for table in self.tables.values():
            found += [slot * self.pitch for slot in table] + [0] * (-len(table) % _PER_VECTOR)
        return found


def gather(split: Split, base: int, rows: Mapping[int, Sequence[int]]) -> Gathered:
    """Say where each entry of long rows lies.

    Args:
        split: who computes what; it keeps the rows' values.
        base: number of the program's first instruction; inputs and constants come before.
        rows: of each output port, by its index, the values of a row.
    """
    flow = split.flow
    known: dict[int, int] = {}

    def slot(value: int) -> int:
        if value < base:
            return known.setdefault(value, split.num_slots + len(known))
        node, place = flow.of[value - base]
        return split.slots[node] + place

    tables = {index: tuple(map(slot, values)) for index, values in rows.items()}
    return Gathered(known, split.num_slots + len(known), tables)


def rows_at_a_time(width: int, real_bytes: int, most: int = WARP) -> int:
    """Rows that begin and end with whole lines together; not fewer than what is worth a look-up."""
    scalars = _LINE // real_bytes
    return max(_LEAST, min(most, scalars // math.gcd(width, scalars)))
