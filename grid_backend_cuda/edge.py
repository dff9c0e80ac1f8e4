"""Calls with device arrays: checked, launched on the caller's stream, never synchronised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grid_backend_cuda.arrays import Kind, Torch, View, kind_of
from grid_backend_cuda.express import TorchExpress
from grid_core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.arrays import ArrayPort
    from grid_core.operation_call import OperationCall

__all__ = ["CudaEdge"]


class CudaEdge:
    """How a handle on a CUDA device takes arrays that lie there."""

    def __init__(self, device: int) -> None:
        self.device = device
        self._express: TorchExpress | None = None

    def try_call(self, call: OperationCall, values: Sequence[Any], out: Any) -> Any:
        """Do the call where its arguments lie on a device; NotImplemented where they do not."""
        if self._express is not None:
            done = self._express(values, out)
            if done is not None:
                return done
        for value in values:
            if value is None or type(value) is float:
                continue
            kind = kind_of(value)
            if kind is None or not kind.on_device(value):
                return NotImplemented
            if type(kind) is Torch and self._express is None:
                self._express = TorchExpress(call, self.device)
            return self.call(call, values, out)
        return NotImplemented

    def call(self, call: OperationCall, values: Sequence[Any], out: Any) -> Any:
        """Check the arguments, launch, and return arrays of the caller's kind.

        Raises:
            InputError: an array of the wrong shape, dtype, device or layout, or of another kind.
        """
        kind: Kind | None = None
        model: Any = None
        stream = 0
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
            if kind is None:
                kind, model = kind_of(value), value
                assert kind is not None
                stream = kind.stream(self.device)
            view = self._view(call, port, value, kind, stream)
            lead = self._lead(call, port, view)
            if first is None:
                first, batch = port, lead
            elif lead != batch:
                raise call.batch_error(first, batch, port, lead)
            arguments.append(view.pointer)
            variant |= slot.bit
        assert kind is not None
        results, pointers = self._results(call, kind, model, batch, out, stream)
        if batch != 0:
            kernel: Any = call.kernel(variant)
            kernel.launch(1 if batch is None else batch, arguments, pointers, stream)
        return call.wrap([kind.finish(r, stream) for r in results])

    def _view(
        self, call: OperationCall, port: ArrayPort, value: Any, kind: Kind, stream: int
    ) -> View:
        other = kind_of(value)
        if type(other) is not type(kind) or other is None or not other.on_device(value):
            raise InputError(
                f"{call.__name__}: {port.name} is a {type(value).__name__} that does not lie on "
                f"the device as the first argument does; all arrays of a call must be of one kind"
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

    def _results(
        self,
        call: OperationCall,
        kind: Kind,
        model: Any,
        batch: int | None,
        out: Any,
        stream: int,
    ) -> tuple[list[Any], list[int]]:
        lead = () if batch is None else (batch,)
        ports = call.outputs
        if out is None:
            arrays = [kind.like(model, (*lead, *p.dims)) for p in ports]
            return arrays, [kind.view(a, stream).pointer for a in arrays]
        given = list(out) if isinstance(out, list | tuple) else [out]
        if len(given) != len(ports):
            raise InputError(f"{call.__name__}: out must be {len(ports)} arrays; got {len(given)}")
        pointers = []
        for port, array in zip(ports, given, strict=True):
            view = self._view(call, port, array, kind, stream)
            if tuple(view.shape) != (*lead, *port.dims):
                raise InputError(
                    f"{call.__name__}: out ({port.name}) must be of shape {(*lead, *port.dims)}; "
                    f"got {tuple(view.shape)}"
                )
            if view.readonly:
                raise InputError(f"{call.__name__}: out ({port.name}) must be writable")
            pointers.append(view.pointer)
        return given, pointers
