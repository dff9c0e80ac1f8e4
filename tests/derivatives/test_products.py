"""Products with derivatives: of dynamics against the matrices, of made-up algorithms alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_core import contract
from grid_core.algorithm import Options, Port
from grid_core.assets import asset_path
from grid_core.errors import ContractError
from grid_core.evaluation import evaluate_reference
from grid_core.model import integrate
from grid_core.program.kinematics import WorldTree
from grid_core.program.products import jvp_of, vjp_of
from grid_core.program.tree import KinematicTree
from grid_core.testing import check_algorithm
from tests.program.operations import made_up, traced
from tests.support.compare import assert_slopes_close
from tests.support.evaluate import ALGORITHMS, Reference
from tests.support.robots import HAND_MADE, Robot
from tests.support.states import random_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.algorithm import Context
    from grid_core.model.types import Array, RobotModel

ARM, DOG = (Robot(name, path=asset_path(name)) for name in ("iiwa14", "go2"))
ROBOTS = [
    pytest.param(robot, floating, id=f"{robot.name}-{'floating' if floating else 'fixed'}")
    for robot, floating in [
        (ARM, False),
        (DOG, True),
        *((HAND_MADE[n], True) for n in ("spherical", "helical", "mimic_chain", "dissipative")),
    ]
]
FAMILIES = {"inverse_dynamics": ("tau", "qdd"), "forward_dynamics": ("qdd", "u")}
OPTIONS: dict[str, Any] = {"use_joint_dynamics": True}


def matrices(model: RobotModel, name: str, motion: Mapping[str, Any]) -> Array:
    """Return [∂/∂q | ∂/∂q̇ | ∂/∂q̈ or u] by the analytic programs, (B, nv, 3 nv)."""
    (gradient,) = run(model, f"{name}_gradient", motion).values()
    last = "crba" if name == "inverse_dynamics" else "minv"
    (third,) = run(model, last, {"q": motion["q"]}).values()
    return np.concatenate([gradient, third], axis=2)


def run(model: RobotModel, name: str, inputs: Mapping[str, Any]) -> dict[str, Array]:
    algorithm = ALGORITHMS[name]
    present = [p.name for p in algorithm.inputs if p.optional and p.name in inputs]
    return traced(model, algorithm, present, **OPTIONS).evaluate({"gravity": -9.7, **inputs})


def motion_of(model: RobotModel, name: str, batch: int = 3) -> dict[str, Array]:
    s = random_state(model, 7, batch)
    last = FAMILIES[name][1]
    return {"q": s.q, "qd": s.qd, last: getattr(s, last), "f_ext": s.f_ext}


def assert_near(actual: Array, expected: Array, size: Array) -> None:
    """Against the product of sizes: what cancels leaves its rounding behind."""
    assert actual.shape == expected.shape
    assert np.all(np.abs(actual - expected) <= 1e-10 * size.max(axis=1, keepdims=True))


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize(("robot", "floating"), ROBOTS)
def test_products_with_the_matrices(robot: Robot, floating: bool, name: str) -> None:
    model = robot.load(floating_base=floating)
    motion, (out, last) = motion_of(model, name), FAMILIES[name]
    X = matrices(model, name, motion)
    rng = np.random.default_rng(1)
    directions = {f"d{p}": rng.normal(size=(3, model.nv)) for p in ("q", "qd", last)}
    d = np.concatenate(list(directions.values()), axis=1)
    for evaluate in (run, by_reference):
        change = evaluate(model, f"{name}_jvp", {**motion, **directions})[f"d{out}"]
        assert_near(change, np.einsum("bij,bj->bi", X, d), np.abs(X) @ np.abs(d)[..., None])
    weights = rng.normal(size=(3, model.nv))
    for evaluate in (run, by_reference):
        bars = evaluate(model, f"{name}_vjp", {**motion, f"{out}_bar": weights})
        got = np.concatenate([bars[f"{p}_bar"] for p in ("q", "qd", last)], axis=1)
        size = np.abs(weights)[:, None] @ np.abs(X)
        assert_near(got, np.einsum("bi,bij->bj", weights, X), size.swapaxes(1, 2))


def by_reference(model: RobotModel, name: str, inputs: Mapping[str, Any]) -> dict[str, Array]:
    given = {"gravity": -9.7, **inputs}
    return evaluate_reference(ALGORITHMS[name], ALGORITHMS, model, Options(**OPTIONS), given)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_analytic_gradient_is_the_programs_own_derivative(name: str) -> None:
    """Column by column in forward mode, on a floating quadruped."""
    model = DOG.load(floating_base=True)
    motion, (out, last) = motion_of(model, name, batch=1), FAMILIES[name]
    algorithm = ALGORITHMS[f"{name}_jvp"]
    program = traced(model, algorithm, ["f_ext"], **OPTIONS)
    width = 2 * model.nv
    states = {k: np.repeat(v, width, axis=0) for k, v in motion.items()}
    dq, dqd = np.split(np.eye(width), 2, axis=1)
    directions = {"dq": dq, "dqd": dqd, f"d{last}": np.zeros_like(dq)}
    columns = program.evaluate({**states, **directions, "gravity": -9.7})[f"d{out}"]
    (expected,) = run(model, f"{name}_gradient", motion).values()
    M = Reference(model)("crba", q=motion["q"])
    power = -0.5 if name == "inverse_dynamics" else 0.5
    assert_slopes_close(columns.T[None], expected, M, power, 1e-11)


def test_forward_dynamics_own_products_are_the_general_ones() -> None:
    """Through M's factors in forward and reverse mode, or once over inverse dynamics."""
    model = HAND_MADE["spherical"].load(floating_base=True)
    motion, wrt = motion_of(model, "forward_dynamics"), ("q", "qd", "u")
    given = {**motion, "gravity": -9.7}
    for port in ("dq", "dqd", "du", "qdd_bar"):
        given[port] = np.random.default_rng(4).normal(size=motion["qd"].shape)
    for make, name in ((jvp_of, "forward_dynamics_jvp"), (vjp_of, "forward_dynamics_vjp")):
        general = traced(model, make(ALGORITHMS["forward_dynamics"], wrt=wrt), ["f_ext"])
        own = traced(model, name, ["f_ext"])
        assert own.counts.fused < general.counts.fused
        for port, value in general.evaluate(given).items():
            np.testing.assert_allclose(own.evaluate(given)[port], value, rtol=1e-9, atol=1e-9)


def test_reverse_mode_costs_a_few_times_the_operation() -> None:
    model = ARM.load()
    once = traced(model, "inverse_dynamics", ["qdd"]).counts.fused
    assert traced(model, "inverse_dynamics_vjp").counts.fused < 4 * once
    assert traced(model, "inverse_dynamics_jvp").counts.fused < 4 * once
    assert traced(model, "inverse_dynamics_gradient", ["qdd"]).counts.fused < 5 * once


def _positions(ctx: Context[Any]) -> dict[str, Any]:
    world = WorldTree(KinematicTree.of(ctx.model, regroup=False), ctx["q"], world_base=False)
    pose = world.attached(ctx.model.nb - 1, np.eye(4))
    scale = ctx["scale"] if ctx.get("shift") is None else ctx["scale"] + ctx["shift"][0]
    return {"p": [x * scale for x in pose.p], "R": [list(row) for row in pose.rows]}


POSITIONS = made_up(
    _positions,
    name="last_pose",
    inputs=(
        Port(name="q", shape=("nq",), doc="configuration"),
        Port(name="shift", shape=(1,), doc="more", optional=True),
        Port(name="scale", shape=(), doc="factor", uniform=True, default=1.0),
    ),
    outputs=(Port(name="p", shape=(3,), doc="p"), Port(name="R", shape=(3, 3), doc="R")),
)


@pytest.mark.parametrize("name", ["spherical", "inner_floating", "helical"])
def test_any_algorithm_along_the_manifold(name: str) -> None:
    """Two outputs, an optional input and a uniform one; no reference of the derivatives."""
    model = HAND_MADE[name].load(floating_base=True)
    s = random_state(model, 5)
    rng = np.random.default_rng(2)
    inputs = {"q": s.q, "shift": rng.normal(size=(2, 1)), "scale": 1.7}
    dq, dshift, step = rng.normal(size=(2, model.nv)), rng.normal(size=(2, 1)), 1e-6
    values = traced(model, POSITIONS, ["shift"])

    def moved(size: float) -> dict[str, Array]:
        q = integrate(model, s.q, size * dq)
        return values.evaluate({**inputs, "q": q, "shift": inputs["shift"] + size * dshift})

    jvp, vjp = (make(POSITIONS, wrt=("q", "shift")) for make in (jvp_of, vjp_of))
    for algorithm in (jvp, vjp):
        contract.check_algorithm(algorithm)
    given = {**inputs, "dq": dq, "dshift": dshift}
    change = traced(model, jvp).evaluate(given)
    for port in ("p", "R"):
        slope = (moved(step)[port] - moved(-step)[port]) / (2.0 * step)
        np.testing.assert_allclose(change[f"d{port}"], slope, atol=1e-8)
    weights = {"p_bar": rng.normal(size=(2, 3)), "R_bar": rng.normal(size=(2, 3, 3))}
    back = traced(model, vjp).evaluate({**inputs, **weights})
    forward = sum(
        np.sum((weights[f"{p}_bar"] * change[f"d{p}"]).reshape(2, -1), axis=1) for p in "pR"
    )
    backward = np.sum(back["q_bar"] * dq, axis=1) + np.sum(back["shift_bar"] * dshift, axis=1)
    np.testing.assert_allclose(forward, backward, rtol=1e-12)
    for algorithm, inputs_, program in ((jvp, given, change), (vjp, {**inputs, **weights}, back)):
        reference = evaluate_reference(algorithm, {}, model, Options(), inputs_)
        for port, value in reference.items():
            np.testing.assert_allclose(value, program[port], atol=1e-12)


@pytest.mark.parametrize("name", [f"{n}_{mode}" for n in FAMILIES for mode in ("jvp", "vjp")])
def test_ours_hold_the_contract(name: str) -> None:
    check_algorithm(ALGORITHMS[name], HAND_MADE["helical"].load(floating_base=True))


@pytest.mark.parametrize("make", [jvp_of, vjp_of])
def test_any_holds_the_contract(make: Any) -> None:
    """The empty batch too, without a reference of its own."""
    check_algorithm(make(POSITIONS, wrt=("q",)), HAND_MADE["spherical"].load(floating_base=True))


def test_an_unknown_input_is_named() -> None:
    with pytest.raises(ContractError, match=r"no input 'scale' to differentiate by; .*'q'"):
        jvp_of(POSITIONS, wrt=("scale",))
