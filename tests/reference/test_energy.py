"""Energy: what no two implementations can get wrong in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from grid_core.model import integrate
from grid_core.reference.kinematics import forward_kinematics
from tests.support.evaluate import Reference
from tests.support.random_trees import random_urdf
from tests.support.robots import Robot, hand_made_params
from tests.support.states import random_state

if TYPE_CHECKING:
    from grid_core.model.types import Array, RobotModel

GRAVITY = -9.81
ROBOTS = [
    *hand_made_params(),
    *(pytest.param(Robot(f"t{n}", text=random_urdf(n, n, mimic=0.2)), id=f"t{n}") for n in (6, 15)),
]
each_robot = pytest.mark.parametrize("robot", ROBOTS)
each_base = pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])


def potential(model: RobotModel, q: Array) -> Array:
    """Return -Σ m g z of the bodies' centres of mass, shape (B,)."""
    T = forward_kinematics(model, q)
    height = np.zeros(len(q))
    for body in model.bodies:
        z = T[:, body.id, 2, :3] @ body.inertia.com + T[:, body.id, 2, 3]
        height += body.inertia.mass * z
    return -GRAVITY * height


def energy(grid: Reference, q: Array, v: Array) -> Array:
    kinetic = 0.5 * np.einsum("bi,bij,bj->b", v, grid("crba", q=q), v)
    return np.asarray(kinetic + potential(grid.model, q))


@each_robot
@each_base
def test_gravity_is_the_gradient_of_the_potential(robot: Robot, floating: bool) -> None:
    model, h = robot.load(floating_base=floating), 1e-5
    q = random_state(model).q
    g = Reference(model)("generalized_gravity", q=q, gravity=GRAVITY)
    for i, direction in enumerate(np.eye(model.nv)):
        ahead, behind = (potential(model, integrate(model, q, s * direction)) for s in (h, -h))
        scale = 1.0 + np.max(np.abs(g))
        np.testing.assert_allclose((ahead - behind) / (2.0 * h), g[:, i], atol=1e-8 * scale)


@each_robot
@each_base
def test_energy_grows_by_the_power_put_in(robot: Robot, floating: bool) -> None:
    """d/dt (kinetic + potential) = uᵀ v along the motion that forward dynamics predicts."""
    model, h = robot.load(floating_base=floating), 1e-6
    grid, s = Reference(model), random_state(model)
    qdd = grid("forward_dynamics", q=s.q, qd=s.qd, u=s.u)
    ahead, behind = (
        energy(grid, integrate(model, s.q, dt * s.qd), s.qd + dt * qdd) for dt in (h, -h)
    )
    power = np.sum(s.u * s.qd, axis=1)
    size = 1.0 + np.abs(energy(grid, s.q, s.qd)) + np.sum(np.abs(s.u * s.qd), axis=1)
    assert np.all(
        np.abs((ahead - behind) / (2.0 * h) - power) <= 1e-7 * size * (1.0 + qdd.max(initial=0.0))
    )


@each_robot
@each_base
def test_a_wrench_does_the_work_of_its_body(robot: Robot, floating: bool) -> None:
    """Power of f_ext on the moving bodies is what it saves the joints: -τᵀ v."""
    model, h = robot.load(floating_base=floating), 1e-6
    grid, s = Reference(model), random_state(model)
    with_force, without = (
        grid("inverse_dynamics", q=s.q, qd=s.qd, f_ext=f) for f in (s.f_ext, None)
    )
    T, T1, T0 = (forward_kinematics(model, integrate(model, s.q, dt * s.qd)) for dt in (0.0, h, -h))
    twist = np.linalg.inv(T) @ (T1 - T0) / (2.0 * h)
    velocity = np.concatenate(
        [twist[..., :3, 3], np.stack([twist[..., 2, 1], twist[..., 0, 2], twist[..., 1, 0]], -1)],
        axis=-1,
    )
    saved = np.sum((without - with_force) * s.qd, axis=1)
    np.testing.assert_allclose(np.sum(velocity * s.f_ext, axis=(1, 2)), saved, atol=1e-7, rtol=1e-7)
