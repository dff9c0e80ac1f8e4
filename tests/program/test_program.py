"""A program: its order, its counts, its text, its evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grid_core.program.ops import BINARY, TRIGONOMETRIC, UNARY, Op
from grid_core.program.program import Counts, ProgramPort
from grid_core.program.scalar import Scalar, cos, sin, sqrt
from tests.program.expressions import names, program_of
from tests.program.operations import traced
from tests.support.random_trees import random_urdf
from tests.support.robots import HAND_MADE, Robot

if TYPE_CHECKING:
    from grid_core.program.program import Program


def norm(v: Any, k: Any) -> dict[str, Any]:
    length = sqrt(v[0] * v[0] + v[1] * v[1] + 0.25)
    unused = sin(v[0]) * 7.0
    assert isinstance(unused, Scalar)
    return {"unit": [k * v[0] / length, v[1] / length], "angle": cos(v[1]) - v[0]}


@pytest.fixture(scope="module")
def program() -> Program:
    return program_of(norm, uniform=("k",), v=(2,), k=())


def test_unused_values_and_their_constants_are_dropped(program: Program) -> None:
    assert Op.SIN not in {op for op, _, _ in program.instructions}
    assert program.constants == (0.25,)


def test_every_input_keeps_its_place_even_unused() -> None:
    program = program_of(lambda a, b: {"y": b[:1]}, a=(3,), b=(2,))
    assert (program.num_inputs, program.instructions, program.results) == (5, (), (3,))


def test_counts(program: Program) -> None:
    # mul mul add add sqrt mul div div cos sub; the first sum takes one of its products in.
    assert program.counts == Counts(
        operations=10, fused=9, live=program.counts.live, trigonometric=1, divisions=2
    )


def test_the_most_values_alive_at_once() -> None:
    chain = program_of(lambda x: {"y": [((x[0] + x[1]) * x[2]) + x[3]]}, x=(4,))
    # The first sum needs both operands and makes one; each later step reads one input more.
    assert chain.counts.live == 3
    squares = program_of(lambda x: {"y": [x[0] * x[0], x[1] * x[1], x[2] * x[2]]}, x=(3,))
    assert squares.counts.live == 4  # two results, one operand and its square
    assert program_of(lambda x: {"y": [x[0]]}, x=(2,)).counts.live == 0


def test_negations_are_not_counted() -> None:
    program = program_of(lambda x: {"y": [-x[0], -(x[0] * x[1])]}, x=(2,))
    assert names(program).count("NEG") == 2
    assert program.counts.operations == 1


def test_a_product_that_two_sums_read_is_not_fused() -> None:
    program = program_of(
        lambda x: {"y": [x[0] * x[1] + x[2], x[0] * x[1] - x[3], x[2] * x[3] + x[0]]}, x=(4,)
    )
    assert (program.counts.operations, program.counts.fused) == (5, 4)


def test_the_text() -> None:
    program = program_of(
        lambda v, k: {"y": [sin(v[0]) / k, -v[1] * 0.5], "M": [[abs(v[0] - k), 1.0]], "z": v[0]},
        uniform=("k",),
        v=(2,),
        k=(),
    )
    first, *lines = program.format().splitlines()
    assert first == f"# synthetic: {program.counts}"
    # The order of independent instructions is the schedule's business, the words are not.
    texts = sorted(line.partition(" = ")[2] for line in lines[:-5])
    t = {text: name for name, text in (line.split(" = ") for line in lines[:-5])}
    difference, product, sine = t["v[0] - k"], t["v[1] * 0.5"], t["sin(v[0])"]
    assert texts == sorted(
        ["v[0] - k", "v[1] * 0.5", "sin(v[0])", f"{sine} / k", f"-{product}", f"abs({difference})"]
    )
    assert lines[-5:] == [
        f"y[0] = {t[f'{sine} / k']}",
        f"y[1] = {t[f'-{product}']}",
        f"M[0, 0] = {t[f'abs({difference})']}",
        "M[0, 1] = 1.0",
        "z = v[0]",
    ]
    assert program.value_names()[:5] == ["v[0]", "v[1]", "k", "0.5", "1.0"]


def test_every_operation_has_a_text_and_an_arity() -> None:
    assert {op for op in Op if op > Op.CONST} == UNARY | BINARY
    assert TRIGONOMETRIC <= UNARY
    program = program_of(lambda x: {"y": [x[0] / x[1], x[0] * x[1]]}, x=(2,))
    assert "x[0] / x[1]" in program.format()


def test_evaluation_takes_every_shape(program: Program) -> None:
    v = np.random.default_rng(0).normal(size=(5, 2))
    for batch in (0, 1, 5):
        got = program.evaluate({"v": v[:batch].tolist() if batch else v[:0], "k": 2})
        assert got["unit"].shape == (batch, 2)
        assert got["angle"].shape == (batch,)
        for row in range(batch):
            x, y = v[row]
            length = np.sqrt(x * x + y * y + 0.25)
            np.testing.assert_allclose(got["unit"][row], [2 * x / length, y / length], rtol=1e-15)
            np.testing.assert_allclose(got["angle"][row], np.cos(y) - x, rtol=1e-15)


def test_a_port_counts_its_scalars() -> None:
    assert [ProgramPort("p", d).size for d in ((), (3,), (2, 3), (0,), (4, 0))] == [1, 3, 6, 0, 0]


def check_order(program: Program) -> None:
    """Operands come before their readers, nothing is dead, counts are as by definition."""
    base = program.first_instruction
    for index, (op, a, b) in enumerate(program.instructions):
        assert 0 <= a < base + index
        assert (0 <= b < base + index) if op in BINARY else b == -1
    total = base + len(program.instructions)
    assert all(0 <= r < total for r in program.results)
    last = program.last_uses()
    assert all(last[base + k] > k for k in range(len(program.instructions)))
    assert all(last[k] >= 0 for k in range(program.num_inputs, base))
    assert program.counts.live == _live_by_definition(program, last)
    assert sum(p.size for p in program.outputs) == len(program.results)


def _live_by_definition(program: Program, last: list[int]) -> int:
    base, count = program.first_instruction, len(program.instructions)
    first: dict[int, int] = {base + k: k for k in range(count)}
    for index, (_, a, b) in enumerate(program.instructions):
        for value in (a, b):
            if 0 <= value < program.num_inputs:
                first.setdefault(value, index)
    alive = [0] * (count + 1)
    for value, begin in first.items():
        alive[begin] += 1
        if last[value] < count:
            alive[last[value] + 1] -= 1
    return int(max(np.cumsum(alive)[:count], default=0))


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_random_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def function(x: Any) -> dict[str, Any]:
        values = list(x)
        for _ in range(rng.integers(0, 60)):
            i, j = rng.integers(0, len(values), 2)
            values.append([values[i] + values[j], values[i] * values[j], sin(values[i])][j % 3])
        return {"y": [values[k] for k in rng.integers(0, len(values), rng.integers(0, 9))]}

    program = program_of(function, x=(5,))
    check_order(program)


ORDERED = [*HAND_MADE.values(), Robot("tree", text=random_urdf(3, 14, mimic=0.2))]


@pytest.mark.parametrize("robot", ORDERED, ids=lambda r: r.name)
@pytest.mark.parametrize("name", ["inverse_dynamics", "crba", "forward_dynamics", "aba", "minv"])
def test_the_order_of_algorithms(robot: Robot, name: str) -> None:
    program = traced(robot.load(floating_base=True), name)
    check_order(program)


def test_ordering_keeps_fewer_values_alive() -> None:
    """Sums of independent products, traced all products first, need not keep them all."""

    def function(x: Any) -> dict[str, Any]:
        products = [sin(v) * v for v in x]
        total = products[0]
        for product in products[1:]:
            total = total + product
        return {"y": [total]}

    assert program_of(function, x=(40,)).counts.live <= 5
