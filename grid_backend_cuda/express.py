"""The short way of a call with PyTorch's or CuPy's arrays that are already right.

An eager call has microseconds; this looks at each array once and launches. Anything out of the
ordinary, errors included, is left to `grid_backend_cuda.edge`, which looks closely.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from grid_backend_cuda.driver import use
from grid_backend_cuda.launch import ALIGNMENT
from grid_backend_cuda.plans import DevicePlanned
from grid_core.short_way import finite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grid_backend_cuda.plans import Way
    from grid_core.operation_call import OperationCall
    from grid_core.short_way import Plan

__all__ = ["CupyExpress", "TorchExpress"]

_SEVERAL = (list, tuple)


class TorchExpress(DevicePlanned):
    """One operation on one device, for tensors of exactly PyTorch's own type.

    Args:
        call: the operation.
        device: the handle's.
        stream: returns PyTorch's current stream on a device.
    """

    def __init__(self, call: OperationCall, device: int, stream: Callable[[int], int]) -> None:
        super().__init__(call, device)
        torch = sys.modules["torch"]
        self._stream = stream
        self._tensor = torch.Tensor
        self._dtype = getattr(torch, call.dtype_name)
        # With one GPU there is nothing to ask: a launch fails where a thread has no context yet.
        self._current = torch.cuda.current_device if torch.cuda.device_count() > 1 else None

    def __call__(self, arrays: Sequence[Any], numbers: Sequence[Any], out: Any) -> Any:
        """Return the results, or NotImplemented where the long way is needed.

        Args:
            arrays: the call's, a tensor first; the last ones may be left out.
            numbers: all of the call's.
            out: the call's.
        """
        tensor, dtype, device = self._tensor, self._dtype, self._device
        left = iter(arrays)
        first = next(left)
        shape = first.shape
        plan = self._plans.get(shape) or self._plan(shape)
        if (
            plan is None
            or first.dtype is not dtype
            or first.get_device() != device
            or not first.is_contiguous()
            or len(arrays) > self._most
            or (numbers is not self._numbers and not finite(numbers))
        ):
            return NotImplemented
        merged = first.data_ptr()
        taken = [merged]
        variant = self._first_bit
        for shape, bit in plan.others:
            value: Any = next(left, None)
            if value is None and bit:
                continue
            if (
                type(value) is not tensor
                or value.dtype is not dtype
                or value.get_device() != device
                or value.shape != shape
                or not value.is_contiguous()
            ):
                return NotImplemented
            pointer = value.data_ptr()
            taken.append(pointer)
            merged |= pointer
            variant |= bit
        way = plan.ways.get(variant) or self._way(plan, variant)
        if out is not None:
            results = self._given(out, plan, way, taken)
            if results is None:
                return NotImplemented
        else:
            results = []
            for shape, _ in plan.results:
                # Sizes one by one: as a tuple they take PyTorch half a microsecond longer.
                results.append(first.new_empty(*shape))
        taken += numbers
        for result in results:
            pointer = result.data_ptr()
            taken.append(pointer)
            merged |= pointer
        launch, stream = way.launcher.fire, self._stream(device)
        aligned = not merged % ALIGNMENT
        if self._current is None or self._current() == device:
            launch(plan.batch, way.blocks, aligned, taken, stream)
        else:
            with use(way.launcher.card):
                launch(plan.batch, way.blocks, aligned, taken, stream)
        return results[0] if len(results) == 1 else self._call.wrap(results)

    def _given(
        self, out: Any, plan: Plan[Way], way: Way, pointers: Sequence[int]
    ) -> Sequence[Any] | None:
        """Return the caller's tensors for results, if they are right and apart from the inputs."""
        tensor, dtype, device = self._tensor, self._dtype, self._device
        results = [out] if type(out) is tensor else out
        if not isinstance(results, _SEVERAL) or len(results) != len(plan.results):
            return None
        there = []
        for result, (shape, size) in zip(results, plan.results, strict=True):
            if (
                type(result) is not tensor
                or result.dtype is not dtype
                or result.get_device() != device
                or result.shape != shape
                or not result.is_contiguous()
            ):
                return None
            there.append((result.data_ptr(), size))
        return results if way.apart(pointers, there) else None


class CupyExpress(DevicePlanned):
    """One operation on one device, for arrays of exactly CuPy's own type.

    Args:
        call: the operation.
        device: the handle's.
        stream: returns CuPy's current stream on a device.
    """

    def __init__(self, call: OperationCall, device: int, stream: Callable[[int], int]) -> None:
        super().__init__(call, device)
        cupy = sys.modules["cupy"]
        self._stream = stream
        self._array = cupy.ndarray
        self._dtype = sys.modules["numpy"].dtype(call.dtype_name)
        self._current = cupy.cuda.runtime.getDevice

    def __call__(self, arrays: Sequence[Any], numbers: Sequence[Any], out: Any) -> Any:
        """Return the results, or NotImplemented where the long way is needed.

        Args:
            arrays: the call's, an array of CuPy first; the last ones may be left out.
            numbers: all of the call's.
            out: the call's.
        """
        left = iter(arrays)
        shape = next(left).shape
        plan = self._plans.get(shape) or self._plan(shape)
        if (
            plan is None
            or len(arrays) > self._most
            # CuPy makes arrays on the current device.
            or self._current() != self._device
            or (numbers is not self._numbers and not finite(numbers))
        ):
            return NotImplemented
        taken = [self._pointer(arrays[0], shape)]
        variant = self._first_bit
        for shape, bit in plan.others:
            value: Any = next(left, None)
            if value is None and bit:
                continue
            taken.append(self._pointer(value, shape))
            variant |= bit
        if 0 in taken:
            return NotImplemented
        way = plan.ways.get(variant) or self._way(plan, variant)
        if out is None:
            results = [self._array(shape, self._dtype) for shape, _ in plan.results]
            written = [int(result.data.ptr) for result in results]
        else:
            results = [out] if type(out) is self._array else out
            if not isinstance(results, _SEVERAL) or len(results) != len(plan.results):
                return NotImplemented
            given = list(zip(results, plan.results, strict=True))
            written = [self._pointer(result, shape) for result, (shape, _) in given]
            there = [(at, size) for at, (_, (_, size)) in zip(written, given, strict=True)]
            if 0 in written or not way.apart(taken, there):
                return NotImplemented
        merged = 0
        for pointer in (*taken, *written):
            merged |= pointer
        values, stream = [*taken, *numbers, *written], self._stream(self._device)
        way.launcher.fire(plan.batch, way.blocks, not merged % ALIGNMENT, values, stream)
        return results[0] if len(results) == 1 else self._call.wrap(results)

    def _pointer(self, value: Any, shape: tuple[int, ...]) -> int:
        """Return where an array lies that is as it should be; 0 for any other."""
        if (
            type(value) is not self._array
            or value.dtype != self._dtype
            or value.shape != shape
            or not value.flags.c_contiguous
        ):
            return 0
        data = value.data
        return int(data.ptr) if data.device_id == self._device else 0
