"""Random expressions: the traced program against the same operators without any folding."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grid_core.program.ops import Op
from grid_core.program.scalar import Scalar
from tests.program.expressions import NUMERIC, SYMBOLIC, program_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_core.program.program import Program

NUM_INPUTS = 4
CONSTANTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.25, 3.0, -1.5)
TWO = ("minimum", "maximum", "atan2")
RATIONAL = ("+", "-", "*", "/", "neg", "pos", "abs", "sign", "square", "minimum", "maximum")
ALL = (*RATIONAL, "sin", "cos", "sqrt", "atan2")

Step = tuple[str, int, int]


def plans(operators: tuple[str, ...]) -> st.SearchStrategy[list[Step]]:
    """Each step applies an operator to two earlier values, counted back from the last."""
    place = st.integers(0, 20)
    return st.lists(st.tuples(st.sampled_from(operators), place, place), min_size=1, max_size=24)


def operands(values: list[Any], step: Step) -> tuple[Any, Any]:
    return values[-1 - step[1] % len(values)], values[-1 - step[2] % len(values)]


def apply(values: list[Any], step: Step, functions: dict[str, Any]) -> Any:
    """Return the step's value, by the operators of whatever the values are."""
    a, b = operands(values, step)
    match step[0]:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return a / b
        case "neg":
            return -a
        case "pos":
            return +a
        case "abs":
            return abs(a)
        case "square":
            return a**2
        case "sqrt":
            return functions["sqrt"](abs(a))
        case operator:
            return functions[operator](a, b) if operator in TWO else functions[operator](a)


def trace_beside(
    plan: list[Step],
    start: list[Any],
    functions: dict[str, Any],
    divides: Callable[[Any, Any], bool],
    keeps: Callable[[Any, Any], bool],
) -> tuple[Program, list[Any]]:
    """Trace the steps, and apply them to the oracle's numbers too.

    Args:
        plan: the steps.
        start: the oracle's inputs and constants.
        functions: the oracle's functions.
        divides: whether to divide by a value, given it and its symbolic twin.
        keeps: whether to keep a result, given it and its symbolic twin.
    """
    numbers = list(start)

    def function(x: Any) -> dict[str, Any]:
        values = [*x, *CONSTANTS]
        for step in plan:
            divisors = operands(numbers, step)[1], operands(values, step)[1]
            if step[0] == "/" and not divides(*divisors):
                continue
            number, value = apply(numbers, step, functions), apply(values, step, SYMBOLIC)
            if keeps(number, value):
                numbers.append(number)
                values.append(value)
        return {"y": values}

    return program_of(function, x=(NUM_INPUTS,)), numbers


def exact_sign(x: Fraction) -> Fraction:
    return Fraction((x > 0) - (x < 0))


EXACT: dict[Op, Callable[..., Fraction]] = {
    Op.NEG: lambda a: -a,
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.ABS: abs,
    Op.SIGN: exact_sign,
    Op.MIN: min,
    Op.MAX: max,
}


def run_exactly(program: Program, x: list[Fraction]) -> list[Fraction]:
    values = [*x, *map(Fraction, program.constants)]
    for op, a, b in program.instructions:
        values.append(EXACT[op](*(values[k] for k in (a, b) if k >= 0)))
    return [values[r] for r in program.results]


def floats_hold(number: Fraction, value: Any) -> bool:
    """Whether products of a few dozen such constants still fit into a float exactly."""
    if isinstance(value, Scalar):
        return number != 0 and Fraction(1, 2**20) < abs(number) < 2**20
    odd = abs(number.numerator)
    while odd and odd % 2 == 0:
        odd //= 2
    return odd <= 3 and abs(number) < 2**20 and number.denominator < 2**20


def inverts_exactly(number: Fraction, value: Any) -> bool:
    power_of_two = number.numerator.bit_count() == 1 and number.denominator.bit_count() == 1
    return number != 0 and (isinstance(value, Scalar) or power_of_two)


@given(plans(RATIONAL), st.lists(st.integers(-9, 9).filter(bool), min_size=4, max_size=4))
def test_rational_arithmetic_is_exactly_the_same(plan: list[Step], given_x: list[int]) -> None:
    """In exact arithmetic, with constants that floats hold exactly, folding changes nothing."""
    x = [Fraction(k) for k in given_x]
    start = [*x, *map(Fraction, CONSTANTS)]
    functions = {"sign": exact_sign, "minimum": min, "maximum": max}
    program, numbers = trace_beside(plan, start, functions, inverts_exactly, floats_hold)
    assert run_exactly(program, x) == numbers


class Bounded:
    """NumPy values with a bound on what rounding may have done to them."""

    EPS = 1e-15

    def __init__(self, value: Any, error: Any) -> None:
        self.value = np.asarray(value, dtype=float)
        self.error = np.asarray(error + self.EPS * np.abs(self.value))

    def __add__(self, o: Bounded) -> Bounded:
        return Bounded(self.value + o.value, self.error + o.error)

    def __sub__(self, o: Bounded) -> Bounded:
        return Bounded(self.value - o.value, self.error + o.error)

    def __mul__(self, o: Bounded) -> Bounded:
        spread = np.abs(self.value) * o.error + np.abs(o.value) * self.error
        return Bounded(self.value * o.value, spread + self.error * o.error)

    def __truediv__(self, o: Bounded) -> Bounded:
        value = self.value / o.value
        spread = self.error + np.abs(value) * o.error
        return Bounded(value, spread / (np.abs(o.value) - o.error))

    def __neg__(self) -> Bounded:
        return Bounded(-self.value, self.error)

    def __pos__(self) -> Bounded:
        return self

    def __abs__(self) -> Bounded:
        return Bounded(np.abs(self.value), self.error)

    def __pow__(self, _: int) -> Bounded:
        return self * self


def bounded_angle(y: Bounded, x: Bounded) -> Bounded:
    """Any angle, where the point may be anywhere or on either side of the cut."""
    radius = np.maximum(np.hypot(x.value, y.value), 1e-300)
    cut = (np.abs(y.value) <= y.error) & (x.value <= x.error)
    spread = np.where(cut, 7.0, np.minimum((x.error + y.error) / radius, 7.0))
    return Bounded(np.arctan2(y.value, x.value), spread)


BOUNDED: dict[str, Callable[..., Bounded]] = {
    "sin": lambda a: Bounded(np.sin(a.value), a.error),
    "cos": lambda a: Bounded(np.cos(a.value), a.error),
    "sqrt": lambda a: Bounded(np.sqrt(a.value), np.sqrt(a.error)),
    "sign": lambda a: Bounded(np.sign(a.value), 2.0 * (np.abs(a.value) <= a.error)),
    "atan2": bounded_angle,
    "minimum": lambda a, b: Bounded(np.minimum(a.value, b.value), np.maximum(a.error, b.error)),
    "maximum": lambda a, b: Bounded(np.maximum(a.value, b.value), np.maximum(a.error, b.error)),
}


@given(plans(ALL), st.integers(0, 2**32 - 1))
def test_the_program_agrees_with_numpy(plan: list[Step], seed: int) -> None:
    """Every operator, on random numbers, within what rounding explains."""
    x = np.random.default_rng(seed).uniform(-2.0, 2.0, size=(3, NUM_INPUTS))
    start = [Bounded(column, 0.0) for column in x.T]
    start += [Bounded(np.full(3, c), 0.0) for c in CONSTANTS]
    program, numbers = trace_beside(
        plan,
        start,
        BOUNDED,
        lambda number, _: bool(np.all(np.abs(number.value) > 1e3 * number.error)),
        lambda number, _: bool(np.all(np.abs(number.value) < 1e6)),
    )
    got = program.evaluate({"x": x})["y"]
    for k, expected in enumerate(numbers):
        assert np.all(np.abs(got[:, k] - expected.value) <= 4.0 * expected.error)


@given(plans(ALL))
def test_writing_it_twice_costs_nothing(plan: list[Step]) -> None:
    """Every value is in a program once, whatever wrote it."""

    def function(x: Any, times: int) -> dict[str, Any]:
        outputs: list[Any] = []
        for _ in range(times):
            values = [*x, *CONSTANTS]
            for step in plan:
                if step[0] != "/" or isinstance(operands(values, step)[1], Scalar):
                    result = apply(values, step, SYMBOLIC)
                    if isinstance(result, Scalar) or abs(result) < 1e6:
                        values.append(result)
            outputs += values
        return {"y": outputs}

    once, twice = (program_of(lambda x, n=n: function(x, n), x=(NUM_INPUTS,)) for n in (1, 2))
    assert len(twice.instructions) == len(once.instructions)
    half = len(twice.results) // 2
    assert twice.results[:half] == twice.results[half:]


def test_the_oracles_cover_every_function() -> None:
    assert set(BOUNDED) | {"absolute"} == set(NUMERIC) == set(SYMBOLIC)
