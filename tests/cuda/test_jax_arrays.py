"""Results for JAX: made by its own means, here on its CPU in a GPU's place."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grid_backend_cuda.arrays import Jax
from grid_core.errors import InputError

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.filterwarnings("ignore:.*dtype float64 requested")


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> Any:
    def devices(platform: str) -> Any:
        assert platform == "gpu"
        return jax.devices("cpu")

    names = {name: getattr(jax, name) for name in ("device_put", "jit", "numpy", "sharding")}
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(devices=devices, **names))
    return Jax()


def test_a_shape_that_comes_again_is_compiled_and_each_array_has_its_own_memory(kind: Any) -> None:
    made = [kind.empty((33, 7), "float32", 0) for _ in range(4)]
    other = kind.empty((2, 3, 3), "float32", 0)
    assert len({array.unsafe_buffer_pointer() for array in (*made, other)}) == 5
    for array in (*made, other):
        assert array.dtype == np.float32
        assert not np.asarray(array).any()
    assert made[0].shape == (33, 7)
    assert other.shape == (2, 3, 3)
    assert kind._zeros((33, 7), "float32", 0)._compiled is not None
    assert kind._zeros((2, 3, 3), "float32", 0)._compiled is None


def test_like_another_array(kind: Any) -> None:
    first = kind.empty((5, 2), "float32", 0)
    for batch in (0, 3, 3, 3):
        made = kind.like(first, (batch, 4))
        assert made.shape == (batch, 4)
        assert made.dtype == np.float32


def test_a_precision_that_jax_does_not_give_is_refused(kind: Any) -> None:
    """Memory of another size would be written beyond its end."""
    assert not jax.config.jax_enable_x64
    for _ in range(2):
        with pytest.raises(
            InputError, match=r"results in float64 cannot be made: JAX gives float32"
        ):
            kind.empty((5, 2), "float64", 0)
