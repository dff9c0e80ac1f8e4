"""The short way of a call with NumPy arrays that are already right.

A call for a thousand problems lasts ten microseconds, of which a close look at its arguments takes
most. This looks at each array once and runs the code. Anything out of the ordinary, errors
included, and what several threads or several steps do, is left to the long way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from grid_backend_cpu.addresses import address_of
from grid_core.short_way import Plan, Planned, Sized, finite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grid_backend_cpu.kernel import CpuKernel
    from grid_core.operation_call import OperationCall

__all__ = ["HostExpress"]

_SEVERAL = (list, tuple)


@frozen
class _Way(Sized):
    """What runs a variant's code."""

    run: Callable[..., None]


class HostExpress(Planned[_Way]):
    """One operation, for arrays of exactly NumPy's own type and the handle's dtype.

    Args:
        call: the operation.
    """

    def __init__(self, call: OperationCall) -> None:
        super().__init__(call)
        self._dtype = np.dtype(call.dtype_name)
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
            or (numbers is not self._numbers and not finite(numbers))
        ):
            return NotImplemented
        taken = [address_of(first)]
        variant = self._first_bit
        if plan.others:
            variant = self._take(arrays, plan, taken)
        way = plan.ways.get(variant) or self._way(plan, variant)
        if way is None:
            return NotImplemented
        if out is None:
            results: Sequence[Any] = [np.empty(shape, dtype) for shape, _ in plan.results]
            written = [address_of(result) for result in results]
        else:
            results = (out,) if self._one else out
            written = self._given(results, plan, way, taken)
            if not written:
                return NotImplemented
        way.run(*taken, *numbers, *written)
        return results[0] if self._one else self._call.wrap(results)

    def _take(self, arrays: Sequence[Any], plan: Plan[_Way], taken: list[int]) -> int:
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
            taken.append(address_of(value))
            variant |= bit
        return variant

    def _given(self, results: Any, plan: Plan[_Way], way: _Way, taken: Sequence[int]) -> list[int]:
        """Return where the caller's results lie, if they are right and overlap nothing, else []."""
        if not isinstance(results, _SEVERAL) or len(results) != len(plan.results):
            return []
        there = []
        for result, (shape, size) in zip(results, plan.results, strict=True):
            if (
                type(result) is not np.ndarray
                or result.shape != shape
                or result.dtype is not self._dtype
                or not result.flags.carray
            ):
                return []
            there.append((address_of(result), size))
        return [begin for begin, _ in there] if way.apart(taken, there) else []

    def _way(self, plan: Plan[_Way], variant: int) -> _Way | None:
        """Remember how a variant is run; it is compiled at its first use. None for -1."""
        if variant < 0:
            return None
        kernel: CpuKernel = self._call.kernel(variant)  # type: ignore[assignment]
        run = kernel.at_once(plan.batch)
        if run is None:
            return None
        way = plan.ways[variant] = _Way(self._sizes(plan, variant), run)
        return way
