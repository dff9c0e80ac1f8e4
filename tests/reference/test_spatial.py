"""Spatial algebra: the identities that define it."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.model.types import Array, Inertia
from grid_core.reference.rotations import axis_rotation, quaternion_rotation
from grid_core.reference.spatial import (
    apply,
    crf,
    crm,
    motion_transform,
    skew,
    solve,
    spatial_inertia,
    swap_halves,
    transpose,
)

B = 5


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def placements(rng: np.random.Generator) -> Array:
    axis = rng.normal(size=3)
    T = np.tile(np.eye(4), (B, 1, 1))
    T[:, :3, :3] = axis_rotation(axis / np.linalg.norm(axis), rng.uniform(-3.0, 3.0, B))
    T[:, :3, 3] = rng.normal(size=(B, 3))
    return T


def test_skew_is_the_cross_product(rng: np.random.Generator) -> None:
    a, b = rng.normal(size=(2, B, 3))
    np.testing.assert_allclose(apply(skew(a), b), np.cross(a, b), atol=1e-15)


def test_axis_rotation_turns_by_the_right_hand() -> None:
    R = axis_rotation(np.array([0.0, 0.0, 1.0]), np.array([np.pi / 2]))
    np.testing.assert_allclose(R[0] @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-15)


def test_quaternion_rotation_is_the_axis_rotation(rng: np.random.Generator) -> None:
    axis, theta = rng.normal(size=3), rng.uniform(-3.0, 3.0, B)
    axis /= np.linalg.norm(axis)
    quaternion = np.column_stack([np.sin(theta / 2)[:, None] * axis, np.cos(theta / 2)])
    np.testing.assert_allclose(
        quaternion_rotation(quaternion), axis_rotation(axis, theta), atol=1e-15
    )


def test_transforms_compose_as_placements_do(rng: np.random.Generator) -> None:
    T_AB, T_BC = placements(rng), placements(rng)
    np.testing.assert_allclose(
        motion_transform(T_AB @ T_BC), motion_transform(T_BC) @ motion_transform(T_AB), atol=1e-14
    )


def test_a_screw_seen_from_elsewhere(rng: np.random.Generator) -> None:
    """The linear part of a rigid motion is the velocity of the body's point at the origin."""
    T, v = placements(rng), rng.normal(size=(B, 6))
    R, p = T[:, :3, :3], T[:, :3, 3]
    seen = apply(motion_transform(T), v)
    np.testing.assert_allclose(seen[:, :3], apply(transpose(R), v[:, :3]), atol=1e-14)
    at_p = v[:, 3:] + np.cross(v[:, :3], p)
    np.testing.assert_allclose(seen[:, 3:], apply(transpose(R), at_p), atol=1e-14)


def test_cross_products_are_derivatives_of_transforms(rng: np.random.Generator) -> None:
    """crm(v) m is the rate of a motion vector m that is fixed in a frame moving with v."""
    v, m, dt = rng.normal(size=6), rng.normal(size=(1, 6)), 1e-6
    T = np.tile(np.eye(4), (2, 1, 1))
    angle = np.linalg.norm(v[:3])
    T[:, :3, :3] = axis_rotation(v[:3] / angle, angle * np.array([dt, -dt]))
    T[:, :3, 3] = np.outer([dt, -dt], v[3:])
    there = solve(motion_transform(T), np.repeat(m, 2, 0)[..., None])[..., 0]
    np.testing.assert_allclose((there[0] - there[1]) / (2 * dt), crm(v) @ m[0], atol=1e-8)


def test_force_cross_product_is_dual(rng: np.random.Generator) -> None:
    v, m, f = rng.normal(size=(3, B, 6))
    power = np.sum(f * apply(crm(v), m) + apply(crf(v), f) * m, axis=1)
    np.testing.assert_allclose(power, 0.0, atol=1e-14)


def test_spatial_inertia_sums_the_energy_of_points(rng: np.random.Generator) -> None:
    masses, points = rng.uniform(0.1, 1.0, 7), rng.normal(size=(7, 3))
    com = masses @ points / masses.sum()
    arms = points - com
    moments = np.einsum("p,pi,pj->ij", masses, arms, arms)
    rotational = np.trace(moments) * np.eye(3) - moments
    I = spatial_inertia(Inertia(mass=masses.sum(), com=com, rotational=rotational))
    v = rng.normal(size=6)
    speeds = v[3:] + np.cross(v[:3], points)
    assert v @ I @ v == pytest.approx(masses @ np.sum(speeds**2, axis=1), rel=1e-13)


def test_swap_halves_twice_is_nothing(rng: np.random.Generator) -> None:
    x = rng.normal(size=(B, 2, 6))
    np.testing.assert_array_equal(swap_halves(x)[..., :3], x[..., 3:])
    np.testing.assert_array_equal(swap_halves(swap_halves(x)), x)
