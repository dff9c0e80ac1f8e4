"""Batches of every size, robots of no joints, and gravity as an argument."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.reference.kinematics import forward_kinematics
from tests.support.compare import assert_close
from tests.support.evaluate import Reference
from tests.support.robots import HAND_MADE, Robot, hand_made_params
from tests.support.states import State, random_state


def everything(grid: Reference, s: State) -> dict[str, np.ndarray]:
    state = {"q": s.q, "qd": s.qd}
    return {
        "inverse_dynamics": grid("inverse_dynamics", **state, qdd=s.qdd, f_ext=s.f_ext),
        "generalized_gravity": grid("generalized_gravity", q=s.q),
        "nonlinear_effects": grid("nonlinear_effects", **state),
        "crba": grid("crba", q=s.q),
        "forward_dynamics": grid("forward_dynamics", **state, u=s.u),
        "aba": grid("aba", **state, u=s.u),
        "minv": grid("minv", q=s.q),
        "placements": forward_kinematics(grid.model, s.q),
    }


@pytest.mark.parametrize("robot", hand_made_params())
def test_an_empty_batch_gives_empty_results(robot: Robot) -> None:
    model = robot.load(floating_base=True)
    for name, result in everything(Reference(model), random_state(model, batch=0)).items():
        assert result.shape[0] == 0, name
        assert result.dtype == np.float64, name


@pytest.mark.parametrize("robot", hand_made_params())
def test_a_batch_is_its_problems_one_by_one(robot: Robot) -> None:
    model = robot.load(floating_base=True)
    grid, s = Reference(model), random_state(model, batch=3)
    one = State(s.q[1:2], s.qd[1:2], s.qdd[1:2], s.u[1:2], s.f_ext[1:2])
    whole = everything(grid, s)
    for name, result in everything(grid, one).items():
        assert_close(whole[name][1:2], result, noise=1e-10)


def test_a_robot_without_joints_has_empty_results() -> None:
    model = HAND_MADE["one_body"].load()
    for name, result in everything(Reference(model), random_state(model, batch=4)).items():
        assert result.shape[0] == 4, name
        assert result.size == 0, name


@pytest.mark.parametrize("robot", hand_made_params("branching", "mimic_chain", "spherical"))
def test_gravity_scales_and_vanishes(robot: Robot) -> None:
    model = robot.load(floating_base=True)
    grid, s = Reference(model), random_state(model)
    default = grid("generalized_gravity", q=s.q)
    np.testing.assert_array_equal(default, grid("generalized_gravity", q=s.q, gravity=-9.81))
    np.testing.assert_array_equal(grid("generalized_gravity", q=s.q, gravity=0.0), 0.0)
    assert_close(grid("generalized_gravity", q=s.q, gravity=1.62), default * (1.62 / -9.81))


@pytest.mark.parametrize("robot", hand_made_params("branching", "mimic_chain", "spherical"))
def test_inputs_are_left_alone(robot: Robot) -> None:
    model = robot.load(floating_base=True)
    s, kept = random_state(model, seed=5), random_state(model, seed=5)
    everything(Reference(model), s)
    for field in ("q", "qd", "qdd", "u", "f_ext"):
        np.testing.assert_array_equal(getattr(s, field), getattr(kept, field))
