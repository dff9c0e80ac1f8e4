"""What holds for every robot: physics and algebra, no second implementation needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grid_core.model import integrate
from grid_core.reference.kinematics import forward_kinematics
from tests.properties.robots import Operations, random_robots
from tests.support.compare import assert_accelerations_close
from tests.support.hypothesis_profiles import heavy
from tests.support.states import random_state

if TYPE_CHECKING:
    from grid_core.model.types import Array, RobotModel

EPS = float(np.finfo(np.float64).eps)
SEEDS = st.integers(0, 1000)


def weighted(x: Array, M: Array, power: float) -> Array:
    """Return |D^power x| of each row, D = diag M: radians and metres, base and finger alike."""
    return np.asarray(np.linalg.norm(np.einsum("bii->bi", M) ** power * x, axis=1))


@given(random_robots(), SEEDS)
@heavy(10)
def test_inverse_dynamics_undoes_forward_dynamics(model: RobotModel, seed: int) -> None:
    ops, s = Operations(model), random_state(model, seed)
    M = ops("crba", q=s.q)
    qdd = ops("forward_dynamics", q=s.q, qd=s.qd, u=s.u)
    assert_accelerations_close(ops("aba", q=s.q, qd=s.qd, u=s.u), qdd, M)
    tau = ops("inverse_dynamics", q=s.q, qd=s.qd, qdd=qdd)
    # Forces enter scaled by D^-1/2, as accelerations do by D^1/2.
    bias = ops("nonlinear_effects", q=s.q, qd=s.qd)
    size = weighted(s.u, M, -0.5) + weighted(bias, M, -0.5)
    assert np.all(weighted(tau - s.u, M, -0.5) <= 1000.0 * EPS * ops.kappa(M) * size)


@given(random_robots(), SEEDS)
@heavy(10)
def test_external_forces_too(model: RobotModel, seed: int) -> None:
    ops, s = Operations(model), random_state(model, seed)
    M = ops("crba", q=s.q)
    qdd = ops("forward_dynamics", q=s.q, qd=s.qd, u=s.u, f_ext=s.f_ext)
    tau = ops("inverse_dynamics", q=s.q, qd=s.qd, qdd=qdd, f_ext=s.f_ext)
    bias = ops("nonlinear_effects", q=s.q, qd=s.qd, f_ext=s.f_ext)
    size = weighted(s.u, M, -0.5) + weighted(bias, M, -0.5)
    assert np.all(weighted(tau - s.u, M, -0.5) <= 1000.0 * EPS * ops.kappa(M) * size)


@given(random_robots(), SEEDS)
@heavy(10)
def test_the_mass_matrix_is_symmetric_positive_and_inverted(model: RobotModel, seed: int) -> None:
    ops, s = Operations(model), random_state(model, seed)
    M, Minv = ops("crba", q=s.q), ops("minv", q=s.q)
    for X in (M, Minv):
        np.testing.assert_array_equal(X, X.transpose(0, 2, 1))
        assert np.all(np.linalg.eigvalsh(X) > 0.0)
    root = np.sqrt(np.einsum("bii->bi", M))
    scaled = (M @ Minv) * root[:, None, :] / root[:, :, None]
    error = np.abs(scaled - np.eye(model.nv)).max(axis=(1, 2))
    assert np.all(error <= 1000.0 * EPS * ops.kappa(M) * model.nv)


@given(random_robots(), SEEDS)
@heavy(10)
def test_inverse_dynamics_is_the_mass_matrix_and_the_bias(model: RobotModel, seed: int) -> None:
    """τ = M q̈ + h, h at rest is g, and g grows with gravity."""
    ops, s = Operations(model), random_state(model, seed)
    M = ops("crba", q=s.q)
    h = ops("nonlinear_effects", q=s.q, qd=s.qd)
    inertial = np.einsum("bij,bj->bi", M, s.qdd)
    tau = ops("inverse_dynamics", q=s.q, qd=s.qd, qdd=s.qdd)
    size = np.abs(M).max(axis=(1, 2), initial=0.0) + np.abs(h).max(axis=1, initial=0.0)
    assert np.all(np.abs(tau - inertial - h).max(axis=1, initial=0.0) <= 1e-11 * size)
    g = ops("generalized_gravity", q=s.q)
    still = ops("nonlinear_effects", q=s.q, qd=np.zeros_like(s.qd))
    np.testing.assert_allclose(g, still, rtol=1e-12, atol=1e-12 * np.abs(g).max(initial=1.0))
    half = ops("generalized_gravity", q=s.q, gravity=-9.81 / 2)
    np.testing.assert_allclose(2.0 * half, g, rtol=1e-12, atol=1e-12 * np.abs(g).max(initial=1.0))


@given(random_robots(most=20), SEEDS)
@heavy(10)
def test_power_is_the_rate_of_kinetic_energy(model: RobotModel, seed: int) -> None:
    """d/dt ½ q̇ᵀ M q̇ = q̇ᵀ (τ - g), by central differences along the motion."""
    ops, s = Operations(model), random_state(model, seed)
    tau = ops("inverse_dynamics", q=s.q, qd=s.qd, qdd=s.qdd)
    power = np.einsum("bi,bi->b", s.qd, tau - ops("generalized_gravity", q=s.q))
    step = 1e-4
    energies = [_kinetic_energy(ops, s, k * step) for k in (-2, -1, 1, 2)]
    rate = (energies[0] - 8.0 * energies[1] + 8.0 * energies[2] - energies[3]) / (12.0 * step)
    size = np.abs(power) + sum(np.abs(e) for e in energies) + 1.0
    assert np.all(np.abs(rate - power) <= 1e-7 * size)


def _kinetic_energy(ops: Operations, s: Any, time: float) -> Array:
    # The path's first derivative at 0 is q̇, and q̇ moves by q̈: that is all the rate depends on.
    q = integrate(ops.model, s.q, time * s.qd)
    qd = s.qd + time * s.qdd
    return np.asarray(0.5 * np.einsum("bi,bij,bj->b", qd, ops("crba", q=q), qd))


@given(random_robots(most=12), SEEDS)
@heavy(10)
def test_external_forces_do_virtual_work(model: RobotModel, seed: int) -> None:
    """τ changes by -Σ Jᵀ f, J by central differences of the bodies' placements."""
    ops, s = Operations(model), random_state(model, seed)
    without = ops("inverse_dynamics", q=s.q, qd=s.qd, qdd=s.qdd)
    change = ops("inverse_dynamics", q=s.q, qd=s.qd, qdd=s.qdd, f_ext=s.f_ext) - without
    expected = np.zeros_like(change)
    for column in range(model.nv):
        twists = _body_twists(model, s.q, column)
        expected[:, column] = -np.einsum("bni,bni->b", twists, s.f_ext)
    size = np.abs(expected).max(initial=0.0) + np.abs(without).max(initial=0.0)
    np.testing.assert_allclose(change, expected, rtol=0.0, atol=1e-8 * size)


def _body_twists(model: RobotModel, q: Array, column: int, step: float = 1e-5) -> Array:
    """[linear; angular] velocity of every body in its own frame for a unit rate, (B, nb, 6)."""
    direction = np.zeros((len(q), model.nv))
    direction[:, column] = step
    ahead, behind = (
        forward_kinematics(model, integrate(model, q, d)) for d in (direction, -direction)
    )
    T = forward_kinematics(model, q)
    rate = (ahead - behind) / (2.0 * step)
    twist = np.swapaxes(T[..., :3, :3], -1, -2) @ rate[..., :3, :]
    angular = np.stack([twist[..., 2, 1], twist[..., 0, 2], twist[..., 1, 0]], axis=-1)
    return np.concatenate([twist[..., 3], angular], axis=-1)
