"""CuPy with devices whose memory is the host's: what a call asks of an array, and no more."""

from __future__ import annotations

import math
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np


class ndarray:  # noqa: N801 - its name
    """An array; made on the current device, as CuPy does, unless one is named."""

    __module__ = "cupy"
    current = 0

    def __init__(self, shape: Any, dtype: Any, *, device: int | None = None) -> None:
        self.array = np.full(shape, math.nan, dtype)
        self._device = self.current if device is None else device

    @classmethod
    def of(cls, array: Any, device: int = 0) -> ndarray:
        made = cls((), np.float64, device=device)
        made.array = np.asarray(array)
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    @property
    def flags(self) -> Any:
        return SimpleNamespace(c_contiguous=self.array.flags.c_contiguous)

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.array.ctypes.data, device_id=self._device)


class Special(ndarray):
    """Another type."""

    __module__ = "cupy.special"


class _Device:
    def __init__(self, index: int) -> None:
        self.index = index

    def __enter__(self) -> None:
        self.before, ndarray.current = ndarray.current, self.index

    def __exit__(self, *_: object) -> None:
        ndarray.current = self.before


def fake_cupy(*, current: int = 0) -> Any:
    """Return the module; the stream of device k is 80 + k."""
    module: Any = ModuleType("cupy")
    ndarray.current = current
    module.ndarray = ndarray
    module.empty = ndarray
    module.cuda = SimpleNamespace(
        Device=_Device,
        get_current_stream=lambda device: SimpleNamespace(ptr=80 + device),
        runtime=SimpleNamespace(getDevice=lambda: ndarray.current),
    )
    return module
