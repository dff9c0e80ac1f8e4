"""Batches whose elements no longer count in 32 bits."""

from __future__ import annotations

import numpy as np
import pytest

from tests.gpu.frameworks import framework
from tests.gpu.loaded import call_of, inputs_of

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]


@pytest.mark.parametrize(
    ("robot", "name", "gigabytes"),
    [
        ("iiwa14", "inverse_dynamics", 40),
        ("iiwa14", "crba", 20),
        ("go2", "forward_dynamics_gradient", 20),
    ],
)
def test_more_than_two_to_the_31_elements(robot: str, name: str, gigabytes: int) -> None:
    """q, q̇ and τ of 2.2 G elements each; M and a gradient of 2.6 G."""
    arrays, call = framework("torch"), call_of(robot, name)
    torch = arrays.module
    free, _ = torch.cuda.mem_get_info()
    if free < gigabytes * 2**30:
        pytest.skip(f"{gigabytes} GiB of device memory are needed")
    small = inputs_of(robot, name, 1009)
    expected = call(**small)
    width = expected[0].size
    batch = 2**31 // width + (1_000_003 if width == 7 else 500_000_003 // width)
    given = {}
    for key, value in small.items():
        if isinstance(value, float):
            given[key] = value
            continue
        whole = torch.empty(batch, *value.shape[1:], device="cuda:0")
        rows = arrays.put(value)
        fit = batch // 1009 * 1009
        whole[:fit].view(-1, 1009, *value.shape[1:]).copy_(rows)
        whole[fit:].copy_(rows[: batch - fit])
        given[key] = whole
    got = call(**given)
    assert got.numel() > 2**31
    for first in (0, 2**31 // got[0].numel() - 500, batch - 1000):
        begin = max(0, first)
        rows = np.arange(begin, min(begin + 1000, batch)) % 1009
        part = arrays.get(got[begin : begin + len(rows)])
        np.testing.assert_array_equal(part, expected[rows])
    del got, given
    torch.cuda.empty_cache()
