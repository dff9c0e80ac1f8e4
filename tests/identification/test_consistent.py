"""The physically consistent fit: its derivatives, its minimum, and that every body can exist."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.identification import (
    Samples,
    base_parameters,
    is_consistent,
    log_cholesky,
    log_cholesky_jacobian,
    pseudo_inertia,
)
from grid_core.identification.cone_program import Point, transposed
from grid_core.identification.information import Accumulator
from grid_core.identification.least_squares import weighted_fit
from grid_core.identification.prior import Prior
from grid_core.identification.regressor import Layout
from grid_core.identification.validation import consistent_problem
from tests.identification.simulated import (
    TERMS,
    handle,
    perturbed,
    random_states,
    simulate,
)

_WEIGHTS = tuple(10.0**k for k in range(3, -7, -1))


class _Case:
    """A log of a robot, read and fitted, and its consistent problem."""

    def __init__(self, name: str, seed: int, samples: int = 200, terms=TERMS) -> None:
        self.robot = robot = handle(name, terms=terms)
        rng = np.random.default_rng(seed)
        self.log = simulate(robot, perturbed(robot, rng), [random_states(robot, rng, samples)], rng)
        self.base = base_parameters(robot)
        accumulator = Accumulator(robot, self.base, folds=1, gravity=-9.81)
        accumulator.add(Samples(*self.log.arrays))
        self.information = accumulator.finish()
        self.total = self.information.total()
        self.fit = weighted_fit(self.total)
        self.prior = self.prior_of(robot.parameters())
        self.problem = self.problem_of(self.prior)

    def prior_of(self, parameters):
        return Prior.of(
            Layout.of(self.robot),
            parameters,
            np.sqrt(self.total.torque / self.total.samples),
            self.information.speed,
            self.information.acceleration,
        )

    def problem_of(self, prior):
        return consistent_problem(
            self.total, self.fit, self.base, self.information.reference, prior
        )

    def misfit(self, parameters) -> np.ndarray:
        """Return each row's root mean square error, of its noise."""
        delta = self.base.of(parameters) - self.base.of(self.information.reference)
        return np.sqrt(self.total.residuals(delta) / self.total.samples) / self.log.noise


@pytest.fixture(scope="module")
def arm():
    """Four joints with skew axes."""
    return _Case("skew_axes", 2)


def _bodies(case, parameters):
    return parameters[: 10 * case.robot.nb].reshape(-1, 10)


def _some_point(case):
    """Return a point well away from prior and minimum."""
    problem, rng = case.problem, np.random.default_rng(5)
    return problem.moved(problem.program.prior, 0.15 * rng.normal(size=len(case.base.names)))


def test_the_gradient_is_that_of_finite_differences(arm):
    """Along every coordinate, at a point that is neither the prior nor the minimum."""
    problem, point, weight = arm.problem, _some_point(arm), 50.0
    gradient = problem.gradient(point, weight)
    slopes = np.empty_like(gradient)
    for k in range(len(slopes)):
        step = 1e-5 * np.eye(len(slopes))[k]
        ahead = problem.objective(problem.moved(point, step), weight)
        slopes[k] = (ahead - problem.objective(problem.moved(point, -step), weight)) / 2e-5
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6 * np.max(np.abs(slopes)))


def test_newtons_matrix_is_the_hessian(arm):
    """The quadratic model that a step minimises is the gradient's own change."""
    problem, point, weight = arm.problem, _some_point(arm), 50.0
    step, slope = problem._newton_step(point, weight)
    gradient = problem.gradient(point, weight)
    assert slope == pytest.approx(float(gradient @ step))
    h = 1e-6
    M = problem._through(point)
    hessian = M.T @ M + weight * np.eye(len(step))
    np.testing.assert_allclose(hessian @ step, -gradient, atol=1e-6 * np.max(np.abs(gradient)))
    # In coordinates about the moved point, gradients are seen from there; compare along a line.
    along = [problem.objective(problem.moved(point, k * h * step), weight) for k in (-1, 0, 1)]
    curvature = (along[0] - 2.0 * along[1] + along[2]) / h**2
    assert curvature == pytest.approx(float(step @ hessian @ step), rel=0.02)


@pytest.mark.parametrize("weight", [1e3, 1.0, 1e-6])
def test_it_minimises_and_stays_inside(arm, weight):
    """Newton's steps never raise the objective; the gradient vanishes; every body is possible."""
    (stage,) = arm.problem.path((weight,))
    assert stage.converged
    assert np.all(np.diff(stage.objectives) <= 0.0)
    assert np.all(is_consistent(_bodies(arm, stage.parameters)))
    rng = np.random.default_rng(0)
    for _ in range(20):
        step = 1e-3 * rng.normal(size=len(stage.parameters))
        moved = arm.problem.moved(stage.point, step)
        assert arm.problem.objective(moved, weight) > stage.objectives[-1]


def test_a_path_ends_where_a_direct_minimisation_does(arm):
    """One minimum for each weight, however it is come by."""
    path = list(arm.problem.path(_WEIGHTS))
    assert all(stage.converged for stage in path)
    for stage in (path[2], path[-1]):
        (direct,) = arm.problem.path((stage.weight,))
        np.testing.assert_allclose(direct.objectives[-1], stage.objectives[-1], rtol=1e-9)
        scale = np.max(np.abs(stage.parameters))
        np.testing.assert_allclose(direct.parameters, stage.parameters, atol=1e-5 * scale)


def test_the_minimum_is_stationary_in_log_cholesky_coordinates(arm):
    """By the textbook's derivative of the divergence, P⁰⁻¹ - P⁻¹, and the maps' exact Jacobian."""
    weight, program = 1.0, arm.problem.program
    (stage,) = arm.problem.path((weight,))
    pi, prior = stage.parameters, arm.prior.parameters
    fit = program.M.T @ (program.M @ pi - program.target)
    pull = np.zeros_like(pi)
    P, P0 = (pseudo_inertia(_bodies(arm, values)) for values in (pi, prior))
    units = pseudo_inertia(np.eye(10))
    slopes = np.einsum("bij,kji->bk", np.linalg.inv(P0) - np.linalg.inv(P), units)
    pull[program.bodies] = slopes.ravel()
    pull[program.positive] = 1.0 / prior[program.positive] - 1.0 / pi[program.positive]
    pull[program.free] = (pi - prior)[program.free] / program.free_scale**2
    slope = fit + weight * pull
    jacobian = log_cholesky_jacobian(log_cholesky(_bodies(arm, pi)))
    sizes = [np.abs(part[program.bodies]).reshape(-1, 10) for part in (fit, weight * pull)]
    turned = np.einsum("bpt,bp->bt", jacobian, slope[program.bodies].reshape(-1, 10))
    scale = np.einsum("bpt,bp->bt", np.abs(jacobian), sizes[0] + sizes[1])
    assert np.all(np.abs(turned) < 1e-6 * scale)
    rest = slice(10 * arm.robot.nb, None)
    assert np.all(np.abs(slope[rest]) < 1e-6 * (np.abs(fit) + weight * np.abs(pull))[rest])


def test_the_objective_is_convex(arm):
    """Half-way between any two consistent robots it is at most their mean."""
    problem, rng = arm.problem, np.random.default_rng(6)
    width = len(arm.base.names)
    prior = problem.program.prior
    for _ in range(30):
        a, b = (problem.moved(prior, 0.12 * rng.normal(size=width)) for _ in range(2))
        middle = Point(
            np.linalg.cholesky(
                0.5 * (a.factors @ transposed(a.factors) + b.factors @ transposed(b.factors))
            ),
            0.5 * (a.positive + b.positive),
            0.5 * (a.free + b.free),
        )
        mean = 0.5 * (problem.objective(a, 1e3) + problem.objective(b, 1e3))
        assert problem.objective(middle, 1e3) <= mean


def test_what_the_log_leaves_open_stays_at_the_description():
    """Of data that the description explains, the description is the minimum, whatever λ."""
    case = _Case("branching", 3)
    program = case.problem.program
    pi = case.prior.parameters
    case.problem.program = type(program)(
        program.M, program.M @ pi, program.prior, program.free_scale, program.positive, program.free
    )
    for stage in case.problem.path((10.0, 1e-3)):
        np.testing.assert_allclose(stage.parameters, pi, atol=1e-6 * np.max(np.abs(pi)))


def test_a_heavy_prior_wins_and_a_light_one_yields(arm):
    """From the description at λ → ∞ to the log's noise at λ → 0."""
    heavy, light = arm.problem.path((1e14, 1e-6))
    scale = np.max(np.abs(arm.prior.parameters))
    np.testing.assert_allclose(heavy.parameters, arm.prior.parameters, atol=1e-4 * scale)
    assert np.all(arm.misfit(light.parameters) < 1.1)
    assert np.all(arm.misfit(heavy.parameters) > 2.0)


def _massless(pi, nb):
    pi[: 10 * nb] = 0.0


def _pointlike(pi, nb):
    pi[: 10 * nb].reshape(nb, 10)[:, 1:] = 0.0


def _negative(pi, nb):
    pi[: 10 * nb].reshape(nb, 10)[:, 4:] *= -1.0


def _far_too_heavy(pi, nb):
    pi[: 10 * nb] *= 100.0


@pytest.mark.parametrize("spoil", [_massless, _pointlike, _negative, _far_too_heavy])
@pytest.mark.parametrize("name", ["skew_axes", "spherical", "prismatic"])
def test_bad_descriptions_are_recovered_from(name, spoil):
    """Without mass, without extent, inside out, or a hundred times too heavy: the log decides."""
    case = _Case(name, 7)
    pi = case.robot.parameters()
    spoil(pi, case.robot.nb)
    prior = case.prior_of(pi)
    assert len(prior.repaired) == (0 if spoil is _far_too_heavy else case.robot.nb)
    *_, stage = case.problem_of(prior).path(_WEIGHTS)
    assert stage.converged
    assert np.all(is_consistent(_bodies(case, stage.parameters)))
    assert np.all(case.misfit(stage.parameters) < 1.1)


def test_friction_and_rotors_are_positive_even_against_the_log():
    """A joint that seems to drive itself gets next to no friction, not a negative one."""
    case = _Case("axis_aligned", 8)
    layout = Layout.of(case.robot)
    true = case.log.true.copy()
    true[layout.columns("viscous")] = -0.5
    true[layout.columns("coulomb")] = 0.0
    case.fit.delta[:] = case.base.of(true) - case.base.of(case.information.reference)
    (stage,) = case.problem_of(case.prior).path((1e-3,))
    assert stage.converged
    for term in ("viscous", "coulomb", "rotor_inertia"):
        assert np.all(stage.parameters[layout.columns(term)] > 0.0)
    assert np.all(stage.parameters[layout.columns("viscous")] < 0.05)


def test_the_covariance_is_the_inverse_hessian(arm):
    """By differences of the gradient in π's own coordinates, on what the log tells."""
    (stage,) = arm.problem.path((1.0,))
    covariance = arm.problem.covariance(stage.point, 1.0)
    assert np.all(np.linalg.eigvalsh(covariance) > -1e-12)
    G = arm.base.combinations
    told = G @ covariance @ G.T
    np.testing.assert_allclose(
        np.sqrt(np.diagonal(told)), arm.fit.standard_errors, rtol=0.1, atol=0.0
    )
