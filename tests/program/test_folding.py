"""Trivial arithmetic folds away as it is written: each rule by what is left of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from grid_core.errors import TraceError
from grid_core.program.graph import Graph
from grid_core.program.ops import Op
from grid_core.program.scalar import Scalar, is_zero
from tests.program.expressions import NUMERIC, SYMBOLIC, names, program_of

RULES = {
    "x * 0.0": "",
    "0 * x": "",
    "x * 1.0": "",
    "x * -1.0": "NEG",
    "x + 0.0": "",
    "0 + x": "",
    "x - 0.0": "",
    "0.0 - x": "NEG",
    "x - x": "",
    "0.0 / x": "",
    "x / 1.0": "",
    "x / 4": "MUL",
    "x / -1": "NEG",
    "+x": "",
    "-(-x)": "",
    "-(x - y)": "SUB NEG",
    "y - -(x - y)": "SUB ADD",
    "x + (-y)": "SUB",
    "(-x) + y": "SUB",
    "(-x) + (-y)": "ADD NEG",
    "x - (-y)": "ADD",
    "(-x) - y": "ADD NEG",
    "(-x) * (-y)": "MUL",
    "x * (-y)": "MUL NEG",
    "(-x) * y + y": "MUL SUB",
    "(-x) / (-y)": "DIV",
    "(-x) / y": "DIV NEG",
    "1.0 / (-y)": "DIV NEG",
    "2.0 * (3.0 * x)": "MUL",
    "-2.0 * (-3.0 * x)": "MUL",
    "(2.0 * x) * 0.5": "",
    "(2.0 * x) / -2.0": "NEG",
    "2.0 * x + 3.0 * x": "MUL",
    "2.0 * x - x": "",
    "x - 2.0 * x": "NEG",
    "3.0 * x - 3.0 * x": "",
    "x + x": "ADD",
    "(x + x) - 2.0 * x": "ADD MUL SUB",
    "x ** 0": "",
    "x ** 1": "",
    "x ** 4": "MUL MUL",
    "x ** 7": "MUL MUL MUL MUL",
    "sin(-x)": "SIN NEG",
    "cos(-x)": "COS",
    "cos(-x) - cos(x)": "",
    "absolute(-x)": "ABS",
    "abs(x)": "ABS",
    "sign(-x)": "SIGN NEG",
    "sqrt(absolute(x))": "ABS SQRT",
    "atan2(-x, y)": "ATAN2 NEG",
    "atan2(x, -y)": "NEG ATAN2",
    "atan2(x, 1.0) - atan2(x, 1)": "",
    "maximum(x, x)": "",
    "maximum(x, y) - maximum(y, x)": "",
    "minimum(x, y) + minimum(y, x)": "MIN ADD",
    "minimum(x, 2.0)": "MIN",
    "x * y - y * x": "",
    "(x + y) - (y + x)": "",
    "(x - y) + (y - x)": "",
    "(x - y) * (y - x)": "SUB MUL NEG",
    "sin(x) + sin(x)": "SIN ADD",
}


@pytest.mark.parametrize("rule", RULES)
def test_what_is_left_of_an_expression(rule: str) -> None:
    code = compile(rule, "rule", "eval")
    program = program_of(lambda x, y: {"z": [eval(code, {**SYMBOLIC, "x": x, "y": y})]}, x=(), y=())
    assert names(program) == RULES[rule]
    x, y = np.random.default_rng(0).normal(size=(2, 16))
    got = program.evaluate({"x": x, "y": y})["z"][:, 0]
    expected = eval(code, {**NUMERIC, "x": x, "y": y})
    np.testing.assert_allclose(got, expected, rtol=4e-16, atol=1e-300)


def test_functions_of_numbers_are_numbers() -> None:
    assert SYMBOLIC["sin"](0.5) == math.sin(0.5)
    assert SYMBOLIC["cos"](0.5) == math.cos(0.5)
    assert SYMBOLIC["sqrt"](4.0) == 2.0
    assert SYMBOLIC["absolute"](-2.0) == 2.0
    assert [SYMBOLIC["sign"](x) for x in (-3.0, 0.0, 3.0)] == [-1.0, 0.0, 1.0]
    assert SYMBOLIC["atan2"](1.0, -2.0) == math.atan2(1.0, -2.0)
    assert (SYMBOLIC["maximum"](1.0, 2.0), SYMBOLIC["minimum"](1.0, 2.0)) == (2.0, 1.0)


def test_what_folds_to_a_number_is_a_number() -> None:
    def function(x: Scalar) -> dict[str, object]:
        known = (x - x) + 3
        assert type(known) is float
        assert known == 3.0
        assert is_zero(x * 0)
        assert not is_zero(x)
        return {"y": [known]}

    program = program_of(function, x=())
    assert (program.instructions, program.constants) == ((), (3.0,))
    np.testing.assert_array_equal(program.evaluate({"x": np.zeros(3)})["y"], np.full((3, 1), 3.0))


def test_constants_are_folded_in_the_graph() -> None:
    graph = Graph()
    x, minus_three, two = graph.input(), graph.constant(-3.0), graph.constant(2.0)
    folded = {
        graph.add(minus_three, two): -1.0,
        graph.sub(minus_three, two): -5.0,
        graph.mul(minus_three, two): -6.0,
        graph.div(minus_three, two): -1.5,
        graph.neg(minus_three): 3.0,
        graph.unary(Op.ABS, minus_three): 3.0,
        graph.unary(Op.SIN, two): math.sin(2.0),
        graph.unary(Op.SIGN, minus_three): -1.0,
        graph.atan2(minus_three, two): math.atan2(-3.0, 2.0),
        graph.extremum(Op.MIN, minus_three, two): -3.0,
        graph.extremum(Op.MAX, minus_three, two): 2.0,
    }
    assert {node: graph.value(node) for node in folded} == folded
    assert graph.extremum(Op.MAX, x, x) == x
    assert graph.extremum(Op.MIN, x, two) == graph.extremum(Op.MIN, two, x)


def test_minus_zero_is_zero() -> None:
    graph = Graph()
    zero = graph.value(graph.constant(-0.0))
    assert zero is not None
    assert math.copysign(1.0, zero) == 1.0
    assert graph.constant(-0.0) == graph.constant(0.0)


@pytest.mark.parametrize(
    "expression",
    [
        "x + inf",
        "x * nan",
        "(x * 1e200) * 1e200",
        "x / 1e-310",
        "x / 0",
        "(x - x + 1e308) * 10 + x",
    ],
)
def test_a_constant_that_is_not_finite_is_refused(expression: str) -> None:
    with pytest.raises(TraceError, match=r"constant (inf|nan|0)"):
        program_of(
            lambda x: {"y": [eval(expression, {"x": x, "inf": math.inf, "nan": math.nan})]}, x=()
        )


def test_the_root_of_a_negative_constant_is_refused() -> None:
    graph = Graph()
    with pytest.raises(TraceError, match="constant nan"):
        graph.unary(Op.SQRT, graph.constant(-1.0))
