"""Arrays on a GPU, of each framework, from NumPy's and back."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import numpy as np
import pytest

# JAX would take most of the card's memory for itself.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

NAMES = ("torch", "cupy", "jax")


class Torch:
    def __init__(self, index: int) -> None:
        self.module = pytest.importorskip("torch")
        self.index = index

    def put(self, array: Any) -> Any:
        return self.module.from_numpy(np.array(array)).to(f"cuda:{self.index}")

    def get(self, array: Any) -> Any:
        return array.cpu().numpy()

    def device_of(self, array: Any) -> int:
        return int(array.get_device())

    def current(self) -> int:
        return int(self.module.cuda.current_device())

    def at(self, index: int) -> Any:
        """Make a device the current one."""
        return self.module.cuda.device(index)


class Cupy:
    def __init__(self, index: int) -> None:
        self.module = pytest.importorskip("cupy")
        self.index = index

    def put(self, array: Any) -> Any:
        with self.at(self.index):
            return self.module.asarray(array)

    def get(self, array: Any) -> Any:
        with self.at(self.device_of(array)):
            return self.module.asnumpy(array)

    def device_of(self, array: Any) -> int:
        return int(array.device.id)

    def current(self) -> int:
        return int(self.module.cuda.runtime.getDevice())

    def at(self, index: int) -> Any:
        return self.module.cuda.Device(index)


class Jax:
    def __init__(self, index: int) -> None:
        self.module = pytest.importorskip("jax")
        self.index = index
        self.module.config.update("jax_enable_x64", True)  # noqa: FBT003 - its name first
        try:
            self.device = self.module.devices("gpu")[index]
        except RuntimeError as error:
            pytest.skip(f"JAX sees no GPU: {error}")

    def put(self, array: Any) -> Any:
        return self.module.device_put(np.array(array), self.device)

    def get(self, array: Any) -> Any:
        return np.asarray(array)

    def device_of(self, array: Any) -> int:
        (device,) = array.devices()
        return int(device.local_hardware_id)

    def current(self) -> int:
        """JAX has no current device that a call could change."""
        return 0

    def at(self, index: int) -> Any:
        return contextlib.nullcontext(index)


def framework(name: str, index: int = 0) -> Any:
    """Return a framework that puts arrays on a device; skips where it is not installed."""
    return {"torch": Torch, "cupy": Cupy, "jax": Jax}[name](index)


def put(kind: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Copy every array to the GPU; numbers stay what they are."""
    return {k: v if isinstance(v, float) else kind.put(v) for k, v in inputs.items()}
