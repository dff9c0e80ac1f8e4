"""Each operation of a program, compiled, in every vector width, on numbers and what are none."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_core.program.ops import BINARY, NUMPY, UNARY, Op
from tests.cpu.kernels import LANES, Compiled
from tests.program.expressions import SYMBOLIC, program_of

if TYPE_CHECKING:
    from grid_backend_cpu.vector import Lanes

FUNCTIONS: dict[Op, Any] = {
    Op.NEG: lambda a: -a,
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.SQRT: SYMBOLIC["sqrt"],
    Op.SIN: SYMBOLIC["sin"],
    Op.COS: SYMBOLIC["cos"],
    Op.ABS: SYMBOLIC["absolute"],
    Op.SIGN: SYMBOLIC["sign"],
    Op.MIN: SYMBOLIC["minimum"],
    Op.MAX: SYMBOLIC["maximum"],
    Op.ATAN2: SYMBOLIC["atan2"],
}
ROUNDED = {Op.SIN, Op.COS, Op.ATAN2}
"""Within some units of the last place; every other operation is exact as IEEE 754 has it."""


@pytest.mark.parametrize("lanes", LANES, ids=str)
@pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: op.name)
def test_an_operation_is_numpys(op: Op, lanes: Lanes) -> None:
    info = np.finfo(lanes.dtype)
    edges: list[Any] = [
        0.0,
        info.smallest_subnormal,
        info.tiny,
        0.3,
        1.0,
        7.0,
        1e4,
        info.max,
        np.inf,
    ]
    edges = [float(v) for v in edges]
    edges = [*edges, *(-v for v in edges), np.nan]
    pairs = np.array(list(itertools.product(edges, edges)), lanes.dtype)
    ports = "ab" if op in BINARY else "a"
    program = program_of(
        lambda **x: {"y": [FUNCTIONS[op](*x.values())]}, **dict.fromkeys(ports, ())
    )
    assert [instruction[0] for instruction in program.instructions] == [op]
    inputs = dict(zip(ports, pairs.T, strict=False))
    with np.errstate(all="ignore"):
        got = Compiled(program, lanes)(len(pairs), inputs)["y"][:, 0]
        expected = NUMPY[op](*inputs.values())
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    kept = np.isfinite(expected)
    np.testing.assert_array_equal(got[~kept], expected[~kept])
    tolerance = 4 * float(info.eps) if op in ROUNDED else 0.0
    np.testing.assert_allclose(got[kept], expected[kept], rtol=tolerance, atol=tolerance)


def test_every_operation_is_here() -> None:
    assert set(FUNCTIONS) == UNARY | BINARY


@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_constants_keep_all_their_digits(lanes: Lanes) -> None:
    values = [np.pi, 1.0 / 3.0, 1e-30, 6.02e23, -7.25, 0.1]
    program = program_of(lambda x: {"y": [x * v for v in values], "v": values}, x=())
    got = Compiled(program, lanes)(3, {"x": [1.0, 2.0, -0.5]})
    constants = np.array(values, lanes.dtype)
    np.testing.assert_array_equal(got["v"], np.tile(constants, (3, 1)))
    np.testing.assert_array_equal(got["y"][0], constants)
