"""The short way of a call with PyTorch tensors that are already right.

An eager call has microseconds; this looks at each tensor once and launches. Anything out of
the ordinary, errors included, is left to `grid_backend_cuda.edge`, which looks closely.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from grid_backend_cuda.launch import ALIGNMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.operation_call import OperationCall

__all__ = ["TorchExpress"]


class TorchExpress:
    """One operation on one device for batched tensors of the handle's dtype."""

    def __init__(self, call: OperationCall, device: int) -> None:
        torch = sys.modules["torch"]
        self._call = call
        self._device = device
        self._tensor = torch.Tensor
        self._dtype = getattr(torch, call.dtype_name)
        self._stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # noqa: SLF001
        arrays = [slot for slot in call.slots if slot.port is not None]
        self._count = len(arrays)
        self._bits = [slot.bit for slot in arrays]
        self._dims = [slot.port.dims for slot in arrays if slot.port is not None]
        self._results = [port.dims for port in call.outputs]
        self._shapes: tuple[int, list[tuple[int, ...]]] = (-1, [])

    def __call__(self, values: Sequence[Any], out: Any) -> Any:
        """Return the results, or None where the long way is needed."""
        first = values[0]
        if type(first) is not self._tensor or out is not None or self._stream is None:
            return None
        shape = first.shape
        batch = shape[0] if shape else 0
        if not batch:
            return None
        known, shapes = self._shapes
        if known != batch:
            shapes = [(batch, *dims) for dims in self._dims]
            self._shapes = (batch, shapes)
        arguments = self._arguments(values, shapes)
        if arguments is None:
            return None
        results = [first.new_empty((batch, *dims)) for dims in self._results]
        pointers = [result.data_ptr() for result in results]
        taken, variant, merged = arguments
        kernel: Any = self._call.kernel(variant)
        for pointer in pointers:
            merged |= pointer
        stream = self._stream(self._device)
        kernel.fire(batch, taken, pointers, stream, aligned=merged % ALIGNMENT == 0)
        return self._call.wrap(results)

    def _arguments(
        self, values: Sequence[Any], shapes: Sequence[tuple[int, ...]]
    ) -> tuple[list[int | float], int, int] | None:
        """Pointers and numbers in the order of the call, the variant, all pointers or-ed."""
        dtype, device = self._dtype, self._device
        taken: list[int | float] = []
        variant = merged = 0
        for value, shape, bit in zip(values, shapes, self._bits, strict=False):
            if value is None and bit:
                continue
            if (
                type(value) is not self._tensor
                or value.dtype is not dtype
                or value.get_device() != device
                or value.shape != shape
                or not value.is_contiguous()
            ):
                return None
            pointer = value.data_ptr()
            merged |= pointer
            variant |= bit
            taken.append(pointer)
        for value in values[self._count :]:
            # A number that is not finite differs from itself when it is taken from itself.
            if type(value) is not float or value - value != 0.0:
                return None
            taken.append(value)
        return taken, variant, merged
