"""The vectorised arctangent against the C library's, in every octant and at the edges."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_core.program.scalar import atan2
from tests.cpu.kernels import LANES, Compiled
from tests.program.expressions import program_of

if TYPE_CHECKING:
    from grid_backend_cpu.vector import Lanes

PROGRAM = program_of(lambda y, x: {"angle": [atan2(y[0], x[0])]}, y=(1,), x=(1,))


def evaluate(lanes: Lanes, y: Any, x: Any) -> Any:
    inputs = {"y": np.reshape(y, (-1, 1)), "x": np.reshape(x, (-1, 1))}
    return Compiled(PROGRAM, lanes)(len(inputs["y"]), inputs)["angle"][:, 0]


def ulps(actual: Any, exact: Any, dtype: str) -> Any:
    """Distance from an exact value of greater precision, in units in the last place."""
    spacing = np.spacing(np.abs(exact).astype(dtype)).astype(np.longdouble)
    return np.max(np.abs(actual.astype(np.longdouble) - exact) / spacing)


@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_error_is_below_two_units_in_the_last_place(lanes: Lanes) -> None:
    rng = np.random.default_rng(0)
    size = 200_000
    y, x = rng.standard_normal((2, size)) * 10.0 ** rng.uniform(-8, 8, (2, size))
    angle = rng.uniform(-np.pi, np.pi, size)
    near = rng.integers(-4, 5, size) * np.pi / 4 + rng.normal(size=size) * 1e-3
    y = np.concatenate([y, np.sin(angle), np.sin(near)]).astype(lanes.dtype)
    x = np.concatenate([x, np.cos(angle), np.cos(near)]).astype(lanes.dtype)
    exact = np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))
    assert ulps(evaluate(lanes, y, x), exact, lanes.dtype) <= 2.0


@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_zeros_infinities_and_nans_are_the_librarys(lanes: Lanes) -> None:
    large, tiny = np.finfo(lanes.dtype).max, np.finfo(lanes.dtype).tiny
    edges: list[Any] = [0.0, tiny, tiny / 4, 1.0, large / 2, large, np.inf]
    edges = [*edges, *(-v for v in edges), np.nan]
    y, x = np.array(list(itertools.product(edges, edges))).T.astype(lanes.dtype)
    expected = np.arctan2(y, x)
    actual = evaluate(lanes, y, x)
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(expected))
    kept = ~np.isnan(expected)
    np.testing.assert_allclose(actual[kept], expected[kept], rtol=4e-7, atol=0.0)
    np.testing.assert_array_equal(np.signbit(actual[kept]), np.signbit(expected[kept]))
