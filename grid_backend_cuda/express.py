"""The short way of a call with PyTorch tensors that are already right.

An eager call has microseconds; this looks at each tensor once and launches. What follows from
shapes is worked out once for each batch. Anything out of the ordinary, errors included, is left
to `grid_backend_cuda.edge`, which looks closely.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from grid_backend_cuda.driver import use
from grid_backend_cuda.launch import ALIGNMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grid_backend_cuda.launch import Launcher
    from grid_core.operation_call import OperationCall

__all__ = ["TorchExpress"]

_SEVERAL = (list, tuple)
_MOST_PLANS = 256
"""Batches that are remembered; one more, and all are worked out anew."""


@frozen
class _Way:
    """What follows from the optional inputs that are given."""

    launcher: Launcher
    blocks: int
    sizes: tuple[int, ...]
    """Bytes of every array that is given."""


@frozen
class _Plan:
    """What follows from the shape of a call's first array."""

    batch: int
    others: tuple[tuple[tuple[int, ...], int], ...]
    """Shape of every array after the first, and what it adds to the variant."""
    results: tuple[tuple[tuple[int, ...], int], ...]
    """Shape of every result, and its bytes."""
    ways: dict[int, _Way] = field(factory=dict)
    """By variant."""


class TorchExpress:
    """One operation on one device, for batched tensors of the handle's dtype.

    Args:
        call: the operation.
        device: the handle's.
        stream: returns PyTorch's current stream on a device.
    """

    def __init__(self, call: OperationCall, device: int, stream: Callable[[int], int]) -> None:
        torch = sys.modules["torch"]
        self._call = call
        self._device = device
        self._stream = stream
        self._tensor = torch.Tensor
        self._dtype = getattr(torch, call.dtype_name)
        # With one GPU there is nothing to ask: a launch fails where a thread has no context yet.
        self._current = torch.cuda.current_device if torch.cuda.device_count() > 1 else None
        arrays = [slot for slot in call.slots if slot.port is not None]
        self._bits = tuple(slot.bit for slot in arrays)
        self._first_bit = self._bits[0] if arrays else 0
        self._dims = [slot.port.dims for slot in arrays if slot.port is not None]
        self._most = len(arrays)
        self._numbers = call.numbers
        self._plans: dict[Any, _Plan] = {}

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
            or (numbers is not self._numbers and not _finite(numbers))
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
        self, out: Any, plan: _Plan, way: _Way, pointers: Sequence[int]
    ) -> Sequence[Any] | None:
        """Return the caller's tensors for results, if they are right and apart from the inputs."""
        tensor, dtype, device = self._tensor, self._dtype, self._device
        results = [out] if type(out) is tensor else out
        if not isinstance(results, _SEVERAL) or len(results) != len(plan.results):
            return None
        taken, sizes = list(pointers), list(way.sizes)
        for result, (shape, size) in zip(results, plan.results, strict=True):
            if (
                type(result) is not tensor
                or result.dtype is not dtype
                or result.get_device() != device
                or result.shape != shape
                or not result.is_contiguous()
            ):
                return None
            begin = result.data_ptr()
            end = begin + size
            for k, other in enumerate(taken):
                if begin < other + sizes[k] and other < end:
                    return None
            taken.append(begin)
            sizes.append(size)
        return results

    def _plan(self, shape: Sequence[int]) -> _Plan | None:
        """Remember what follows from the first array's shape; None where it is no batch."""
        batch = int(shape[0]) if shape else 0
        if not batch or tuple(shape) != (batch, *self._dims[0]):
            return None
        others = list(zip(self._dims, self._bits, strict=True))[1:]
        results = [port.dims for port in self._call.outputs]
        plan = _Plan(
            batch=batch,
            others=tuple(((batch, *dims), bit) for dims, bit in others),
            results=tuple(((batch, *dims), self._bytes(batch, dims)) for dims in results),
        )
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        self._plans[shape] = plan
        return plan

    def _way(self, plan: _Plan, variant: int) -> _Way:
        """Remember how a variant is launched; it is compiled at its first use."""
        kernel: Any = self._call.kernel(variant)
        launcher: Launcher = kernel.launcher
        there = [
            dims
            for dims, bit in zip(self._dims, self._bits, strict=True)
            if not bit or bit & variant
        ]
        sizes = tuple(self._bytes(plan.batch, dims) for dims in there)
        way = plan.ways[variant] = _Way(launcher, launcher.blocks(plan.batch), sizes)
        return way

    def _bytes(self, batch: int, dims: Sequence[int]) -> int:
        return batch * math.prod(dims) * (4 if self._call.dtype_name == "float32" else 8)


def _finite(numbers: Sequence[Any]) -> bool:
    """Whether all are plain floats and finite: others differ from themselves, taken from them."""
    return all(type(number) is float and number - number == 0.0 for number in numbers)
