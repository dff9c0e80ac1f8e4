"""In which order columns stand, and what they are called."""

from __future__ import annotations

import numpy as np
import pytest

import grid_core
from grid_core.assets import asset_path
from grid_core.errors import ArgumentError, OptionError
from grid_core.model.parameters import parameter_names, parameters
from tests.support.robots import HAND_MADE
from tests.support.states import random_state

PINOCCHIO = ["m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"]
OTHERS = {
    "generalized_momentum_regressor": 2,
    "momentum_regressor": 2,
    "kinetic_energy_regressor": 2,
    "potential_energy_regressor": 1,
}
"""Other operations with columns of parameters, and how many of q and qd they take."""
GRID = ["m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"]


@pytest.fixture(scope="module")
def arm() -> grid_core.RobotHandle:
    wanted = ["inverse_dynamics_regressor", *OTHERS]
    return grid_core.load_robot(asset_path("iiwa14"), dtype="float64", algorithm_list=wanted)


def test_pinocchios_order_is_the_default(arm: grid_core.RobotHandle) -> None:
    names = arm.parameter_names()
    assert names[:10] == tuple(f"iiwa_link_1.{part}" for part in PINOCCHIO)
    assert names[-10:] == tuple(f"iiwa_link_7.{part}" for part in PINOCCHIO)
    body = arm.model.bodies[2].inertia
    I = body.at_origin
    expected = [body.mass, *(body.mass * body.com)]
    expected += [I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]
    np.testing.assert_array_equal(arm.parameters()[20:30], expected)


def test_grids_order_has_the_inertia_row_by_row(arm: grid_core.RobotHandle) -> None:
    names = arm.parameter_names(order="grid")
    assert names[10:20] == tuple(f"iiwa_link_2.{part}" for part in GRID)
    I = arm.model.bodies[2].inertia.at_origin
    expected = [I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]]
    np.testing.assert_array_equal(arm.parameters(order="grid")[24:30], expected)


def test_orders_are_permutations_of_the_same_columns(arm: grid_core.RobotHandle) -> None:
    s = random_state(arm.model, batch=2)
    place = [arm.parameter_names().index(name) for name in arm.parameter_names(order="grid")]
    Y = arm.inverse_dynamics_regressor(s.q, s.qd, s.qdd)
    other = arm.inverse_dynamics_regressor(s.q, s.qd, s.qdd, order="grid")
    np.testing.assert_array_equal(other, Y[:, :, place])
    np.testing.assert_array_equal(arm.parameters(order="grid"), arm.parameters()[place])
    for name, count in OTHERS.items():
        call, args = getattr(arm, name), (s.q, s.qd)[:count]
        np.testing.assert_array_equal(call(*args, order="grid"), call(*args)[..., place])


def test_another_order_is_refused(arm: grid_core.RobotHandle) -> None:
    s = random_state(arm.model, batch=1)
    with pytest.raises(ArgumentError, match="order must be pinocchio or grid; got 'mujoco'"):
        arm.inverse_dynamics_regressor(s.q, s.qd, s.qdd, order="mujoco")
    with pytest.raises(ArgumentError, match="parameter_names: order must be"):
        arm.parameter_names(order="featherstone")


def test_names_of_the_terms() -> None:
    """One a coordinate: a joint of several has them numbered, one that mimics has none."""
    model = HAND_MADE["mimic_chain"].load(floating_base=True)
    names = parameter_names(model, terms=("coulomb",))[10 * model.nb :]
    assert names[:2] == ("root_joint.coulomb[0]", "root_joint.coulomb[1]")
    assert names[6:] == ("j1.coulomb", "j5.coulomb")
    assert len(names) == model.nv
    assert len(set(parameter_names(model, terms=("coulomb", "offset")))) == 10 * model.nb + 16


def test_friction_of_followers_is_their_leaders() -> None:
    model = HAND_MADE["dissipative"].load()
    own = parameters(model, terms=("viscous", "coulomb"))[10 * model.nb :]
    # j1 has 0.7 and 0.3; its follower turns by -2 times, with 0.4 and 0.2.
    np.testing.assert_allclose(own, [0.7 + 4.0 * 0.4, 0.3 + 2.0 * 0.2], rtol=1e-14)


def test_terms_are_an_option_of_the_load() -> None:
    robot = grid_core.load_robot(asset_path("iiwa14"), regressor_terms=["offset", "viscous"])
    assert robot.parameter_names()[70:72] == ("iiwa_joint_1.offset", "iiwa_joint_2.offset")
    assert robot.parameter_names()[77:78] == ("iiwa_joint_1.viscous",)
    assert robot.parameters().shape == (84,)
    for wrong, message in (
        (["viscos"], r"no term 'viscos' \(did you mean 'viscous'\?\)"),
        (["offset", "offset"], "names 'offset' twice"),
        (3, "must be a name or a list of names"),
    ):
        with pytest.raises(OptionError, match=message):
            grid_core.load_robot(asset_path("iiwa14"), regressor_terms=wrong)  # type: ignore[arg-type]
