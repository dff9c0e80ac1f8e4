"""PyTorch with a device whose memory is the host's: what a call asks of a tensor, and no more."""

from __future__ import annotations

import math
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np


class Tensor:
    """A tensor over a NumPy array; `device` None: in host memory."""

    __module__ = "torch"

    def __init__(self, array: Any, device: int | None = 0) -> None:
        self.array, self._device = np.asarray(array), device
        self.dtype = DTYPES.get(self.array.dtype.name, f"torch.{self.array.dtype.name}")
        self.is_cuda = device is not None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def get_device(self) -> int:
        return -1 if self._device is None else self._device

    def is_contiguous(self) -> bool:
        return bool(self.array.flags.c_contiguous)

    def data_ptr(self) -> int:
        return int(self.array.ctypes.data)

    def new_empty(self, *shape: Any) -> Tensor:
        dims = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        return Tensor(np.full(dims, math.nan, self.array.dtype), self._device)


class Parameter(Tensor):
    """A tensor of another type."""

    __module__ = "torch.nn"


class DType:
    """A dtype, of which there is one of each."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return f"torch.{self.name}"


DTYPES = {name: DType(name) for name in ("float32", "float64", "float16")}


def fake_torch(*, devices: int = 1, current: int = 0, raw_stream: bool = True) -> Any:
    """Return the module; the stream of device k is 70 + k."""
    module: Any = ModuleType("torch")
    module.Tensor = Tensor
    module.float32, module.float64 = DTYPES["float32"], DTYPES["float64"]
    module._C = SimpleNamespace()
    if raw_stream:
        module._C._cuda_getCurrentRawStream = lambda device: 70 + device
    module.cuda = SimpleNamespace(
        device_count=lambda: devices,
        current_device=lambda: current,
        current_stream=lambda device: SimpleNamespace(cuda_stream=70 + device),
    )
    return module
