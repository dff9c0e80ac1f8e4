"""Tracing an algorithm: what it gets, what it may return, what it may call."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from grid_core.algorithm import Algorithm, Port
from grid_core.errors import ContractError, TraceError
from grid_core.model import load_urdf_string
from grid_core.program.cheapest import cheapest
from grid_core.program.program import ProgramPort
from grid_core.program.scalar import Scalar, cos, sin
from grid_core.program.trace import trace
from grid_core.program.tree import KinematicTree
from tests.program.expressions import names
from tests.program.operations import DYNAMICS, made_up, operation, pendulum, traced
from tests.support import urdf
from tests.support.evaluate import ALGORITHMS

ANGLES = Port(name="q", shape=("nq",), doc="configuration")
WRENCH = Port(name="f_ext", shape=("nb", 6), doc="wrenches", optional=True)
GRAVITY = Port(name="gravity", shape=(), doc="gravity", uniform=True, default=-9.81)


def test_inputs_have_the_shapes_of_their_ports() -> None:
    seen: dict[str, Any] = {}

    def program(ctx: Any) -> dict[str, Any]:
        seen.update(ctx.inputs)
        return {"y": [ctx["q"][0] * ctx["gravity"]]}

    algorithm = made_up(program, inputs=(ANGLES, WRENCH, GRAVITY))
    result = traced(pendulum(), algorithm, ["f_ext"])
    assert (seen["q"].shape, seen["q"].dtype, seen["f_ext"].shape) == ((2,), object, (2, 6))
    assert isinstance(seen["gravity"], Scalar)
    assert result.inputs == (
        ProgramPort("q", (2,)),
        ProgramPort("f_ext", (2, 6)),
        ProgramPort("gravity", (), uniform=True),
    )
    assert result.outputs == (ProgramPort("y", (1,)),)
    assert result.name == "made_up"
    got = result.evaluate({"q": [[2.0, 0.0]], "f_ext": np.zeros((1, 2, 6)), "gravity": 3.0})
    assert got["y"].tolist() == [[6.0]]


def test_an_absent_input_is_none_and_no_port() -> None:
    def program(ctx: Any) -> dict[str, Any]:
        assert ctx.get("f_ext") is None
        with pytest.raises(ContractError, match=r"'f_ext' was not given; use \.get"):
            ctx["f_ext"]
        return {"y": [1.0]}

    result = traced(pendulum(), made_up(program, inputs=(ANGLES, WRENCH)))
    assert [p.name for p in result.inputs] == ["q"]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ({}, r"outputs \['y'\]; it returned \[\]"),
        ({"z": [1.0]}, r"it returned \['z'\]"),
        ({"y": [1.0], "z": [1.0]}, r"it returned \['y', 'z'\]"),
        ([1.0], "it returned list"),
        (None, "it returned NoneType"),
        ({"y": [1.0, 2.0]}, r"'y' must have shape \(1,\); its program returned \(2,\)"),
        ({"y": 1.0}, r"'y' must have shape \(1,\); its program returned \(\)"),
        ({"y": [[1.0]]}, r"returned \(1, 1\)"),
        ({"y": []}, r"returned \(0,\)"),
    ],
)
def test_wrong_outputs_break_the_contract(returned: Any, message: str) -> None:
    with pytest.raises(ContractError, match=f"made_up: .*{message}"):
        traced(pendulum(), made_up(lambda _: returned))


@pytest.mark.parametrize("y", [np.inf, -np.inf, np.nan])
def test_outputs_are_finite(y: float) -> None:
    with pytest.raises(TraceError, match="constant"):
        traced(pendulum(), made_up(lambda _: {"y": [y]}))


def test_a_program_that_branches_is_refused() -> None:
    with pytest.raises(TraceError, match="cannot branch on a run-time value"):
        traced(pendulum(), made_up(lambda ctx: {"y": [1.0 if ctx["q"][0] > 0 else -1.0]}))
    with pytest.raises(TraceError, match="cannot branch on a run-time value"):
        traced(pendulum(), made_up(lambda ctx: {"y": [1.0 if ctx["q"][0] == 0 else -1.0]}))


def test_a_scalar_kept_from_an_earlier_trace_is_refused() -> None:
    kept: list[Any] = []

    def program(ctx: Any) -> dict[str, Any]:
        kept.append(ctx["q"][0])
        return {"y": [kept[0]]}

    traced(pendulum(), made_up(program))
    with pytest.raises(TraceError, match="another trace"):
        traced(pendulum(), made_up(program))


def test_an_empty_output_may_have_any_empty_shape() -> None:
    still = load_urdf_string(urdf.robot("still", urdf.link("base", 1.0)))
    empty = Port(name="M", shape=("nv", "nv"), doc="nothing")
    values: list[Any] = [[], [[]], np.zeros((0, 0))]
    for value in values:
        result = traced(still, made_up(lambda _, v=value: {"M": v}, outputs=(empty,)))
        assert result.evaluate({"q": np.zeros((3, 0))})["M"].shape == (3, 0, 0)


@pytest.mark.parametrize("name", DYNAMICS)
def test_a_robot_without_joints_has_all_of_the_dynamics(name: str) -> None:
    still = load_urdf_string(urdf.robot("still", urdf.link("base", 1.0)))
    program = traced(still, name)
    assert (program.instructions, program.results) == ((), ())


def _calling(call: Any, *needs: str) -> Any:
    def program(ctx: Any) -> dict[str, Any]:
        return {"y": [call(ctx)]}

    return made_up(program, needs=needs)


def test_a_call_outside_needs_breaks_the_contract() -> None:
    algorithm = _calling(lambda ctx: ctx.call("crba", q=ctx["q"]))
    with pytest.raises(ContractError, match="made_up calls 'crba' without naming it"):
        traced(pendulum(), algorithm)


def test_a_call_with_wrong_inputs_breaks_the_contract() -> None:
    for inputs, message in (({"p": 1.0}, r"crba has no input \['p'\]"), ({}, "needs its input")):
        algorithm = _calling(lambda ctx, given=inputs: ctx.call("crba", **given), "crba")
        with pytest.raises(ContractError, match=f"made_up: .*{message}"):
            traced(pendulum(), algorithm)


def test_what_a_called_program_returns_is_checked() -> None:
    wrong = made_up(lambda _: {"y": [1.0, 2.0]}, name="wrong")
    caller = _calling(lambda ctx: ctx.call("wrong", q=ctx["q"])["y"][0], "wrong")
    with pytest.raises(ContractError, match="wrong: output 'y' must have shape"):
        trace(operation(pendulum(), caller, available={"wrong": wrong}))


def test_a_called_program_shares_what_is_already_there() -> None:
    model = pendulum()
    alone = traced(model, "crba")
    algorithm = made_up(
        lambda ctx: {"M": ctx.call("crba", q=ctx["q"])["M"] + ctx.call("crba", q=ctx["q"])["M"]},
        outputs=(Port(name="M", shape=("nv", "nv"), doc="twice"),),
        needs=("crba",),
    )
    together = traced(model, algorithm)
    assert together.counts.operations <= alone.counts.operations + 4
    q = np.random.default_rng(0).normal(size=(3, 2))
    twice = 2.0 * alone.evaluate({"q": q})["M"]
    np.testing.assert_allclose(together.evaluate({"q": q})["M"], twice, rtol=1e-14)


def test_numbers_may_be_given_to_a_called_program() -> None:
    """Whatever kind of number, also where ways are compared by their cost."""
    model = pendulum()
    q = np.random.default_rng(0).normal(size=(3, 2))
    results = []
    for gravity in (-9.81, np.float64(-9.81), np.float32(0), 0, 0.0):
        algorithm = made_up(
            lambda ctx, g=gravity: {
                "y": ctx.call("forward_dynamics", q=ctx["q"], qd=[0.0, 0.0], u=[0, 0], gravity=g)[
                    "qdd"
                ]
            },
            outputs=(Port(name="y", shape=("nv",), doc="acceleration"),),
            needs=("forward_dynamics",),
        )
        results.append(traced(model, algorithm).evaluate({"q": q})["y"])
    np.testing.assert_array_equal(results[0], results[1])
    assert np.abs(results[0]).max() > 1.0
    for still in results[2:]:
        np.testing.assert_array_equal(still, 0.0)


def test_the_cheapest_way_is_taken() -> None:
    def dear(ctx: Any) -> dict[str, Any]:
        return {"y": [1.0 / ctx["q"][0] + sin(ctx["q"][1])]}

    def cheap(ctx: Any) -> dict[str, Any]:
        return {"y": [ctx["q"][0] * ctx["q"][1] + cos(ctx["q"][1])]}

    for ways in ((dear, cheap), (cheap, dear)):
        algorithm = made_up(lambda ctx, w=ways: cheapest(ctx, w))
        assert set(names(traced(pendulum(), algorithm)).split()) == {"MUL", "COS", "ADD"}


def test_tracing_is_repeatable() -> None:
    first, second = (traced(pendulum(), "forward_dynamics") for _ in range(2))
    assert first.instructions == second.instructions
    assert first.constants == second.constants
    assert first.results == second.results


def test_many_threads_may_trace_at_once() -> None:
    models = [pendulum(axis=(1.0, 0.1 * k, 0.0)) for k in range(8)]
    expected = [traced(model, "crba").format() for model in models]

    def work(k: int) -> bool:
        return traced(models[k % 8], "crba").format() == expected[k % 8]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(64)))
    assert KinematicTree.of(models[0], regroup=True).model is models[0]


def test_an_algorithm_is_traced_for_its_own_inputs_only() -> None:
    """Optional inputs double the programs, not the inputs of each."""
    algorithm: Algorithm = ALGORITHMS["inverse_dynamics"]
    sizes = {
        present: [p.name for p in traced(pendulum(), algorithm, present).inputs]
        for present in ((), ("qdd",), ("f_ext",), ("qdd", "f_ext"))
    }
    assert sizes[()] == ["q", "qd", "gravity"]
    assert sizes["qdd", "f_ext"] == ["q", "qd", "qdd", "gravity", "f_ext"]
