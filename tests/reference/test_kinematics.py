"""Placements and motion subspaces, against Pinocchio and against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.model import integrate
from grid_core.reference.coordinates import (
    fold_forces,
    fold_matrix,
    is_constant,
    joint_positions,
    joint_rates,
)
from grid_core.reference.joints import joint_motion, motion_subspace
from grid_core.reference.kinematics import forward_kinematics
from grid_core.reference.spatial import apply
from tests.support.pinocchio_oracle import PinocchioOracle
from tests.support.robots import HAND_MADE, Robot, hand_made_params
from tests.support.states import random_state


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("robot", hand_made_params())
def test_placements_are_pinocchios(robot: Robot, floating: bool) -> None:
    model = robot.load(floating_base=floating)
    q = random_state(model).q
    ids, expected = PinocchioOracle.from_records(model).placements(q)
    actual = forward_kinematics(model, q)[:, ids]
    np.testing.assert_allclose(actual, expected.reshape(actual.shape), atol=1e-13)


@pytest.mark.parametrize("robot", hand_made_params())
def test_motion_subspace_is_the_derivative_of_the_motion(robot: Robot) -> None:
    """T⁻¹ dT/dt is the twist S q̇ of the joint, in the moved frame."""
    model, dt = robot.load(floating_base=True), 1e-6
    state = random_state(model)
    ahead, behind = (
        joint_positions(model, integrate(model, state.q, s * state.qd)) for s in (dt, -dt)
    )
    here, rates = joint_positions(model, state.q), joint_rates(model, state.qd)
    for joint in model.joints:
        T, T1, T0 = (joint_motion(joint, q[joint.id]) for q in (here, ahead, behind))
        twist = np.linalg.inv(T) @ (T1 - T0) / (2.0 * dt)
        expected = rates[joint.id] @ motion_subspace(joint).T
        np.testing.assert_allclose(twist[:, :3, 3], expected[:, 3:], atol=1e-8)
        omega = np.stack([twist[:, 2, 1], twist[:, 0, 2], twist[:, 1, 0]], axis=1)
        np.testing.assert_allclose(omega, expected[:, :3], atol=1e-8)


def test_a_mimic_chain_expands_to_its_leader() -> None:
    model = HAND_MADE["mimic_chain"].load()
    q = np.array([[0.3, 1.0], [-0.7, 2.0]])
    theta = {j.name: x[:, 0] for j, x in zip(model.joints, joint_positions(model, q), strict=True)}
    np.testing.assert_allclose(theta["j2"], -2.0 * q[:, 0] + 0.1)
    np.testing.assert_allclose(theta["j3"], 0.5 * (-2.0 * q[:, 0] + 0.1) - 0.2)
    np.testing.assert_allclose(theta["j4"], 0.05 * q[:, 0])
    np.testing.assert_allclose(theta["j5"], q[:, 1])


def test_a_joint_that_follows_a_fixed_one_stands_still() -> None:
    model = HAND_MADE["mimic_constant"].load()
    (joint,) = (j for j in model.joints if is_constant(j))
    q = random_state(model).q
    np.testing.assert_array_equal(joint_positions(model, q)[joint.id], 0.4)
    np.testing.assert_array_equal(joint_rates(model, random_state(model).qd)[joint.id], 0.0)
    assert not model.has_mimic


@pytest.mark.parametrize("robot", hand_made_params())
def test_folding_is_the_transpose_of_expanding(robot: Robot) -> None:
    model = robot.load(floating_base=True)
    v = random_state(model).qd
    G, rng = fold_matrix(model), np.random.default_rng(3)
    rates = joint_rates(model, v)
    np.testing.assert_allclose(np.concatenate(rates, axis=1), apply(G, v), atol=1e-15)
    forces = [rng.normal(size=r.shape) for r in rates]
    np.testing.assert_allclose(
        fold_forces(model, forces, len(v)), np.concatenate(forces, axis=1) @ G, atol=1e-14
    )
