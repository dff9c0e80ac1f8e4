"""What a call's short way works out once: from the shape of its first array, and its variant."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_backend_cuda.launch import Launcher
    from grid_core.operation_call import OperationCall

__all__ = ["Plan", "Planned", "Way", "finite"]

_MOST_PLANS = 256
"""Batches that are remembered; one more, and all are worked out anew."""


@frozen
class Way:
    """What follows from the optional inputs that are given."""

    launcher: Launcher
    blocks: int
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


@frozen
class Plan:
    """What follows from the shape of a call's first array."""

    batch: int
    others: tuple[tuple[tuple[int, ...], int], ...]
    """Shape of every array after the first, and what it adds to the variant."""
    results: tuple[tuple[tuple[int, ...], int], ...]
    """Shape of every result, and its bytes."""
    ways: dict[int, Way] = field(factory=dict)
    """By variant."""


class Planned:
    """One operation on one device, for arrays of the handle's dtype."""

    def __init__(self, call: OperationCall, device: int) -> None:
        self._call = call
        self._device = device
        arrays = [slot for slot in call.slots if slot.port is not None]
        self._bits = tuple(slot.bit for slot in arrays)
        self._first_bit = self._bits[0] if arrays else 0
        self._dims = [slot.port.dims for slot in arrays if slot.port is not None]
        self._most = len(arrays)
        self._numbers = call.numbers
        self._plans: dict[Any, Plan] = {}

    def _plan(self, shape: Sequence[int]) -> Plan | None:
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
        plan = Plan(
            batch=batch,
            others=tuple(((*lead, *dims), bit) for dims, bit in others),
            results=tuple(((*lead, *dims), self._bytes(batch, dims)) for dims in results),
        )
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        self._plans[shape] = plan
        return plan

    def _way(self, plan: Plan, variant: int) -> Way:
        """Remember how a variant is launched; it is compiled at its first use."""
        kernel: Any = self._call.kernel(variant)
        launcher: Launcher = kernel.launcher
        there = [
            dims
            for dims, bit in zip(self._dims, self._bits, strict=True)
            if not bit or bit & variant
        ]
        sizes = tuple(self._bytes(plan.batch, dims) for dims in there)
        way = plan.ways[variant] = Way(launcher, launcher.blocks(plan.batch), sizes)
        return way

    def _bytes(self, batch: int, dims: Sequence[int]) -> int:
        return batch * math.prod(dims) * (4 if self._call.dtype_name == "float32" else 8)


def finite(numbers: Sequence[Any]) -> bool:
    """Whether all are plain floats and finite: others differ from themselves, taken from them."""
    return all(type(number) is float and number - number == 0.0 for number in numbers)
