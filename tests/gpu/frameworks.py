"""Arrays on the GPU, of each framework, from NumPy's and back."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

# JAX would take most of the card's memory for itself.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

NAMES = ("torch", "cupy", "jax")


class Torch:
    def __init__(self) -> None:
        self.module = pytest.importorskip("torch")

    def put(self, array: Any) -> Any:
        return self.module.from_numpy(np.array(array)).to("cuda:0")

    def get(self, array: Any) -> Any:
        return array.cpu().numpy()


class Cupy:
    def __init__(self) -> None:
        self.module = pytest.importorskip("cupy")

    def put(self, array: Any) -> Any:
        return self.module.asarray(array)

    def get(self, array: Any) -> Any:
        return self.module.asnumpy(array)


class Jax:
    def __init__(self) -> None:
        self.module = pytest.importorskip("jax")
        self.module.config.update("jax_enable_x64", True)  # noqa: FBT003 - its name first
        try:
            self.device = self.module.devices("gpu")[0]
        except RuntimeError as error:
            pytest.skip(f"JAX sees no GPU: {error}")

    def put(self, array: Any) -> Any:
        return self.module.device_put(np.array(array), self.device)

    def get(self, array: Any) -> Any:
        return np.asarray(array)


def framework(name: str) -> Any:
    """Return a framework; skips where it is not installed."""
    return {"torch": Torch, "cupy": Cupy, "jax": Jax}[name]()


def put(kind: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Copy every array to the GPU; numbers stay what they are."""
    return {k: v if isinstance(v, float) else kind.put(v) for k, v in inputs.items()}
