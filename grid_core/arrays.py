"""The edge: what callers may pass for an array or a number, and what they are told otherwise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from grid_core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grid_core.algorithm import Options, Port
    from grid_core.model.types import RobotModel

__all__ = ["ArrayPort", "check_out", "to_array", "to_number"]

_CPU_DEVICES = (1, 3)
"""DLPack device types whose memory the CPU reads: CPU and pinned."""


@frozen
class ArrayPort:
    """A port with its shape in numbers, for one robot."""

    name: str
    dims: tuple[int, ...]
    """Shape for one problem."""
    batched: str
    """The batched shape as messages show it: ``(B, nv=18)``."""
    velocity_hint: str = ""
    """What to say of an array that is nq wide where nv is wanted; empty when nq = nv."""
    nq: int = field(default=0, repr=False)

    @classmethod
    def of(cls, port: Port, model: RobotModel, options: Options) -> ArrayPort:
        """Resolve a port for a robot."""
        dims = port.dims(model, options)
        widths = ", ".join(
            f"{name}={width}" if isinstance(name, str) else str(width)
            for name, width in zip(port.shape, dims, strict=True)
        )
        hint = ""
        if port.shape and port.shape[0] == "nv" and model.nq != model.nv:
            hint = f"; velocity-like arrays are nv={model.nv} wide, not nq={model.nq}"
        batched = f"(B, {widths})" if widths else "(B,)"
        return cls(port.name, dims, batched, hint, model.nq)

    def wrong_shape(self, operation: str, shape: tuple[int, ...]) -> InputError:
        """Make the error for an array that is neither one problem nor a batch of them."""
        if len(shape) == len(self.dims) + 1:
            widths = ", ".join(map(str, shape[1:]))
            got = f"(B, {widths})" if widths else "(B,)"
        else:
            got = str(shape)
        hint = self.velocity_hint if self.nq in shape else ""
        if len(shape) not in (len(self.dims), len(self.dims) + 1):
            hint = f"; {len(shape)} axes are neither one problem nor a batch of them"
        return InputError(f"{operation}: {self.name} must be {self.batched}; got {got}{hint}")

    def take(
        self, operation: str, value: Any, dtype: np.dtype[Any]
    ) -> tuple[NDArray[Any], int | None]:
        """Return the array with a batch axis, and its batch; None for one problem without it.

        Raises:
            InputError: the value is no array of real numbers, or of the wrong shape.
        """
        if (
            type(value) is not np.ndarray
            or (value.dtype is not dtype and value.dtype != dtype)
            or not value.flags.c_contiguous
        ):
            value = to_array(operation, self.name, value, dtype)
        shape = value.shape
        if shape == self.dims:
            return value[None], None
        if shape[1:] != self.dims:
            raise self.wrong_shape(operation, shape)
        return value, shape[0]


def to_array(operation: str, name: str, value: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a C-contiguous array of the handle's dtype; the same one when it is that already.

    Raises:
        InputError: the value lies on a device, is no array of numbers, or is of a dtype that
            does not turn into real numbers (bool, complex, object, text).
    """
    if not isinstance(value, np.ndarray):
        _refuse_tracer(operation, name, value)
        _refuse_device(operation, name, value)
    try:
        array = np.asarray(value)
    except Exception as error:
        raise InputError(
            f"{operation}: {name} is no array of numbers: {type(value).__name__} "
            f"does not convert ({_first_line(error)})"
        ) from error
    if array.dtype.kind not in "fiu":
        raise InputError(
            f"{operation}: {name} must hold real numbers; got dtype {array.dtype}"
            f"{_dtype_hint(array)}"
        )
    try:
        with np.errstate(over="raise"):
            return np.ascontiguousarray(array, dtype=dtype).reshape(array.shape)
    except FloatingPointError as error:
        raise InputError(
            f"{operation}: {name} has numbers that are too large for {dtype}; load the robot with "
            "dtype='float64', or mend them"
        ) from error


def to_number(operation: str, name: str, value: Any) -> float:
    """Return a uniform input as a float.

    Raises:
        InputError: the value is not one finite real number.
    """
    _refuse_tracer(operation, name, value)
    if isinstance(value, np.ndarray) or hasattr(value, "__len__"):
        shape = getattr(value, "shape", None)
        got = f"an array of shape {shape}" if shape is not None else f"{value!r}"
        raise InputError(
            f"{operation}: {name} is one number for the whole batch, as float({name}); got {got}"
        )
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        raise InputError(
            f"{operation}: {name} must be a real number; got {value!r} "
            f"of type {type(value).__name__}"
        )
    if isinstance(value, np.complexfloating):
        raise InputError(f"{operation}: {name} must be a real number; got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{operation}: {name} must be finite; got {number}")
    return number


def check_out(
    operation: str,
    ports: tuple[ArrayPort, ...],
    out: Any,
    *,
    batch: int | None,
    inputs: dict[str, Any],
    dtype: np.dtype[Any],
) -> list[NDArray[Any]]:
    """Return the caller's output arrays, in order, each ready to be written in full.

    Raises:
        InputError: they are not as many arrays as there are outputs, of the results' shapes and
            dtype, C-contiguous, writable, and apart from the inputs and from each other.
    """
    arrays = [out] if len(ports) == 1 and isinstance(out, np.ndarray) else out
    if not isinstance(arrays, list | tuple) or len(arrays) != len(ports):
        names = ", ".join(port.name for port in ports)
        wanted = "a NumPy array" if len(ports) == 1 else f"a tuple of {len(ports)} NumPy arrays"
        raise InputError(f"{operation}: out must be {wanted} ({names}); got {_shape_of(out)}")
    lead = () if batch is None else (batch,)
    for k, (port, array) in enumerate(zip(ports, arrays, strict=True)):
        name = "out" if len(ports) == 1 else f"out[{k}] ({port.name})"
        shape = (*lead, *port.dims)
        reason = None if _fits(array, shape, dtype) else _out_fault(array, shape, dtype)
        if reason:
            raise InputError(f"{operation}: {name} must be {reason}")
        others = inputs if k == 0 else inputs | {f"out[{j}]": a for j, a in enumerate(arrays[:k])}
        for other, held in others.items():
            if isinstance(held, np.ndarray) and np.may_share_memory(array, held):
                raise InputError(f"{operation}: {name} overlaps {other}; give separate memory")
    return list(arrays)


def _fits(array: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    """Whether at a glance there is no fault, as nearly always."""
    return (
        type(array) is np.ndarray
        and array.shape == shape
        and array.dtype is dtype
        and array.flags.carray
    )


def _out_fault(array: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> str | None:
    if not isinstance(array, np.ndarray):
        return f"a NumPy array; got {_shape_of(array)}"
    if array.shape != shape:
        return f"of shape {shape}; got {array.shape}"
    if array.dtype != dtype:
        return f"of the handle's dtype {dtype}; got {array.dtype}"
    if not array.flags.c_contiguous:
        return "C-contiguous"
    return None if array.flags.writeable else "writable"


def _refuse_tracer(operation: str, name: str, value: Any) -> None:
    """Raise `InputError` for what JAX passes to a function while it traces it."""
    kinds = type(value).__mro__
    if any(kind.__name__ == "Tracer" and kind.__module__.startswith("jax") for kind in kinds):
        raise InputError(
            f"{operation}: {name} is a JAX tracer, and this operation cannot be traced by JAX; "
            "call it outside jit, grad and vmap"
        )


def _first_line(error: Exception) -> str:
    """The first line of another library's message, at most 200 characters of it."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0] if len(lines[0]) <= 200 else f"{lines[0][:197]}..."


def _refuse_device(operation: str, name: str, value: Any) -> None:
    kind = type(value).__name__
    where = None
    device = getattr(value, "__dlpack_device__", None)
    if callable(device):
        try:
            number = int(device()[0])
        except Exception:  # noqa: BLE001 - PyTorch's device `meta` has no number, for one
            where = f"the device {str(getattr(value, 'device', 'of an unknown kind'))!r}"
        else:
            where = None if number in _CPU_DEVICES else f"DLPack device type {number}"
    elif _has(value, "__cuda_array_interface__"):
        where = "a CUDA device"
    if where is not None:
        raise InputError(
            f"{operation}: {name} is on {where} (type {kind}), and this handle computes on the "
            "CPU; pass a copy in host memory"
        )


def _has(value: Any, attribute: str) -> bool:
    try:
        return getattr(value, attribute, None) is not None
    except Exception:  # noqa: BLE001 - a property of a foreign class may raise anything
        return False


def _dtype_hint(array: NDArray[Any]) -> str:
    if array.dtype.kind == "O":
        return " (a ragged list, or None inside?)"
    return " (take its real part)" if array.dtype.kind == "c" else ""


def _shape_of(value: Any) -> str:
    shape = getattr(value, "shape", None)
    kind = type(value).__name__
    return f"{kind} of shape {shape}" if shape is not None else kind
