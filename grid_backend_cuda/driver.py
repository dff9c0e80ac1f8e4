"""The CUDA driver: what is there, and every call checked with the place it was made for."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
from typing import Any

from attrs import frozen

from grid_backend_cuda.compiler import compiler_version
from grid_core.errors import BackendError, BackendUnavailable

__all__ = ["Card", "card", "check", "driver", "driver_missing", "unavailable", "use"]

_INSTALL = "pip install '.[cuda]'"
_NO_DEVICE = 100
"""CUDA_ERROR_NO_DEVICE."""
_NOTHING_SEEN = "the NVIDIA driver sees no device; see nvidia-smi and CUDA_VISIBLE_DEVICES"
_OLDEST = 13000
"""CUDA version that a driver must know, as it counts: machine code of 13.x is for 13.0 on."""


@functools.cache
def driver() -> Any:
    """The bindings' driver module, initialised.

    Raises:
        BackendUnavailable: no wheel, no driver or no device; says which and what to do.
    """
    reason = driver_missing()
    if reason is not None:
        raise BackendUnavailable(f"the backend 'cuda' cannot run here: {reason}")
    from cuda.bindings import driver as bindings  # noqa: PLC0415

    return bindings


@functools.cache
def unavailable() -> str | None:
    """Say what is missing to compile and run on a GPU, and what to do about it; None: nothing is.

    Where there is no GPU, nothing of CUDA's Python packages is imported to find that out.
    """
    return driver_missing() or _compiler_fault()


def driver_missing() -> str | None:
    """Say what is missing to run what was compiled before; None: nothing is."""
    with contextlib.suppress(ModuleNotFoundError):
        if importlib.util.find_spec("cuda.bindings") is not None:
            return _driver_fault()
    return f"the wheel cuda-bindings is not installed; {_INSTALL}"


def _driver_fault() -> str | None:
    """Ask the driver itself, which needs no package to answer."""
    try:
        library = _driver_library()
    except OSError as error:
        return f"no NVIDIA driver was found ({error}); install one of version 580 or newer"
    status = library.cuInit(0)
    if status == _NO_DEVICE:
        return _NOTHING_SEEN
    if status:
        return f"the NVIDIA driver did not start (error {status}); see nvidia-smi"
    number = ctypes.c_int()
    library.cuDriverGetVersion(ctypes.byref(number))
    if number.value < _OLDEST:
        knows = f"{number.value // 1000}.{number.value % 1000 // 10}"
        return (
            f"the NVIDIA driver is too old: it knows CUDA {knows}, and kernels are compiled for "
            "13.0; install one of version 580 or newer"
        )
    if library.cuDeviceGetCount(ctypes.byref(number)) or not number.value:
        return _NOTHING_SEEN
    return None


def _driver_library() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def _compiler_fault() -> str | None:
    try:
        compiler_version()
    except BackendUnavailable as error:
        return str(error)
    return None


def check(result: Any, what: str) -> Any:
    """Return what a driver call gave, or raise with the error's name and the place.

    Raises:
        BackendError: the call failed.
    """
    status, *values = result
    if status.value:
        from cuda.bindings import driver as bindings  # noqa: PLC0415

        text = bindings.cuGetErrorString(status)[1]
        words = text.decode(errors="replace") if isinstance(text, bytes) else ""
        raise BackendError(f"{what}: the CUDA driver says {status.name} ({words})")
    return values[0] if len(values) == 1 else values


@frozen
class Card:
    """One device with its primary context, which every framework shares."""

    index: int
    name: str
    arch: str
    """``sm_90``."""
    multiprocessors: int
    shared_limit: int
    """Dynamic shared memory a block may ask for [bytes]."""
    context: Any


@functools.cache
def card(index: int) -> Card:
    """Open a device.

    Raises:
        BackendUnavailable: there is no such device.
    """
    cu = driver()
    count = check(cu.cuDeviceGetCount(), "counting devices")
    if not 0 <= index < count:
        raise BackendUnavailable(
            f"there is no CUDA device {index}: the driver sees {count}, numbered from 0"
        )
    device = check(cu.cuDeviceGet(index), f"device {index}")
    name = check(cu.cuDeviceGetName(100, device), f"device {index}")
    attribute = cu.CUdevice_attribute

    def ask(which: Any) -> int:
        return int(check(cu.cuDeviceGetAttribute(which, device), f"device {index}"))

    major = ask(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
    minor = ask(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
    return Card(
        index=index,
        name=name.rstrip(b"\0").decode(errors="replace"),
        arch=f"sm_{major}{minor}",
        multiprocessors=ask(attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        shared_limit=ask(attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
        context=check(cu.cuDevicePrimaryCtxRetain(device), f"device {index}"),
    )


class use:  # noqa: N801 - reads as a statement: with use(card)
    """Make a card's context current in this thread for a block; a no-op when it is already."""

    def __init__(self, chosen: Card) -> None:
        self._card = chosen
        self._before: Any = None

    def __enter__(self) -> None:
        cu = driver()
        before = check(cu.cuCtxGetCurrent(), "asking for the context")
        if int(before) != int(self._card.context):
            self._before = before
            check(cu.cuCtxSetCurrent(self._card.context), f"device {self._card.index}")

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            check(driver().cuCtxSetCurrent(self._before), "restoring the context")
            self._before = None
