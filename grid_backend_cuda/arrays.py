"""Arrays that lie on a device: where they are, and how to make more of the same kind.

Frameworks are recognised by the type of what the caller passes and never imported otherwise.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, Protocol

from attrs import frozen

from grid_backend_cuda.driver import check, driver
from grid_core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Kind", "View", "kind_of"]

_CUDA, _CUDA_MANAGED = 2, 13  # DLPack's device types
_LEGACY_STREAM = 1


@functools.lru_cache(maxsize=64)
def _name(dtype: Any) -> str:
    """A NumPy dtype's name, which NumPy makes anew each time."""
    return str(dtype.name)


@frozen
class View:
    """A device array as a kernel sees it."""

    pointer: int
    shape: tuple[int, ...]
    dtype: str
    device: int
    contiguous: bool
    readonly: bool = False


class Kind(Protocol):
    """A framework's arrays."""

    def on_device(self, array: Any) -> bool:
        """Whether the array lies in a GPU's memory."""
        ...

    def view(self, array: Any, stream: int) -> View:
        """Describe an array, its data ready for work on the stream."""
        ...

    def stream(self, device: int) -> int:
        """The caller's current stream on a device."""
        ...

    def empty(self, shape: tuple[int, ...], dtype: str, device: int) -> Any:
        """Make an array for results."""
        ...

    def finish(self, array: Any, stream: int) -> Any:
        """Hand results to the caller, after the work was enqueued."""
        ...

    def like(self, array: Any, shape: tuple[int, ...]) -> Any:
        """Make an array for results where another one lies; quicker than `empty` where it can."""
        ...


class Torch:
    """PyTorch tensors: the current stream, no synchronisation."""

    def __init__(self) -> None:
        self._torch = sys.modules["torch"]
        self.array = self._torch.Tensor
        self._names = {self._torch.float32: "float32", self._torch.float64: "float64"}
        self._types = {name: dtype for dtype, name in self._names.items()}
        raw = getattr(self._torch._C, "_cuda_getCurrentRawStream", None)  # noqa: SLF001
        self.stream = raw if raw is not None else self._slow_stream

    def _slow_stream(self, device: int) -> int:
        return int(self._torch.cuda.current_stream(device).cuda_stream)

    def on_device(self, array: Any) -> bool:
        """Whether it is a CUDA tensor."""
        return bool(array.is_cuda)

    def view(self, array: Any, stream: int) -> View:
        """Describe a tensor; the caller's stream orders its data already."""
        del stream
        return View(
            pointer=array.data_ptr(),
            shape=array.shape,
            dtype=self._names.get(array.dtype) or str(array.dtype).removeprefix("torch."),
            device=array.get_device(),
            contiguous=array.is_contiguous(),
        )

    def empty(self, shape: tuple[int, ...], dtype: str, device: int) -> Any:
        """Make a tensor by PyTorch's caching allocator."""
        return self._torch.empty(shape, dtype=self._types[dtype], device=f"cuda:{device}")

    def finish(self, array: Any, stream: int) -> Any:
        """Nothing to do: the stream orders later work."""
        del stream
        return array

    def like(self, array: Any, shape: tuple[int, ...]) -> Any:
        """Make a tensor by PyTorch's caching allocator."""
        return array.new_empty(shape)


class _Plain:
    """Kinds without a short way."""

    def like(self, array: Any, shape: tuple[int, ...]) -> Any:
        """Make an array of the same kind, dtype and device."""
        view = self.view(array, 0)  # type: ignore[attr-defined]
        return self.empty(shape, view.dtype, view.device)  # type: ignore[attr-defined]


class Cupy(_Plain):
    """CuPy arrays: the current stream, no synchronisation."""

    def __init__(self) -> None:
        self._cupy = sys.modules["cupy"]
        self.array = self._cupy.ndarray

    def on_device(self, array: Any) -> bool:
        """Whether it lies on a device: always."""
        return array is not None

    def view(self, array: Any, stream: int) -> View:
        """Describe an array; the caller's stream orders its data already."""
        del stream
        return View(
            pointer=array.data.ptr,
            shape=array.shape,
            dtype=_name(array.dtype),
            device=array.data.device_id,
            contiguous=bool(array.flags.c_contiguous),
        )

    def stream(self, device: int) -> int:
        """CuPy's current stream on a device; each has its own."""
        return int(self._cupy.cuda.get_current_stream(device).ptr)

    def empty(self, shape: tuple[int, ...], dtype: str, device: int) -> Any:
        """Make an array by CuPy's memory pool."""
        if self._cupy.cuda.runtime.getDevice() == device:
            return self._cupy.empty(shape, dtype)
        with self._cupy.cuda.Device(device):
            return self._cupy.empty(shape, dtype)

    def like(self, array: Any, shape: tuple[int, ...]) -> Any:
        """Make an array by CuPy's memory pool."""
        return self.empty(shape, array.dtype, array.data.device_id)

    def finish(self, array: Any, stream: int) -> Any:
        """Nothing to do: the stream orders later work."""
        del stream
        return array


class Jax(_Plain):
    """JAX arrays. JAX shows no stream: inputs are waited for, and so are results.

    A result is an array that JAX has just made and nobody else has seen; it is filled in place.
    """

    def __init__(self) -> None:
        self._jax = sys.modules["jax"]
        self._zeros = functools.lru_cache(maxsize=256)(self._make_zeros)

    def on_device(self, array: Any) -> bool:
        """Whether it is one array on one GPU."""
        return any(device.platform in ("gpu", "cuda") for device in array.devices())

    def view(self, array: Any, stream: int) -> View:
        """Describe an array once its value is there."""
        del stream
        array.block_until_ready()
        (device,) = array.devices()
        return View(
            pointer=int(array.unsafe_buffer_pointer()),
            shape=array.shape,
            dtype=_name(array.dtype),
            device=int(device.local_hardware_id),
            contiguous=True,
        )

    def stream(self, device: int) -> int:
        """The legacy stream."""
        del device
        return _LEGACY_STREAM

    def empty(self, shape: tuple[int, ...], dtype: str, device: int) -> Any:
        """Make a zero array on the device and wait for it.

        Raises:
            InputError: JAX makes another dtype of it.
        """
        array = self._zeros(shape, dtype, device)().block_until_ready()
        if _name(array.dtype) != dtype:
            raise InputError(
                f"results in {dtype} cannot be made: JAX gives {array.dtype} for it; enable "
                "jax_enable_x64, as where the inputs were made"
            )
        return array

    def _make_zeros(self, shape: tuple[int, ...], dtype: str, device: int) -> _JaxZeros:
        target = next(d for d in self._jax.devices("gpu") if int(d.local_hardware_id) == device)
        return _JaxZeros(self._jax, shape, dtype, target)

    def finish(self, array: Any, stream: int) -> Any:
        """Wait: JAX would not know that the array is still being written."""
        check(driver().cuStreamSynchronize(stream), "waiting for the results")
        return array


class _JaxZeros:
    """Makes JAX arrays of zeros of one shape on one device.

    A copy from the host takes JAX some 40 µs, what it has compiled a tenth of that; compiling
    takes as long as a thousand copies, so only a shape that comes again is compiled.
    """

    def __init__(self, jax: Any, shape: tuple[int, ...], dtype: str, device: Any) -> None:
        self._jax = jax
        self._shape, self._dtype, self._device = shape, dtype, device
        self._used = False
        self._compiled: Callable[[], Any] | None = None

    def __call__(self) -> Any:
        if self._compiled is None and not self._used:
            self._used = True
            zeros = sys.modules["numpy"].zeros(self._shape, self._dtype)
            return self._jax.device_put(zeros, self._device)
        if self._compiled is None:
            there = self._jax.sharding.SingleDeviceSharding(self._device)
            zeros = self._jax.numpy.zeros
            self._compiled = self._jax.jit(
                lambda: zeros(self._shape, self._dtype), out_shardings=there
            )
        return self._compiled()


class Interface(_Plain):
    """Any other array with ``__cuda_array_interface__`` or DLPack, by cuda-core's reader.

    Results are asked of ``out=``: a foreign kind cannot be made here.
    """

    def on_device(self, array: Any) -> bool:
        """Whether DLPack or the interface says so."""
        device = getattr(array, "__dlpack_device__", None)
        if device is not None:
            return int(device()[0]) in (_CUDA, _CUDA_MANAGED)
        return getattr(array, "__cuda_array_interface__", None) is not None

    def view(self, array: Any, stream: int) -> View:
        """Describe an array; its producer makes the stream wait for its data."""
        from cuda.core.utils import StridedMemoryView  # noqa: PLC0415

        found = StridedMemoryView.from_any_interface(array, stream_ptr=stream)
        strides = found.strides
        return View(
            pointer=int(found.ptr),
            shape=tuple(found.shape),
            dtype=str(found.dtype),
            device=int(found.device_id),
            contiguous=strides is None or tuple(strides) == _row_major(tuple(found.shape)),
            readonly=bool(found.readonly),
        )

    def stream(self, device: int) -> int:
        """The legacy stream, which waits for and is waited for by blocking streams."""
        del device
        return _LEGACY_STREAM

    def empty(self, shape: tuple[int, ...], dtype: str, device: int) -> Any:
        """Refuse: say how to give memory."""
        del dtype, device
        raise InputError(
            f"results of shape {shape} need out=: arrays of this kind cannot be made here "
            "(PyTorch's, CuPy's and JAX's can)"
        )

    def finish(self, array: Any, stream: int) -> Any:
        """Nothing to do: the stream orders later work."""
        del stream
        return array


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for width in reversed(shape):
        strides.append(step)
        step *= max(width, 1)
    return tuple(reversed(strides))


_FRAMEWORKS: dict[str, Callable[[], Kind]] = {
    "torch": Torch,
    "cupy": Cupy,
    "jax": Jax,
    "jaxlib": Jax,
}
_known: dict[type, Kind | None] = {}


def kind_of(value: Any) -> Kind | None:
    """Return how to handle an array that may lie on a device; None for what never does."""
    found: Any = _known.get(type(value), _known)
    if found is not _known:
        return found  # type: ignore[no-any-return]
    name = type(value).__module__.partition(".")[0]
    kind: Kind | None = None
    if name in _FRAMEWORKS and hasattr(value, "shape"):
        kind = _FRAMEWORKS[name]()
    elif name != "numpy" and (
        hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__")
    ):
        kind = Interface()
    _known[type(value)] = kind
    return kind
