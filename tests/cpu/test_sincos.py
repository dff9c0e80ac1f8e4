"""Sine and cosine of the compiled code, over the whole range of both precisions."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest

from grid_core.program.scalar import cos, sin
from grid_core.program.trigonometry import FAR_LIMIT
from tests.cpu.kernels import DTYPES, LANES, Compiled
from tests.program.expressions import program_of

if TYPE_CHECKING:
    from grid_backend_cpu.vector import Lanes

PROGRAM = program_of(lambda x: {"sin": [sin(x[0])], "cos": [cos(x[0])]}, x=(1,))
SINGLE = {
    "sin": program_of(lambda x: {"sin": [sin(x[0])]}, x=(1,)),
    "cos": program_of(lambda x: {"cos": [cos(x[0])]}, x=(1,)),
}
EXACT = {"sin": mpmath.sin, "cos": mpmath.cos}


@functools.cache
def compiled(lanes: Lanes) -> Compiled:
    return Compiled(PROGRAM, lanes)


def widest(dtype: str) -> Lanes:
    return next(lanes for lanes in reversed(LANES) if lanes.dtype == dtype)


def evaluate(x: Any, lanes: Lanes) -> dict[str, Any]:
    x = np.asarray(x, lanes.dtype).reshape(-1, 1)
    with np.errstate(invalid="ignore"):
        return {name: y[:, 0] for name, y in compiled(lanes)(len(x), {"x": x}).items()}


def exact(x: Any, name: str) -> Any:
    """To 80 digits and rounded to extended precision, so far away that its error is none."""
    with mpmath.workdps(80 + 310):
        values = [EXACT[name](mpmath.mpf(float(v))) for v in x]
        return np.array([np.longdouble(mpmath.nstr(v, 25)) for v in values])


def ulps(y: Any, expected: Any) -> float:
    """Return the greatest error in units of the last place of the expected values."""
    rounded = expected.astype(y.dtype)
    unit = np.spacing(np.abs(rounded)).astype(np.longdouble)
    return float((np.abs(y.astype(np.longdouble) - expected) / unit).max())


def around(values: Any, dtype: str, steps: int = 3) -> Any:
    """Return the values as rounded to the precision and their next neighbours."""
    x = np.unique(np.asarray(values).astype(dtype))
    result = [x]
    up = down = x
    for _ in range(steps):
        up, down = np.nextafter(up, np.inf), np.nextafter(down, -np.inf)
        result += [up, down]
    return np.concatenate(result)


@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_within_two_ulp_up_to_ten_thousand(lanes: Lanes) -> None:
    """Everywhere, and densely around the multiples of π/2, where reduction loses most."""
    rng = np.random.default_rng(0)
    k = rng.integers(-6366, 6367, 20_000)
    x = np.concatenate(
        [
            rng.uniform(-1.0, 1.0, 10_000) * 10.0 ** rng.uniform(-10, 4, 10_000),
            rng.uniform(-10.0, 10.0, 20_000),
            k * (np.pi / 2) + rng.normal(size=k.size) * 10.0 ** rng.uniform(-16, 0, k.size),
            around(np.arange(-6366, 6367, 7) * (np.pi / 2), lanes.dtype),
            around((np.arange(-6366, 6367, 7) + 0.5) * (np.pi / 2), lanes.dtype),
        ]
    ).astype(lanes.dtype)
    got = evaluate(x, lanes)
    wide = x.astype(np.longdouble)
    assert ulps(got["sin"], np.sin(wide)) < 2.0
    assert ulps(got["cos"], np.cos(wide)) < 2.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_against_arbitrary_precision(dtype: str) -> None:
    """The hardest arguments, by a second oracle."""
    hard = [1.0, np.pi / 4, 710 / 226, 355.0, 103993 / 33102, 6381956970095103 * 2.0**-35]
    x = around([k * np.pi / 2 for k in (*range(33), 710, 5419, 6366)] + hard, dtype, steps=2)
    x = np.concatenate([x, -x])
    x = x[np.abs(x) <= 1e4]
    got = evaluate(x, widest(dtype))
    for name in EXACT:
        assert ulps(got[name], exact(x, name)) < 2.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_arguments(dtype: str) -> None:
    info = np.finfo(dtype)
    tiny = [float(v) for v in (info.smallest_subnormal, info.tiny, info.eps, info.eps**2)]
    x = np.array([0.0, *tiny, 3 * tiny[0], tiny[1] / 3, 1e-8, 1e-4], dtype)
    x = np.concatenate([x, -x])
    got = evaluate(x, widest(dtype))
    assert np.all(got["cos"][np.abs(x) < 1e-5] == 1.0)
    assert np.all(got["sin"][np.abs(x) < 1e-5] == x[np.abs(x) < 1e-5])
    assert ulps(got["sin"], np.sin(x.astype(np.longdouble))) < 2.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_large_arguments(dtype: str) -> None:
    """Within 1e-6 in float32 to 1e6, and in float64 as good as near 0 to the inline limit."""
    limit = 1e6 if dtype == "float32" else FAR_LIMIT[dtype]
    rng = np.random.default_rng(1)
    x = (rng.uniform(-1.0, 1.0, 3000) * 10.0 ** rng.uniform(0, np.log10(limit), 3000)).astype(dtype)
    x = np.concatenate([x, around([limit], dtype), [x.dtype.type(limit * 0.999)]])
    x = x[np.abs(x) <= limit]
    got = evaluate(x, widest(dtype))
    for name in EXACT:
        expected = exact(x, name)
        assert np.abs(got[name] - expected).max() < (2e-7 if dtype == "float32" else 2e-16)
        assert ulps(got[name], expected) < (2.0 if dtype == "float64" else 2.5)


def test_as_good_where_the_quadrant_is_found_but_nearly() -> None:
    """Near the limit what is left of an angle may exceed π/4."""
    limit = FAR_LIMIT["float64"]
    x = np.random.default_rng(4).uniform(-limit, limit, 400_000)
    got, wide = evaluate(x, widest("float64")), x.astype(np.longdouble)
    assert ulps(got["sin"], np.sin(wide)) < 2.0
    assert ulps(got["cos"], np.cos(wide)) < 2.0


@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_far_arguments_and_their_neighbours(lanes: Lanes) -> None:
    """Past the inline range the C library answers, and only for the lanes that are there."""
    limit = FAR_LIMIT[lanes.dtype]
    top = float(np.finfo(lanes.dtype).max)
    far = np.array([1e7, limit, 1.5 * limit, 1e15, 1e22, 1e30, top, -1e30, -top], lanes.dtype)
    far = np.concatenate([far, around([limit, -limit], lanes.dtype)])
    got = evaluate(far, lanes)
    for name in EXACT:
        expected = exact(far, name)
        assert np.abs(got[name] - expected).max() < 8 * np.finfo(lanes.dtype).eps
    near = np.random.default_rng(2).uniform(-4.0, 4.0, 64).astype(lanes.dtype)
    alone = evaluate(near, lanes)
    mixed = near.copy()
    mixed[::5] = far[np.arange(13) % len(far)]
    together = evaluate(mixed, lanes)
    kept = np.arange(64) % 5 != 0
    for name in EXACT:
        np.testing.assert_array_equal(together[name][kept], alone[name][kept])
        assert np.abs(together[name]).max() <= 1.0


@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_what_is_no_angle_is_nan_and_spoils_no_neighbour(lanes: Lanes) -> None:
    x = np.linspace(-3.0, 3.0, 40).astype(lanes.dtype)
    alone = evaluate(x, lanes)
    for bad in (np.nan, np.inf, -np.inf):
        spoilt = x.copy()
        spoilt[[0, 7, 39]] = bad
        got = evaluate(spoilt, lanes)
        for name in EXACT:
            assert np.isnan(got[name][[0, 7, 39]]).all()
            kept = np.isfinite(spoilt)
            np.testing.assert_array_equal(got[name][kept], alone[name][kept])


@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_never_above_one(lanes: Lanes) -> None:
    x = around(np.arange(-400, 401) * (np.pi / 2), lanes.dtype, steps=8)
    got = evaluate(x, lanes)
    assert max(np.abs(y).max() for y in got.values()) <= 1.0


@pytest.mark.parametrize("name", SINGLE)
def test_one_without_the_other_has_the_same_bits(name: str) -> None:
    x = np.random.default_rng(3).uniform(-9.0, 9.0, (50, 1))
    for dtype in DTYPES:
        alone = Compiled(SINGLE[name], widest(dtype))(50, {"x": x})[name]
        np.testing.assert_array_equal(alone[:, 0], evaluate(x, widest(dtype))[name])
