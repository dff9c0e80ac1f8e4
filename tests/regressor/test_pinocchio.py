"""Regressors of every robot against Pinocchio's, in double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
import pytest

from grid_core.model.parameters import num_parameters, parameters
from grid_plugins.regressor.rows import Moment, by_axes, by_wrenches
from tests.regressor.evaluate import evaluated, on_numbers
from tests.support.compare import assert_close
from tests.support.pinocchio_oracle import PinocchioOracle
from tests.support.robots import HAND_MADE, Robot, example_params, hand_made_params
from tests.support.states import State, random_state

if TYPE_CHECKING:
    from grid_core.model.types import Array, RobotModel

NOT_URDF = ("spherical", "helical", "mimic_branches")
"""Hand-made robots with joint types that Pinocchio's URDF parser does not know."""

each_robot = pytest.mark.parametrize("robot", example_params())
each_base = pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])


def columns(ids: list[int]) -> Array:
    """The columns of some bodies."""
    return (10 * np.array(ids, dtype=np.int64)[:, None] + np.arange(10)).ravel()


def torque_regressors(oracle: PinocchioOracle, s: State) -> Array:
    """Y of the bodies that Pinocchio has, in our coordinates."""
    found = []
    for q, qd, qdd in zip(s.q, s.qd, s.qdd, strict=True):
        Q, P, c = oracle.convert(q, qd)
        Y = pin.computeJointTorqueRegressor(oracle.pin, oracle.data, Q, P @ qd, P @ qdd + c)
        found.append(P.T @ Y)
    return np.array(found)


def energy_regressors(oracle: PinocchioOracle, s: State) -> tuple[Array, Array]:
    kinetic, potential = [], []
    for q, qd in zip(s.q, s.qd, strict=True):
        Q, P, _ = oracle.convert(q, qd)
        theirs = pin.computeKineticEnergyRegressor(oracle.pin, oracle.data, Q, P @ qd)
        kinetic.append(np.array(theirs).ravel())
        theirs = pin.computePotentialEnergyRegressor(oracle.pin, oracle.data, Q)
        potential.append(np.array(theirs).ravel())
    return np.array(kinetic), np.array(potential)


def check(model: RobotModel, oracle: PinocchioOracle, s: State) -> None:
    ids, _ = oracle.placements(s.q)
    known = columns(ids)
    Y = evaluated(model, "inverse_dynamics_regressor", q=s.q, qd=s.qd, qdd=s.qdd)
    assert Y.shape == (len(s.q), model.nv, num_parameters(model))
    assert_close(Y[:, :, known], torque_regressors(oracle, s))
    moments = [
        Moment(model, q.tolist(), qd.tolist(), qdd.tolist(), -9.81)
        for q, qd, qdd in zip(s.q, s.qd, s.qdd, strict=True)
    ]
    # Both of the ways that a program may take, the one that it does not take as well.
    # A program's frames take turns within 1e-11 of a quarter for one (`canonical.SNAP`).
    for way in (by_wrenches, by_axes):
        assert_close(on_numbers(way, moments), Y, noise=2e-10)
    kinetic, potential = energy_regressors(oracle, s)
    assert_close(evaluated(model, "kinetic_energy_regressor", q=s.q, qd=s.qd)[:, known], kinetic)
    assert_close(evaluated(model, "potential_energy_regressor", q=s.q)[:, known], potential)


@each_robot
@each_base
def test_torque_and_energy_regressors(robot: Robot, floating: bool) -> None:
    model = robot.load(floating_base=floating)
    oracle = PinocchioOracle.from_urdf(model, robot.source())
    check(model, oracle, random_state(model, seed=len(robot.name), batch=2))


@pytest.mark.parametrize(
    "robot", hand_made_params(*(n for n in HAND_MADE if n not in (*NOT_URDF, "one_body")))
)
@each_base
def test_of_every_kind_of_joint_from_the_same_document(robot: Robot, floating: bool) -> None:
    model = robot.load(floating_base=floating)
    oracle = PinocchioOracle.from_urdf(model, robot.source())
    check(model, oracle, random_state(model, seed=3, batch=3))


@pytest.mark.parametrize("name", NOT_URDF)
@each_base
def test_of_joints_that_only_its_builder_knows(name: str, floating: bool) -> None:
    model = HAND_MADE[name].load(floating_base=floating)
    oracle = PinocchioOracle.from_records(model)
    check(model, oracle, random_state(model, seed=4, batch=3))


@pytest.mark.parametrize("name", ["skew_axes", "branching", "spherical", "helical"])
def test_parameters_are_what_pinocchio_calls_dynamic_parameters(name: str) -> None:
    model = HAND_MADE[name].load(floating_base=True)
    oracle = PinocchioOracle.from_records(model)
    theirs = [inertia.toDynamicParameters() for inertia in list(oracle.pin.inertias)[1:]]
    np.testing.assert_allclose(parameters(model), np.concatenate(theirs), rtol=1e-13, atol=1e-15)
