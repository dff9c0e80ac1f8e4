"""Regressors of a robot whose placements, and masses where they matter, come with each call."""

from __future__ import annotations

import numpy as np

import grid_core
from grid_core.model.parameters import parameters
from grid_core.program.runtime import altered
from tests.regressor.evaluate import evaluated
from tests.support.robots import HAND_MADE
from tests.support.states import random_state

WANTED = [
    "inverse_dynamics_regressor",
    "generalized_momentum_regressor",
    "momentum_regressor",
    "kinetic_energy_regressor",
    "potential_energy_regressor",
    "forward_dynamics_parameter_gradient",
]


def test_other_placements_and_masses() -> None:
    """As a robot gives that was loaded with them, whole batches of one and one a problem."""
    robot = grid_core.load_robot(
        urdf_string=HAND_MADE["mimic_chain"].text,
        dtype="float64",
        algorithm_list=WANTED,
        runtime_inertia=True,
        runtime_transform=True,
    )
    model = robot.model
    s, rng = random_state(model, batch=3), np.random.default_rng(1)
    placements = np.array([joint.placement for joint in model.joints])
    placements[:, :3, 3] += rng.normal(size=(model.nj, 3))
    turn = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])
    placements[:, :3, :3] = turn @ placements[:, :3, :3]
    inertias = parameters(model).reshape(-1, 10) * 1.3
    other = altered(model, inertias, placements)
    arrays = {"q": s.q, "qd": s.qd, "qdd": s.qdd, "u": s.u}
    takes = {"forward_dynamics_parameter_gradient": ("q", "qd", "u")}
    takes |= {
        "inverse_dynamics_regressor": ("q", "qd", "qdd"),
        "potential_energy_regressor": ("q",),
    }
    for name in WANTED:
        given = {port: arrays[port] for port in takes.get(name, ("q", "qd"))}
        more = {"placements": placements}
        if name.startswith("forward"):
            more["inertias"] = inertias
        got = getattr(robot, name)(**given, **more)
        expected = evaluated(other, name, **given)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9, err_msg=name)
        nominal = getattr(robot, name)(**given)
        assert np.abs(nominal - got).max() > 1e-3, name
        each = {
            port: np.tile(array, (3, 1, 1, 1)[: array.ndim + 1]) for port, array in more.items()
        }
        again = getattr(robot, name)(**given, **each)
        np.testing.assert_allclose(again, got, rtol=1e-11, atol=1e-11)
