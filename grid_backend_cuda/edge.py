"""Calls with device arrays: checked, launched on the caller's stream, never synchronised."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from grid_backend_cuda.arrays import Cupy, Kind, Torch, View, kind_of
from grid_backend_cuda.driver import card, use
from grid_backend_cuda.express import CupyExpress, TorchExpress
from grid_core.errors import InputError

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable, Sequence

    from grid_core.arrays import ArrayPort
    from grid_core.operation_call import OperationCall

__all__ = ["CudaEdge"]


class CudaEdge:
    """How a handle on a CUDA device takes arrays that lie there."""

    def __init__(self, device: int) -> None:
        self.device = device
        self.short: dict[type, Callable[[Sequence[Any], Sequence[Any], Any], Any]] = {}

    def try_call(self, call: OperationCall, values: Sequence[Any], out: Any) -> Any:
        """Do the call where its arguments lie on a device; NotImplemented where they do not."""
        for value in values:
            kind = kind_of(value)
            if kind is not None and kind.on_device(value):
                self._shorten(call, kind)
                with self._current():
                    return self._call(call, values, out, kind, value)
        return NotImplemented

    def _shorten(self, call: OperationCall, kind: Kind) -> None:
        """Open the short way for calls with arrays of a framework that has one."""
        if isinstance(kind, Torch | Cupy) and kind.array not in self.short:
            express = TorchExpress if isinstance(kind, Torch) else CupyExpress
            self.short[kind.array] = express(call, self.device, kind.stream).__call__

    def _current(self) -> contextlib.AbstractContextManager[None]:
        """Make the handle's device the current one: the legacy stream is the current device's."""
        return use(card(self.device))

    def _call(
        self, call: OperationCall, values: Sequence[Any], out: Any, kind: Kind, model: Any
    ) -> Any:
        """Check the arguments, launch, and return arrays of the kind that `model` is.

        Raises:
            InputError: an array of the wrong shape, dtype, device or layout, or of another kind.
        """
        stream = kind.stream(self.device)
        arguments, batch, variant = self._gather(call, values, kind, stream)
        lead_dims = () if batch is None else (batch,)
        if out is None:
            results = [kind.like(model, (*lead_dims, *p.dims)) for p in call.outputs]
            pointers = [kind.view(a, stream).pointer for a in results]
        else:
            results = list(out) if isinstance(out, list | tuple) else [out]
            pointers = self._out_pointers(call, results, lead_dims, kind, stream)
            _require_apart(call, 1 if batch is None else batch, values, arguments, pointers)
        if batch != 0:
            kernel: Any = call.kernel(variant)
            kernel.launch(1 if batch is None else batch, arguments, pointers, stream)
        return call.wrap([kind.finish(r, stream) for r in results])

    def arguments(
        self, call: OperationCall, values: Sequence[Any]
    ) -> tuple[int | None, list[int | float], int] | None:
        """Return the batch, pointers and numbers, and the stream; None for host memory.

        Raises:
            InputError: an array of the wrong shape, dtype, device or layout, or of another kind.
        """
        for value in values:
            kind = kind_of(value)
            if kind is not None and kind.on_device(value):
                stream = kind.stream(self.device)
                with self._current():
                    arguments, batch, _ = self._gather(call, values, kind, stream)
                return batch, arguments, stream
        return None

    def _gather(
        self, call: OperationCall, values: Sequence[Any], kind: Kind, stream: int
    ) -> tuple[list[int | float], int | None, int]:
        """Check the arguments: pointers and numbers, the batch, and the variant."""
        arguments: list[int | float] = []
        batch: int | None = None
        first: ArrayPort | None = None
        variant = 0
        for slot, value in zip(call.slots, values, strict=True):
            port = slot.port
            if port is None:
                arguments.append(call.number(slot, value))
                continue
            if value is None:
                call.require_given(slot)
                continue
            view = self._view(call, port, value, kind, stream)
            lead = self._lead(call, port, view)
            if first is None:
                first, batch = port, lead
            elif lead != batch:
                raise call.batch_error(first, batch, port, lead)
            arguments.append(view.pointer)
            variant |= slot.bit
        return arguments, batch, variant

    def _view(
        self, call: OperationCall, port: ArrayPort, value: Any, kind: Kind, stream: int
    ) -> View:
        other = kind_of(value)
        on_device = other is not None and other.on_device(value)
        if other is None or not on_device or type(other) is not type(kind):
            lies = "on a device" if on_device else "in host memory"
            raise InputError(
                f"{call.__name__}: {port.name} is a {_type_name(value)} {lies}, and another "
                f"argument is an array of {type(kind).__name__.lower()} on a device; all arrays of "
                "a call must be of one kind and lie on the handle's device"
            )
        view = other.view(value, stream)
        fault = self._fault(view, call.dtype_name)
        if fault is not None:
            raise InputError(f"{call.__name__}: {port.name} {fault}")
        return view

    def _fault(self, view: View, dtype: str) -> str | None:
        if view.dtype != dtype:
            return (
                f"must be of the handle's dtype {dtype}; got {view.dtype} (device arrays are "
                "not converted: convert it, or load the robot with that dtype)"
            )
        if view.device != self.device:
            return (
                f"lies on device {view.device}, and this handle is on device {self.device}; "
                f"load the robot with device={view.device}"
            )
        if not view.contiguous:
            return "is a strided view; pass a contiguous copy (row-major)"
        return None

    @staticmethod
    def _lead(call: OperationCall, port: ArrayPort, view: View) -> int | None:
        shape = view.shape
        if shape == port.dims:
            return None
        if shape[1:] != port.dims or len(shape) != len(port.dims) + 1:
            raise port.wrong_shape(call.__name__, tuple(shape))
        return int(shape[0])

    def _out_pointers(
        self,
        call: OperationCall,
        given: Sequence[Any],
        lead: tuple[int, ...],
        kind: Kind,
        stream: int,
    ) -> list[int]:
        """Check the caller's output arrays and return where they lie."""
        if len(given) != len(call.outputs):
            raise InputError(
                f"{call.__name__}: out must be {len(call.outputs)} arrays; got {len(given)}"
            )
        pointers = []
        for port, array in zip(call.outputs, given, strict=True):
            view = self._view(call, port, array, kind, stream)
            if tuple(view.shape) != (*lead, *port.dims):
                raise InputError(
                    f"{call.__name__}: out ({port.name}) must be of shape {(*lead, *port.dims)}; "
                    f"got {tuple(view.shape)}"
                )
            if view.readonly:
                raise InputError(f"{call.__name__}: out ({port.name}) must be writable")
            pointers.append(view.pointer)
        return pointers


def _require_apart(
    call: OperationCall,
    count: int,
    values: Sequence[Any],
    arguments: Sequence[int | float],
    results: Sequence[int],
) -> None:
    """Raise `InputError` where an output array overlaps an input or another output."""
    each = 4 if call.dtype_name == "float32" else 8

    def end(pointer: int, port: ArrayPort) -> int:
        return pointer + count * each * math.prod(port.dims)

    given = [s.port for s, v in zip(call.slots, values, strict=True) if s.port and v is not None]
    # Arrays stand before numbers, among slots and arguments alike.
    taken = [(p.name, int(at), end(int(at), p)) for p, at in zip(given, arguments, strict=False)]
    for port, begin in zip(call.outputs, results, strict=True):
        until = end(begin, port)
        for name, low, high in taken:
            if begin < high and low < until:
                raise InputError(
                    f"{call.__name__}: out ({port.name}) overlaps {name}; give separate memory"
                )
        taken.append((f"out ({port.name})", begin, until))


def _type_name(value: Any) -> str:
    kind = type(value)
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
