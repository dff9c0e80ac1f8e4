"""What a symbolic scalar does, and what it refuses, in ordinary Python and NumPy code."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_core.errors import TraceError
from grid_core.program.graph import Graph
from grid_core.program.scalar import Scalar
from tests.program.expressions import names, program_of

if TYPE_CHECKING:
    from collections.abc import Callable

BRANCHES: dict[str, Callable[[Any], object]] = {
    "if": lambda x: 1 if x else 2,
    "not": lambda x: not x,
    "and": lambda x: x and 1,
    "<": lambda x: x < 1,
    "<=": lambda x: x <= 1,
    ">": lambda x: x > 1,
    ">=": lambda x: x >= 1,
    "==": lambda x: x == 0,
    "!=": lambda x: x != 0,
    "in": lambda x: x in (1.0, 2.0),
    "max": lambda x: max(x, 0.0),
    "float": float,
    "int": int,
    "complex": complex,
    "range": range,
    "index": lambda x: [1, 2][x],
    "math.sin": math.sin,
    "np.maximum": lambda x: np.maximum(np.array([x]), 0.0),
    "np.where": lambda x: np.where(np.array([x], dtype=object) == 0.0, 1.0, 2.0),
    "np.sign": lambda x: np.sign(np.array([x])),
    "float array": lambda x: np.asarray([x], dtype=np.float64),
    "item of a float array": lambda x: np.zeros(2).__setitem__(0, x),
}


@pytest.fixture
def x() -> Scalar:
    graph = Graph()
    return Scalar(graph, graph.input())


@pytest.mark.parametrize("branch", BRANCHES)
def test_a_run_time_value_cannot_be_branched_on(branch: str, x: Scalar) -> None:
    with pytest.raises(TraceError, match="cannot branch"):
        BRANCHES[branch](x)


@pytest.mark.parametrize("exponent", [-1, 0.5, 2.0, None])
def test_exponents_are_whole(exponent: object, x: Scalar) -> None:
    with pytest.raises(TraceError, match="whole exponents from 0 on; use sqrt or /"):
        x**exponent


@pytest.mark.parametrize("other", [None, 1j, object()])
def test_what_is_no_number_is_a_type_error(other: object, x: Scalar) -> None:
    combinations: list[Callable[[Any, Any], Any]] = [
        lambda a, b: a + b,
        lambda a, b: b - a,
        lambda a, b: a * b,
        lambda a, b: b / a,
    ]
    for combine in combinations:
        with pytest.raises(TypeError, match="unsupported operand"):
            combine(x, other)


def test_scalars_of_two_traces_do_not_mix(x: Scalar) -> None:
    graph = Graph()
    foreign = Scalar(graph, graph.input())
    for combine in (x.__add__, x.__rsub__, x.__mul__, x.__truediv__):
        with pytest.raises(TraceError, match="another trace"):
            combine(foreign)


def test_a_scalar_of_another_trace_is_no_result(x: Scalar) -> None:
    with pytest.raises(TraceError, match="another trace"):
        program_of(lambda q: {"y": [q, x]}, q=())


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_a_result_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(TraceError, match="constant"):
        program_of(lambda q: {"y": [value]}, q=())


def test_arrays_of_scalars_and_of_numbers_combine() -> None:
    def function(x: Any, k: Any) -> dict[str, Any]:
        a = np.array([1.0, -2.0, 0.5])
        return {
            "left": a * k,
            "right": k * a,
            "own": x * k + a / k,
            "dot": [a @ x],
            "matrix": np.eye(3) @ x,
            "float32": np.float32(0.5) * x - np.float64(2.0),
            "zero_dimensions": [np.array(2.0) * k, k - np.array(2.0)],
            "functions": np.sin(x) + np.cos(x) * np.sqrt(abs(x)),
        }

    program = program_of(function, x=(3,), k=())
    x, k = np.random.default_rng(1).normal(size=(4, 3)), np.array([1.0, 2.0, 3.0, -0.5])
    for row, result in enumerate(zip(*program.evaluate({"x": x, "k": k}).values(), strict=True)):
        expected = function(x[row], k[row])
        for got, (name, wanted) in zip(result, expected.items(), strict=True):
            np.testing.assert_allclose(
                got, np.asarray(wanted, float), rtol=1e-15, atol=1e-15, err_msg=name
            )


def test_a_matrix_product_folds_its_zeros() -> None:
    assert names(program_of(lambda x: {"y": np.diag([1.0, 2.0, 0.0]) @ x}, x=(3,))) == "MUL"


def test_scalars_go_into_sets_and_name_their_operation(x: Scalar) -> None:
    assert len({x, x}) == 1
    assert repr(x) == "<Scalar 0: input>"
    assert repr(x * 2.0) == "<Scalar 2: mul>"


@pytest.mark.parametrize("name", ["arctan2", "hypot", "exp", "tanh", "arccos"])
def test_functions_of_numpy_that_no_program_has_are_named(name: str) -> None:
    function, x = getattr(np, name), Scalar(graph := Graph(), graph.input())
    arguments = [np.array([x, x], dtype=object)] * function.nin
    for given in (arguments, [x] * function.nin):
        with pytest.raises(TraceError, match=rf"np\.{name} cannot take a run-time value: .*atan2"):
            function(*given)
    assert not hasattr(x, "array")
