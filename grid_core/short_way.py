"""What a backend's short way of a call works out once, for a shape and a variant.

Backends take arrays of their kind the short way where all are as they should be, and leave all
else to the call itself; what that takes of shapes and numbers is the same for all of them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.operation_call import OperationCall

__all__ = ["Plan", "Planned", "Sized", "finite"]

_MOST_PLANS = 256
"""Batches that are remembered; one more, and all are worked out anew."""


@frozen
class Sized:
    """What follows from the optional inputs that are given; a backend adds how it then runs."""

    sizes: tuple[int, ...]
    """Bytes of every array that is given."""

    def apart(self, pointers: Sequence[int], results: Sequence[tuple[int, int]]) -> bool:
        """Whether results, where each begins and its bytes, overlap no input and one another."""
        taken, sizes = list(pointers), list(self.sizes)
        for begin, size in results:
            end = begin + size
            for k, other in enumerate(taken):
                if begin < other + sizes[k] and other < end:
                    return False
            taken.append(begin)
            sizes.append(size)
        return True


W = TypeVar("W", bound=Sized)


@frozen
class Plan(Generic[W]):
    """What follows from the shape of a call's first array."""

    batch: int
    others: tuple[tuple[tuple[int, ...], int], ...]
    """Shape of every array after the first, and what it adds to the variant."""
    results: tuple[tuple[tuple[int, ...], int], ...]
    """Shape of every result, and its bytes."""
    ways: dict[int, W] = field(factory=dict)
    """By variant."""


class Planned(Generic[W]):
    """One operation, for arrays of the handle's dtype."""

    def __init__(self, call: OperationCall) -> None:
        self._call = call
        arrays = [slot for slot in call.slots if slot.port is not None]
        self._bits = tuple(slot.bit for slot in arrays)
        self._first_bit = self._bits[0] if arrays else 0
        self._dims = [slot.port.dims for slot in arrays if slot.port is not None]
        self._most = len(arrays)
        self._numbers = call.numbers
        self._plans: dict[Any, Plan[W]] = {}

    def _plan(self, shape: Sequence[int]) -> Plan[W] | None:
        """Remember what follows from the first array's shape; None where there is nothing to do.

        That is one problem of arrays, or a batch that is not empty.
        """
        results = [port.dims for port in self._call.outputs]
        one = tuple(shape) == self._dims[0] and all(results)
        batch = 1 if one else int(shape[0]) if shape else 0
        lead = () if one else (batch,)
        if not batch or tuple(shape) != (*lead, *self._dims[0]):
            return None
        others = list(zip(self._dims, self._bits, strict=True))[1:]
        plan: Plan[W] = Plan(
            batch=batch,
            others=tuple(((*lead, *dims), bit) for dims, bit in others),
            results=tuple(((*lead, *dims), self._bytes(batch, dims)) for dims in results),
        )
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        self._plans[shape] = plan
        return plan

    def _sizes(self, plan: Plan[W], variant: int) -> tuple[int, ...]:
        """Return the bytes of every array that a variant is given."""
        return tuple(
            self._bytes(plan.batch, dims)
            for dims, bit in zip(self._dims, self._bits, strict=True)
            if not bit or bit & variant
        )

    def _bytes(self, batch: int, dims: Sequence[int]) -> int:
        return batch * math.prod(dims) * (4 if self._call.dtype_name == "float32" else 8)


def finite(numbers: Sequence[Any]) -> bool:
    """Whether all are plain floats and finite: others differ from themselves, taken from them."""
    return all(type(number) is float and number - number == 0.0 for number in numbers)
