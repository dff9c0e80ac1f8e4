"""The short way of a call with NumPy arrays that are already right.

A call for a thousand problems lasts ten microseconds, of which a close look at its arguments takes
most. This looks at each array once and runs the code. Anything out of the ordinary, errors
included, and what several threads or several steps do, is left to the long way.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from grid_backend_cpu.addresses import address_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grid_backend_cpu.kernel import CpuKernel
    from grid_core.operation_call import OperationCall

__all__ = ["HostExpress"]

_MOST_PLANS = 256
"""Batches that are remembered; one more, and all are worked out anew."""
_SEVERAL = (list, tuple)


@frozen
class _Plan:
    """What follows from the shape of a call's first array."""

    batch: int
    others: tuple[tuple[tuple[int, ...], int], ...]
    """Shape of every array after the first, and what it adds to the variant."""
    results: tuple[tuple[int, ...], ...]
    """Shape of every result."""
    first: int
    """Bytes of the first array."""
    ways: dict[int, Callable[..., None]] = field(factory=dict)
    """What runs the code, by variant."""


class HostExpress:
    """One operation, for arrays of exactly NumPy's own type and the handle's dtype.

    Args:
        call: the operation.
    """

    def __init__(self, call: OperationCall) -> None:
        self._call = call
        self._dtype = np.dtype(call.dtype_name)
        arrays = [slot for slot in call.slots if slot.port is not None]
        self._dims = [slot.port.dims for slot in arrays if slot.port is not None]
        self._bits = [slot.bit for slot in arrays]
        self._first_bit = self._bits[0] if arrays else 0
        self._most = len(arrays)
        self._numbers = call.numbers
        self._plans: dict[tuple[int, ...], _Plan | None] = {}
        self._one = len(call.outputs) == 1

    def __call__(self, arrays: Sequence[Any], numbers: Sequence[Any], out: Any) -> Any:
        """Return the results, or NotImplemented where the long way is needed.

        Args:
            arrays: the call's, one of NumPy first; the last ones may be left out.
            numbers: all of the call's.
            out: the call's.
        """
        dtype, first = self._dtype, arrays[0]
        shape = first.shape
        plan = self._plans.get(shape) or self._plan(shape)
        if (
            plan is None
            or first.dtype is not dtype
            or not first.flags.c_contiguous
            or len(arrays) > self._most
            or (numbers is not self._numbers and not _finite(numbers))
        ):
            return NotImplemented
        begin = address_of(first)
        taken, ends = [begin], [begin + plan.first]
        variant = self._first_bit
        if plan.others:
            variant = self._take(arrays, plan, taken, ends)
        run = plan.ways.get(variant) or self._way(plan, variant)
        if run is None:
            return NotImplemented
        if out is None:
            results: Sequence[Any] = [np.empty(shape, dtype) for shape in plan.results]
            written = [address_of(result) for result in results]
        else:
            results = (out,) if self._one else out
            written = self._given(results, plan, taken, ends)
            if not written:
                return NotImplemented
        run(*taken, *numbers, *written)
        return results[0] if self._one else self._call.wrap(results)

    def _take(self, arrays: Sequence[Any], plan: _Plan, taken: list[int], ends: list[int]) -> int:
        """Add where the other arrays lie; return the variant, -1 where one is not right."""
        variant, left = self._first_bit, iter(arrays)
        next(left)
        for shape, bit in plan.others:
            value: Any = next(left, None)
            if value is None and bit:
                continue
            if (
                type(value) is not np.ndarray
                or value.dtype is not self._dtype
                or value.shape != shape
                or not value.flags.c_contiguous
            ):
                return -1
            begin = address_of(value)
            taken.append(begin)
            ends.append(begin + value.nbytes)
            variant |= bit
        return variant

    def _given(
        self, results: Any, plan: _Plan, taken: Sequence[int], ends: Sequence[int]
    ) -> list[int]:
        """Return where the caller's results lie, if they are right and overlap nothing, else []."""
        written: list[int] = []
        if not isinstance(results, _SEVERAL) or len(results) != len(plan.results):
            return written
        for result, shape in zip(results, plan.results, strict=True):
            if (
                type(result) is not np.ndarray
                or result.shape != shape
                or result.dtype is not self._dtype
                or not result.flags.carray
            ):
                return []
            begin = address_of(result)
            end = begin + result.nbytes
            for other, stop in zip(taken, ends, strict=True):
                if begin < stop and other < end:
                    return []
            written.append(begin)
            if not self._one:
                taken, ends = [*taken, begin], [*ends, end]
        return written

    def _plan(self, shape: tuple[int, ...]) -> _Plan | None:
        """Remember what follows from the first array's shape; None where there is nothing to do.

        That is one problem of arrays, or a batch that is not empty.
        """
        results = [port.dims for port in self._call.outputs]
        one = shape == self._dims[0] and all(results)
        batch = 1 if one else shape[0] if shape else 0
        lead = () if one else (batch,)
        if not batch or shape != (*lead, *self._dims[0]):
            return None
        others = list(zip(self._dims, self._bits, strict=True))[1:]
        plan = _Plan(
            batch=batch,
            others=tuple(((*lead, *dims), bit) for dims, bit in others),
            results=tuple((*lead, *dims) for dims in results),
            first=math.prod(shape) * self._dtype.itemsize,
        )
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        self._plans[shape] = plan
        return plan

    def _way(self, plan: _Plan, variant: int) -> Callable[..., None] | None:
        """Remember how a variant is run; it is compiled at its first use. None for -1."""
        if variant < 0:
            return None
        kernel: CpuKernel = self._call.kernel(variant)  # type: ignore[assignment]
        run = kernel.at_once(plan.batch)
        if run is not None:
            plan.ways[variant] = run
        return run


def _finite(numbers: Sequence[Any]) -> bool:
    """Whether all are plain floats and finite: others differ from themselves, taken from them."""
    return all(type(number) is float and number - number == 0.0 for number in numbers)
