"""Gradients as compiled and as called: single precision, and M⁻¹ on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import grid_core
from grid_backend_cpu.compiler import host
from grid_core.assets import asset_path
from grid_core.errors import ArgumentError, HandleClosed
from tests.cpu.kernels import Compiled
from tests.program.operations import traced
from tests.support.compare import assert_slopes_close
from tests.support.evaluate import Reference
from tests.support.robots import HAND_MADE, Robot, example
from tests.support.states import random_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grid_core.handle import RobotHandle
    from grid_core.model.types import RobotModel

EPS = float(np.finfo(np.float32).eps)


def models() -> list[tuple[str, bool]]:
    return [("iiwa14", False), ("go2", True), ("helical", True), ("panda-panda", False)]


def load(name: str, floating: bool) -> RobotModel:
    if name in HAND_MADE:
        return HAND_MADE[name].load(floating_base=floating)
    robot = example(name) if "-" in name else Robot(name, path=asset_path(name))
    return robot.load(floating_base=floating)


@pytest.mark.parametrize(("name", "floating"), models())
def test_single_precision(name: str, floating: bool) -> None:
    """Measured in NumPy on seven robots: within 1e-6, and within 1.1 ε κ after M⁻¹."""
    model = load(name, floating)
    s = random_state(model, batch=64)
    q, qd, qdd, u = (x.astype(np.float32).astype(float) for x in (s.q, s.qd, s.qdd, s.u))
    M = Reference(model)("crba", q=q)
    for operation, present, given, power, lost in (
        ("inverse_dynamics_gradient", ["qdd"], {"qdd": qdd}, -0.5, 0.0),
        ("forward_dynamics_gradient", [], {"u": u}, 0.5, 10.0 * EPS),
    ):
        program = traced(model, operation, present)
        inputs = {"q": q, "qd": qd, "gravity": float(np.float32(-9.81)), **given}
        (got,) = Compiled(program, host().lanes("float32"))(64, inputs).values()
        (expected,) = program.evaluate(inputs).values()
        assert_slopes_close(
            got.astype(float), expected, M, power, 1e-5, lost=lost, noise=10.0 * EPS
        )


@pytest.fixture(scope="module")
def arm() -> Iterator[RobotHandle]:
    wanted = ["forward_dynamics_gradient", "minv"]
    robot = grid_core.load_robot(asset_path("iiwa14"), dtype="float64", algorithm_list=wanted)
    yield robot
    robot.close()


def test_minv_comes_along_on_request(arm: RobotHandle) -> None:
    s = random_state(arm.model, batch=5)
    alone = arm.forward_dynamics_gradient(s.q, s.qd, s.u)
    dqdd, Minv = both = arm.forward_dynamics_gradient(s.q, s.qd, s.u, return_minv=True)
    assert (both.dqdd is dqdd, both.Minv is Minv) == (True, True)
    np.testing.assert_allclose(dqdd, alone, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(Minv, arm.minv(s.q), rtol=1e-12)
    heavy = arm.forward_dynamics_gradient(s.q, s.qd, s.u, s.f_ext, gravity=-20.0)
    again, _ = arm.forward_dynamics_gradient(
        s.q, s.qd, s.u, s.f_ext, gravity=-20.0, return_minv=True
    )
    np.testing.assert_allclose(again, heavy, rtol=1e-12, atol=1e-12)
    assert np.abs(heavy - alone).max() > 0.1


def test_one_problem_and_given_arrays(arm: RobotHandle) -> None:
    s = random_state(arm.model, batch=3)
    out = np.empty((3, 7, 14)), np.empty((3, 7, 7))
    arm.forward_dynamics_gradient(s.q, s.qd, s.u, return_minv=True, out=out)
    one, Minv = arm.forward_dynamics_gradient(s.q[1], s.qd[1], s.u[1], return_minv=True)
    np.testing.assert_allclose(one, out[0][1], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(Minv, out[1][1], rtol=1e-12)
    with pytest.raises(ArgumentError, match="forward_dynamics_gradient"):
        arm.forward_dynamics_gradient(s.q, s.qd, None, return_minv=True)


def test_a_closed_handle_says_so() -> None:
    robot = grid_core.load_robot(
        asset_path("iiwa14"), dtype="float64", algorithm_list="forward_dynamics_gradient"
    )
    s = random_state(robot.model, batch=1)
    call = robot.forward_dynamics_gradient
    call(s.q, s.qd, s.u, return_minv=True)
    robot.close()
    for flag in (False, True):
        with pytest.raises(HandleClosed):
            call(s.q, s.qd, s.u, return_minv=flag)
