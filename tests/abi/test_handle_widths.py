"""The handle takes physical widths only: the padded block is for raw kernels."""

from __future__ import annotations

import numpy as np
import pytest

import grid_core
from grid_core.abi import pack_q_qd_u
from tests.descriptor.robots import path

ROBOTS = {"fixed_arm": False, "floating": True, "ball": False}


@pytest.fixture(params=ROBOTS, scope="module")
def handle(request: pytest.FixtureRequest) -> grid_core.RobotHandle:
    return grid_core.load_robot(
        path(request.param), floating_base=ROBOTS[request.param], backend="reference"
    )


@pytest.fixture(scope="module")
def floating() -> grid_core.RobotHandle:
    return grid_core.load_robot(path("floating"), floating_base=True, backend="reference")


def test_vectors_have_physical_widths(handle: grid_core.RobotHandle) -> None:
    """A1: q is nq wide; qd, qdd and u are nv wide, and so are dynamics vectors."""
    q = handle.random_configuration(1, 3)
    v = np.ones((3, handle.nv))
    assert q.shape == (3, handle.nq)
    assert handle.inverse_dynamics(q, v, v).shape == (3, handle.nv)
    assert handle.forward_dynamics(q, v, v).shape == (3, handle.nv)


def test_matrices_have_physical_widths(handle: grid_core.RobotHandle) -> None:
    """A13: the mass matrix and its inverse are nv by nv."""
    q = handle.random_configuration(1, 3)
    assert handle.crba(q).shape == (3, handle.nv, handle.nv)
    assert handle.minv(q).shape == (3, handle.nv, handle.nv)


@pytest.mark.parametrize("argument", ["qd", "u"])
def test_a_padded_velocity_is_refused(floating: grid_core.RobotHandle, argument: str) -> None:
    """A14: nq wide on a floating base is a ValueError that names the tangent width."""
    arrays = {"q": np.zeros((2, 9)), "qd": np.zeros((2, 8)), "u": np.zeros((2, 8))}
    arrays["q"][:, 6] = 1.0
    arrays[argument] = np.zeros((2, 9))
    with pytest.raises(ValueError, match=rf"{argument} must be \(B, nv=8\)") as caught:
        floating.forward_dynamics(**arrays)
    assert "not nq=9" in str(caught.value)


def test_a_block_is_refused(floating: grid_core.RobotHandle) -> None:
    """A1: the padded block is no argument of the handle."""
    block = pack_q_qd_u(np.zeros((2, 9)), np.zeros((2, 8)), np.zeros((2, 8)), model=floating)
    with pytest.raises(ValueError, match="nq=9"):
        floating.forward_dynamics(block, np.zeros((2, 8)), np.zeros((2, 8)))


def test_identity_and_public_order(floating: grid_core.RobotHandle) -> None:
    """A11, A12: identity is [0, 0, 0, 1]; a base velocity is linear first, in the base frame."""
    q = floating.neutral_configuration()
    assert list(q[:7]) == [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    v = np.zeros(8)
    v[0] = 0.25
    assert list(floating.integrate(q, v)[:7]) == [0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    v = np.zeros(8)
    v[5] = 0.5  # about z
    turned = floating.integrate(q, v)[:7]
    np.testing.assert_allclose(turned, [0, 0, 0, 0, 0, np.sin(0.25), np.cos(0.25)], atol=1e-12)


def test_dynamics_take_linear_first(floating: grid_core.RobotHandle) -> None:
    """A12: pushing a resting base along z without gravity moves entry 2, and its weight is m g."""
    q = floating.neutral_configuration()
    rest = np.zeros(8)
    weight = floating.inverse_dynamics(q, rest, rest)
    mass = sum(body.inertia.mass for body in floating.model.bodies)
    assert weight[2] == pytest.approx(mass * 9.81)
    assert floating.crba(q)[0, 0] == pytest.approx(mass)
