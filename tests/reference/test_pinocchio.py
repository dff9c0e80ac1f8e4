"""Every operation on every robot against Pinocchio, in double precision.

Each document is read twice, by Grid's loader and by Pinocchio's, so these test the loader too.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

from grid_core.reference.kinematics import forward_kinematics
from tests.support.compare import assert_accelerations_close, assert_close, regular
from tests.support.evaluate import Reference
from tests.support.pinocchio_oracle import PinocchioOracle
from tests.support.robots import HAND_MADE, Robot, example_params, hand_made_params
from tests.support.states import State, random_state

NOT_URDF = ("spherical", "helical", "mimic_branches")
"""Hand-made robots with joint types that Pinocchio's URDF parser does not know."""

ROBOTS = [*example_params(), *hand_made_params(*(n for n in HAND_MADE if n not in NOT_URDF))]
each_robot = pytest.mark.parametrize("robot", ROBOTS)
each_base = pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])


@functools.lru_cache(maxsize=2)
def setup(robot: Robot, floating: bool) -> tuple[Reference, PinocchioOracle, State]:
    model = robot.load(floating_base=floating)
    oracle = PinocchioOracle.from_urdf(model, robot.source())
    state = random_state(model, seed=len(robot.name))
    # A joint of Pinocchio's may be several of ours; their bodies between have no counterpart.
    ids, _ = oracle.placements(state.q)
    state.f_ext[:, [i for i in range(model.nb) if i not in ids]] = 0.0
    return Reference(model), oracle, state


@each_robot
@each_base
def test_placements(robot: Robot, floating: bool) -> None:
    grid, oracle, s = setup(robot, floating)
    ids, expected = oracle.placements(s.q)
    actual = forward_kinematics(grid.model, s.q)[:, ids]
    np.testing.assert_allclose(actual, expected.reshape(actual.shape), rtol=0.0, atol=1e-12)


@each_robot
@each_base
def test_mass_matrix(robot: Robot, floating: bool) -> None:
    grid, oracle, s = setup(robot, floating)
    M = grid("crba", q=s.q)
    assert_close(M, oracle.mass_matrix(s.q))
    np.testing.assert_allclose(M, M.swapaxes(1, 2), rtol=0.0, atol=1e-13 * np.max(M, initial=0.0))


@each_robot
@each_base
def test_generalized_gravity(robot: Robot, floating: bool) -> None:
    grid, oracle, s = setup(robot, floating)
    assert_close(grid("generalized_gravity", q=s.q), oracle.gravity(s.q))


@each_robot
@each_base
def test_inverse_dynamics(robot: Robot, floating: bool) -> None:
    grid, oracle, s = setup(robot, floating)
    tau = grid("inverse_dynamics", q=s.q, qd=s.qd, qdd=s.qdd)
    assert_close(tau, oracle.inverse_dynamics(s.q, s.qd, s.qdd))
    h = grid("nonlinear_effects", q=s.q, qd=s.qd)
    assert_close(h, oracle.inverse_dynamics(s.q, s.qd, 0.0 * s.qdd))
    np.testing.assert_array_equal(h, grid("inverse_dynamics", q=s.q, qd=s.qd))


@each_robot
@each_base
def test_inverse_dynamics_with_external_forces(robot: Robot, floating: bool) -> None:
    grid, oracle, s = setup(robot, floating)
    tau = grid("inverse_dynamics", q=s.q, qd=s.qd, qdd=s.qdd, f_ext=s.f_ext)
    assert_close(tau, oracle.inverse_dynamics(s.q, s.qd, s.qdd, s.f_ext))
    h = grid("nonlinear_effects", q=s.q, qd=s.qd, f_ext=s.f_ext)
    assert_close(h, oracle.inverse_dynamics(s.q, s.qd, 0.0 * s.qdd, s.f_ext))


@each_robot
@each_base
def test_forward_dynamics(robot: Robot, floating: bool) -> None:
    """Both forward dynamics and M⁻¹; a robot whose M is singular is refused instead."""
    grid, oracle, s = setup(robot, floating)
    M = oracle.mass_matrix(s.q)
    refusal = grid.refuse("forward_dynamics")
    assert (refusal is None) == regular(M)
    if refusal is not None:
        return
    assert_accelerations_close(grid("minv", q=s.q), oracle.minv(s.q), M)
    for f_ext in (None, s.f_ext):
        expected = oracle.forward_dynamics(s.q, s.qd, s.u, f_ext)
        for name in ("forward_dynamics", "aba"):
            qdd = grid(name, q=s.q, qd=s.qd, u=s.u, f_ext=f_ext)
            assert_accelerations_close(qdd, expected, M)
            u = grid("inverse_dynamics", q=s.q, qd=s.qd, qdd=qdd, f_ext=f_ext)
            size = np.abs(M) @ np.abs(qdd)[..., None]
            assert np.all(np.abs(u - s.u) <= 1e-9 * (1.0 + size[..., 0]))
