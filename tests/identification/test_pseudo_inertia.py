"""The ten parameters of a body, its pseudo-inertia and its log-Cholesky coordinates."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from grid_core.errors import InputError
from grid_core.identification import (
    from_log_cholesky,
    from_pseudo_inertia,
    is_consistent,
    log_cholesky,
    log_cholesky_jacobian,
    pseudo_inertia,
)
from grid_core.identification.prior import nearest_consistent


@pytest.fixture
def bodies() -> np.ndarray:
    """Bodies made of points of positive mass, the most general there is."""
    rng = np.random.default_rng(3)
    mass, place = rng.uniform(0.1, 1.0, (5, 8)), rng.normal(size=(5, 8, 3))
    squares = np.einsum("bk,bki,bki->b", mass, place, place)
    second = np.einsum("bk,bki,bkj->bij", mass, place, place)
    inertia = squares[:, None, None] * np.eye(3) - second
    upper = inertia[:, (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)]
    first = np.einsum("bk,bki->bi", mass, place)
    return np.concatenate([mass.sum(axis=1)[:, None], first, upper], axis=1)


def test_pseudo_inertia_is_the_second_moment_of_mass(bodies):
    """P = Σ m [r; 1] [r; 1]ᵀ, as Pinocchio has it too; and back."""
    P = pseudo_inertia(bodies)
    for body, own in zip(bodies, P, strict=True):
        theirs = pin.PseudoInertia.FromDynamicParameters(body).toMatrix()
        np.testing.assert_allclose(own, theirs, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(from_pseudo_inertia(P), bodies, rtol=1e-12, atol=1e-12)


def test_log_cholesky_is_pinocchios(bodies):
    """θ and back, both by Pinocchio's parametrisation."""
    theta = log_cholesky(bodies)
    for body, own in zip(bodies, theta, strict=True):
        theirs = pin.LogCholeskyParameters(own).toDynamicParameters()
        np.testing.assert_allclose(theirs, body, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(from_log_cholesky(theta), bodies, rtol=1e-10, atol=1e-12)


def test_log_cholesky_jacobian_is_exact(bodies):
    """∂π/∂θ against Pinocchio's, and against central differences."""
    theta = log_cholesky(bodies)
    jacobian = log_cholesky_jacobian(theta)
    for own, matrix in zip(theta, jacobian, strict=True):
        theirs = pin.LogCholeskyParameters(own).calculateJacobian()
        np.testing.assert_allclose(matrix, theirs, rtol=1e-9, atol=1e-10)
    for k in range(10):
        step = 1e-6 * np.eye(10)[k]
        slope = (from_log_cholesky(theta + step) - from_log_cholesky(theta - step)) / 2e-6
        np.testing.assert_allclose(jacobian[..., k], slope, rtol=1e-7, atol=1e-7)


def test_every_log_cholesky_coordinate_is_a_consistent_body():
    """However wild, as long as it can be written in double precision."""
    theta = np.random.default_rng(1).normal(size=(500, 10)) * 1.5
    assert np.all(is_consistent(from_log_cholesky(theta)))


def test_consistency_sees_what_positive_inertia_does_not():
    """A triangle inequality broken, a centre of mass outside of everything, no mass, and sizes."""
    good = np.array([1.0, 0, 0, 0, 1.0, 0, 1.0, 0, 0, 1.0])
    thin, far, none = good.copy(), good.copy(), 0.0 * good
    thin[9] = 2.5  # Izz > Ixx + Iyy
    far[1] = 1.1
    tiny = good * np.array([1e-6, *[1e-9] * 3, *[1e-12] * 6])
    found = is_consistent(np.array([good, thin, far, none, -good, tiny]))
    assert found.tolist() == [True, False, False, False, False, True]


def test_the_nearest_consistent_body_keeps_what_it_can(bodies):
    """Consistent bodies stay; others keep their mass and their centre of mass, if they have any."""
    thin = np.array([2.0, 0.2, 0, 0, 0.1, 0, 0.12, 0, 0, 0.02])
    thin[9] = 0.3
    everything = np.concatenate([bodies, [thin, np.zeros(10)]])
    found = nearest_consistent(everything)
    assert np.all(is_consistent(found))
    np.testing.assert_array_equal(found[:-2], bodies)
    np.testing.assert_allclose(found[-2, :4], thin[:4], rtol=1e-12)
    assert 0.0 < found[-1, 0] < 0.011 * np.mean(everything[everything[:, 0] > 0.0, 0])


def test_robots_without_any_inertia_get_one():
    """Nothing in the description at all: a kilogram of 5 cm each."""
    found = nearest_consistent(np.zeros((3, 10)))
    assert np.all(is_consistent(found))
    np.testing.assert_allclose(found[:, 0], 1.0)
    np.testing.assert_allclose(found[:, 4], 2 * 0.05**2)


def test_what_is_no_body_is_refused_by_name(bodies):
    """Shapes, kinds, and which body is impossible."""
    for function in (pseudo_inertia, is_consistent, log_cholesky):
        name = function.__name__
        with pytest.raises(
            InputError, match=rf"{name}: parameters must be \(..., 10\); got \(9,\)"
        ):
            function(np.ones(9))
        with pytest.raises(InputError, match=f"{name}: parameters must hold real numbers"):
            function(bodies.astype(str))
    for function in (from_log_cholesky, log_cholesky_jacobian):
        name = function.__name__
        with pytest.raises(InputError, match=rf"{name}: theta must be \(..., 10\); got \(3, 9\)"):
            function(np.ones((3, 9)))
    with pytest.raises(InputError, match=r"P must be \(..., 4, 4\); got \(4, 3\)"):
        from_pseudo_inertia(np.ones((4, 3)))
    with pytest.raises(InputError, match=r"log_cholesky: parameters are of no possible body"):
        log_cholesky(np.zeros(10))
    bodies[3, 0] = -1.0
    with pytest.raises(InputError, match=r"log_cholesky: parameters\[3\] are of no possible body"):
        log_cholesky(bodies)
    assert is_consistent(bodies.tolist()).tolist() == [True, True, True, False, True]
