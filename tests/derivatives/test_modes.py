"""Forward and reverse mode of every operation, against finite differences and each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_core.program import scalar
from grid_core.program.derivative import Function
from grid_core.program.program import Program, ProgramPort
from grid_core.program.schedule import schedule
from grid_core.program.trace import node_of
from tests.program.expressions import SYMBOLIC

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

RNG = np.random.default_rng(3)
X = RNG.uniform(0.3, 2.0, (5, 3))

EXPRESSIONS: dict[str, Callable[[Any], list[Any]]] = {
    "sums": lambda x: [x[0] + x[1] - 2.0 * x[2], -x[0], 3.0, x[1] - x[1]],
    "products": lambda x: [x[0] * x[1] * x[2], x[0] * x[0], x[0] ** 3],
    "quotients": lambda x: [x[0] / x[1], 1.0 / x[2], 2.0 / (x[0] * x[1]), x[0] / 4.0],
    "square_root": lambda x: [scalar.sqrt(x[0] * x[1])],
    "angles": lambda x: [scalar.sin(x[0] * x[1]), scalar.cos(x[2] - x[0])],
    "atan2": lambda x: [scalar.atan2(x[0] - x[1], x[2]), scalar.atan2(-x[0], 2.0)],
    "extrema": lambda x: [scalar.minimum(x[0], x[1]), scalar.maximum(x[1], x[2])],
    "bounds": lambda x: [scalar.minimum(x[0], 1.0), scalar.maximum(x[1], 0.7)],
    "sizes": lambda x: [scalar.absolute(x[0] - x[1]), scalar.sign(x[0] - x[1]) * x[2]],
    "twice": lambda x: [x[0], x[0]],
}


def program_of(function: Function, outputs: Mapping[str, Any]) -> Program:
    """Order some of a function's values."""
    graph = function.graph
    flat = [value for array in outputs.values() for value in np.asarray(array).reshape(-1)]
    scheduled = schedule(graph, [node_of(graph, value) for value in flat])
    return Program(
        name="derivative",
        inputs=tuple(ProgramPort(n, np.shape(x)) for n, x in function.inputs.items()),
        outputs=tuple(ProgramPort(n, np.shape(x)) for n, x in outputs.items()),
        constants=scheduled.constants,
        instructions=scheduled.instructions,
        results=scheduled.results,
    )


def traced(expression: Callable[[Any], list[Any]], more: tuple[int, ...]) -> Function:
    return Function.trace(lambda given: {"y": expression(given["x"])}, {"x": (3,), "more": more})


def slopes_forward(expression: Callable[[Any], list[Any]]) -> Any:
    function = traced(expression, (3,))
    change = program_of(function, function.jvp({"x": function.inputs["more"]}))
    units = np.eye(3)[:, None] + np.zeros((1, len(X), 1))
    return np.stack([change.evaluate({"x": X, "more": u})["y"] for u in units], axis=2)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_forward_mode_is_the_slope(name: str) -> None:
    expression = EXPRESSIONS[name]
    function = traced(expression, ())
    values = program_of(function, function.outputs)
    step = 1e-6

    def moved(k: int, size: float) -> Any:
        return values.evaluate({"x": X + size * np.eye(3)[k], "more": np.zeros(len(X))})["y"]

    expected = np.stack([(moved(k, step) - moved(k, -step)) / (2 * step) for k in range(3)], axis=2)
    np.testing.assert_allclose(slopes_forward(expression), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_reverse_mode_is_forward_mode(name: str) -> None:
    expression = EXPRESSIONS[name]
    count = len(expression([1.0, 1.0, 1.0]))
    function = traced(expression, (count,))
    back = program_of(function, function.vjp({"y": function.inputs["more"]}, ["x"]))
    units = np.eye(count)[:, None] + np.zeros((1, len(X), 1))
    actual = np.stack([back.evaluate({"x": X, "more": u})["x"] for u in units], axis=1)
    np.testing.assert_allclose(actual, slopes_forward(expression), rtol=1e-13, atol=1e-14)


def test_every_operation_is_differentiated() -> None:
    assert {"sqrt", "sin", "cos", "atan2", "minimum", "maximum", "absolute", "sign"} == set(
        SYMBOLIC
    )


def test_where_there_is_no_slope() -> None:
    """|x| has slope 0 at 0; of two equal values each has half."""
    function = traced(
        lambda x: [scalar.absolute(x[0]), scalar.maximum(x[1], x[2]), scalar.minimum(x[1], x[2])],
        (3,),
    )
    back = program_of(function, function.vjp({"y": function.inputs["more"]}, ["x"]))
    got = back.evaluate({"x": np.array([[0.0, 2.0, 2.0]]), "more": np.array([[1.0, 3.0, 5.0]])})
    np.testing.assert_array_equal(got["x"], [[0.0, 4.0, 4.0]])


def test_replay_over_equal_inputs_keeps_them_apart() -> None:
    """∂(x - y) is not 0 where a caller gives one value for both."""
    function = Function.trace(
        lambda given: {"z": given["x"] - given["y"]}, {"x": (), "y": (), "dx": ()}
    )
    change = function.jvp({"x": function.inputs["dx"]})
    assert function.replay(change, {"x": 2.0, "y": 2.0, "dx": 3.0}) == {"z": 3.0}
    assert function.replay(function.outputs, {"x": 2.0, "y": 2.0, "dx": 3.0}) == {"z": 0.0}
