"""Derivatives against finite differences along the manifold, q ⊕ v (K3, K4, K10)."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.model import integrate
from tests.eepose.states import regular_configurations, some_targets
from tests.support.evaluate import Reference
from tests.support.robots import Robot, example, hand_made_params

ROBOTS = [
    *hand_made_params(),
    *(
        pytest.param(name, id=name)
        for name in ("panda-panda", "a1-a1", "double_pendulum-double_pendulum_continuous")
    ),
]
each_robot = pytest.mark.parametrize("robot", ROBOTS)
each_base = pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])


def setup(robot, floating: bool):
    found = robot if isinstance(robot, Robot) else example(robot)
    model = found.load(floating_base=floating)
    targets = some_targets(model, most=2)
    q = regular_configurations(model, targets, batch=1, margin=0.3)
    return Reference(model, targets=targets), model, q


def central(function, model, q, step: float):
    """Return d function(q ⊕ v)/dv at 0, the tangent as the last axis; fourth order."""
    columns = []
    for unit in np.eye(model.nv):

        def at(h, unit=unit):
            return function(integrate(model, q, np.tile(h * unit, (len(q), 1))))

        near, far = at(step) - at(-step), at(2 * step) - at(-2 * step)
        columns.append((8.0 * near - far) / (12.0 * step))
    return np.stack(columns, axis=-1) if columns else np.zeros((*function(q).shape, 0))


def unwound(pose, around):
    """The pose with angles in the branch next to another's: they jump at ±π."""
    turn = np.arange(pose.shape[1]) % 6 >= 3
    return np.where(turn, around + np.angle(np.exp(1j * (pose - around))), pose)


@each_robot
@each_base
def test_gradient(robot, floating) -> None:
    """K3, K4: the gradient is the change of the pose along each tangent coordinate."""
    grid, model, q = setup(robot, floating)
    pose = grid("end_effector_pose", q=q)
    expected = central(lambda p: unwound(grid("end_effector_pose", q=p), pose), model, q, 1e-3)
    actual = grid("end_effector_pose_gradient", q=q)
    np.testing.assert_allclose(actual, expected, rtol=1e-7, atol=1e-7)


@each_robot
@each_base
def test_hessian(robot, floating) -> None:
    """K3, K10: the symmetric part of the gradient's change; all of it, but within one joint."""
    grid, model, q = setup(robot, floating)
    change = central(lambda p: grid("end_effector_pose_gradient", q=p), model, q, 1e-3)
    actual = grid("end_effector_pose_hessian", q=q)
    np.testing.assert_allclose(actual, actual.swapaxes(2, 3), rtol=1e-12, atol=1e-12)
    symmetric = 0.5 * (change + change.swapaxes(2, 3))
    scale = max(1.0, np.max(np.abs(symmetric), initial=0.0))
    np.testing.assert_allclose(actual, symmetric, rtol=0.0, atol=1e-7 * scale)
    width = [j.nv for j in model.joints if j.v_start is not None]
    owner = np.repeat(np.arange(len(width)), width)
    apart = owner[:, None] != owner[None, :]
    np.testing.assert_allclose(actual[..., apart], change[..., apart], rtol=0.0, atol=1e-7 * scale)


@each_robot
@each_base
def test_second_order_along_a_path(robot, floating) -> None:
    """K3: f(q ⊕ t v) = f + t J v + t²/2 vᵀ H v + O(t³), in any direction at once."""
    grid, model, q = setup(robot, floating)
    v = np.random.default_rng(1).normal(size=(1, model.nv)) / np.sqrt(max(model.nv, 1))
    pose = grid("end_effector_pose", q=q)
    H = grid("end_effector_pose_hessian", q=q)

    def at(t):
        return unwound(grid("end_effector_pose", q=integrate(model, q, t * v)), pose)

    h = 5e-3
    near, far = at(h) + at(-h) - 2.0 * pose, at(2 * h) + at(-2 * h) - 2.0 * pose
    second = (16.0 * near - far) / (12.0 * h * h)
    expected = np.einsum("beij,bi,bj->be", H, v, v)
    np.testing.assert_allclose(second, expected, rtol=1e-5, atol=1e-5)
