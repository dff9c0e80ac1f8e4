"""The quick way to an array's address gives what NumPy says."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from grid_backend_cpu import addresses
from grid_backend_cpu.addresses import address_of

ARRAYS: dict[str, Any] = {
    "fresh": np.zeros((4, 3)),
    "view": np.zeros((4, 3))[1:, 1:],
    "reversed": np.zeros(5, np.float32)[::-1],
    "scalar": np.array(1.0),
    "empty": np.empty((0, 3)),
    "foreign": np.frombuffer(bytes(48)),
    "subclass": np.zeros(3).view(np.recarray),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_it_is_numpys(name: str) -> None:
    array = ARRAYS[name]
    assert address_of(array) == array.__array_interface__["data"][0]


def test_other_pythons_ask_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.implementation, "name", "another")
    assert addresses._choose() is addresses._asked
