"""Derivatives of the dynamics of every robot against Pinocchio's, in double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.program.operations import traced
from tests.support.compare import assert_slopes_close, regular
from tests.support.evaluate import Reference
from tests.support.pinocchio_oracle import PinocchioOracle
from tests.support.random_trees import random_urdf
from tests.support.robots import HAND_MADE, Robot, example, example_params
from tests.support.states import random_state

if TYPE_CHECKING:
    from grid_core.model.types import Array

EPS = float(np.finfo(np.float64).eps)
SMALL = 10
"""Width of v from which on programs are traced with f_ext alone."""
TREES = [
    *(Robot(f"tree_{n}", text=random_urdf(n, n)) for n in (1, 3, 8, 12)),
    *(Robot(f"mimic_{n}", text=random_urdf(40 + n, n, mimic=0.4)) for n in (4, 9)),
]
each_base = pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])


def check_inverse(actual: Array, expected: Array, M: Array) -> None:
    assert_slopes_close(actual, expected, M, -0.5)


def check_forward(actual: Array, expected: Array, M: Array) -> None:
    """Twice over M⁻¹: q̈ is lost to ε κ already, and is differentiated at."""
    assert_slopes_close(actual, expected, M, 0.5, lost=1000.0 * EPS)


@pytest.mark.parametrize("robot", example_params())
@each_base
def test_references_of_real_robots(robot: Robot, floating: bool) -> None:
    model = robot.load(floating_base=floating)
    oracle = PinocchioOracle.from_urdf(model, robot.source())
    if not oracle.same_coordinates:
        pytest.skip("Pinocchio has other coordinates")
    grid, s = Reference(model), random_state(model, seed=len(robot.name))
    M = oracle.mass_matrix(s.q)
    motion, forced = {"q": s.q, "qd": s.qd}, regular(M)
    for f_ext in (None, s.f_ext):
        expected = oracle.inverse_dynamics_gradient(s.q, s.qd, s.qdd, f_ext)
        actual = grid("inverse_dynamics_gradient", **motion, qdd=s.qdd, f_ext=f_ext)
        check_inverse(actual, expected, M)
        if forced:
            expected = oracle.forward_dynamics_gradient(s.q, s.qd, s.u, f_ext)
            actual = grid("forward_dynamics_gradient", **motion, u=s.u, f_ext=f_ext)
            check_forward(actual, expected, M)


@pytest.mark.parametrize(
    ("name", "floating"),
    [
        ("panda-panda", False),
        ("ur-ur5_robot", False),
        ("go2-go2", True),
        ("so_arm-so101", True),
        ("double_pendulum-double_pendulum", True),
    ],
)
def test_programs_of_real_robots(name: str, floating: bool) -> None:
    robot = example(name)
    model = robot.load(floating_base=floating)
    oracle = PinocchioOracle.from_urdf(model, robot.source())
    check_programs(robot, oracle)


@pytest.mark.parametrize("name", ["g1-g1_29dof_rev_1_0", "talos_data-talos_reduced"])
def test_inverse_dynamics_of_humanoids(name: str) -> None:
    robot = example(name)
    model = robot.load(floating_base=True)
    oracle, s = PinocchioOracle.from_urdf(model, robot.source()), random_state(model)
    program = traced(model, "inverse_dynamics_gradient", ["qdd", "f_ext"])
    motion = {"q": s.q, "qd": s.qd, "qdd": s.qdd, "f_ext": s.f_ext}
    actual = program.evaluate({**motion, "gravity": -9.81})["dtau"]
    check_inverse(actual, oracle.inverse_dynamics_gradient(**motion), oracle.mass_matrix(s.q))


@pytest.mark.parametrize("robot", [pytest.param(t, id=t.name) for t in TREES])
@each_base
def test_random_trees(robot: Robot, floating: bool) -> None:
    oracle = PinocchioOracle.from_records(robot.load(floating_base=floating))
    check_programs(robot, oracle)


@pytest.mark.parametrize("name", list(HAND_MADE))
@each_base
def test_hand_made_robots(name: str, floating: bool) -> None:
    """Planar and inner floating joints too: ours are rows of simple ones, built as such."""
    robot = HAND_MADE[name]
    model = robot.load(floating_base=floating)
    if model.nv:
        check_programs(robot, PinocchioOracle.from_records(model))


def check_programs(robot: Robot, oracle: PinocchioOracle) -> None:
    """Both gradients, by program and by reference, with f_ext and without."""
    model = oracle.model
    grid, s = Reference(model), random_state(model, seed=len(robot.name))
    M = oracle.mass_matrix(s.q)
    for present in ((), ("f_ext",)) if model.nv < SMALL else (("f_ext",),):
        given = {"f_ext": s.f_ext} if present else {}
        motion = {"q": s.q, "qd": s.qd, **given}
        expected = oracle.inverse_dynamics_gradient(qdd=s.qdd, **motion)
        program = traced(model, "inverse_dynamics_gradient", ["qdd", *present])
        inputs = {**motion, "qdd": s.qdd, "gravity": -9.81}
        check_inverse(program.evaluate(inputs)["dtau"], expected, M)
        check_inverse(grid("inverse_dynamics_gradient", **inputs), expected, M)
        expected = oracle.forward_dynamics_gradient(u=s.u, **motion)
        program = traced(model, "forward_dynamics_gradient", present)
        inputs = {**motion, "u": s.u, "gravity": -9.81}
        check_forward(program.evaluate(inputs)["dqdd"], expected, M)
        check_forward(grid("forward_dynamics_gradient", **inputs), expected, M)
