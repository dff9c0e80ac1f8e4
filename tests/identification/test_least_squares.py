"""Ordinary and weighted least squares from sums of squares, against NumPy on the whole log."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.identification import Samples, base_parameters
from grid_core.identification.information import Accumulator
from grid_core.identification.least_squares import ordinary_fit, weighted_fit
from tests.identification.simulated import (
    TERMS,
    handle,
    perturbed,
    random_states,
    simulate,
)

_NOISE = np.array([0.002, 0.02, 0.2])


@pytest.fixture(scope="module")
def robot():
    """Three joints, one of which slides."""
    return handle("axis_aligned", terms=TERMS)


@pytest.fixture(scope="module")
def base(robot):
    """Its base parameters."""
    return base_parameters(robot)


@pytest.fixture(scope="module")
def log(robot):
    """Torques whose noise is a hundred times larger at one joint than at another."""
    rng = np.random.default_rng(4)
    states = [random_states(robot, rng, 300)]
    return simulate(robot, perturbed(robot, rng), states, rng, _NOISE)


def _read(robot, base, log, **changes):
    accumulator = Accumulator(robot, base, folds=1, gravity=-9.81)
    accumulator.add(Samples(*log.arrays, **changes))
    return accumulator.finish()


@pytest.fixture(scope="module")
def information(robot, base, log):
    """The log's sums of squares."""
    return _read(robot, base, log)


def _whole(robot, base, log):
    """Return X (N, nv, rank) and e (N, nv) themselves."""
    Y = robot.inverse_dynamics_regressor(log.q, log.qd, log.qdd)
    return Y[:, :, base.independent], log.tau - Y @ robot.parameters()


def test_sums_of_squares_are_those_of_the_whole_log(robot, base, log, information):
    """Normal matrices and residuals, with weights."""
    X, e = _whole(robot, base, log)
    total = information.total()
    weights = np.array([2.0, 1.0, 0.3])
    A, b = total.normal(weights)
    W = weights[None, :, None] * X
    np.testing.assert_allclose(A, np.einsum("njr,njs->rs", W, X), rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(b, np.einsum("njr,nj->r", W, e), rtol=1e-7, atol=1e-7)
    delta = np.random.default_rng(0).normal(size=base.rank)
    np.testing.assert_allclose(
        total.residuals(delta), np.sum((X @ delta - e) ** 2, axis=0), rtol=1e-9
    )


def test_the_ordinary_fit_is_numpys(robot, base, log, information):
    """All rows alike."""
    X, e = _whole(robot, base, log)
    expected = np.linalg.lstsq(X.reshape(-1, base.rank), e.ravel(), rcond=None)[0]
    fit = ordinary_fit(information.total())
    np.testing.assert_allclose(fit.delta, expected, rtol=1e-7, atol=1e-9)
    assert fit.degrees_of_freedom.sum() == pytest.approx(e.size - base.rank)


def test_the_weighted_fit_is_its_own_fixed_point(robot, base, log, information):
    """NumPy's fit with the weights that it found gives the same parameters, and those weights."""
    X, e = _whole(robot, base, log)
    fit = weighted_fit(information.total())
    root = np.sqrt(fit.weights)
    scaled = (root[:, None] * X).reshape(-1, base.rank)
    expected = np.linalg.lstsq(scaled, (root * e).ravel(), rcond=None)[0]
    # The last weights count degrees of freedom, which moves the fit within its own error.
    assert np.all(np.abs(fit.delta - expected) < 0.05 * fit.standard_errors)
    squares = np.sum((X @ fit.delta - e) ** 2, axis=0)
    np.testing.assert_allclose(fit.noise, np.sqrt(squares / fit.degrees_of_freedom), rtol=1e-6)
    assert fit.degrees_of_freedom.sum() == pytest.approx(e.size - base.rank, rel=1e-3)
    s = np.linalg.svd(scaled, compute_uv=False)
    assert fit.normal.condition == pytest.approx(s[0] / s[-1], rel=1e-3)


def test_the_likelihood_never_falls(information):
    """Weights and parameters in turns climb it."""
    history = np.array(weighted_fit(information.total()).log_likelihoods)
    assert len(history) > 2
    assert np.all(np.diff(history) >= -1e-9 * np.abs(history[-1]))


def test_noise_is_found_of_each_row(information, log):
    """Within what 300 samples can tell, though it differs by a hundred."""
    fit = weighted_fit(information.total())
    spread = 4.0 / np.sqrt(2.0 * fit.degrees_of_freedom)
    assert np.all(np.abs(fit.noise / log.noise - 1.0) < spread)


def test_standard_errors_are_those_of_many_logs(robot, base, log):
    """The spread of 200 fits to other noise, of both methods, is what each fit says of itself."""
    rng = np.random.default_rng(9)
    X, _ = _whole(robot, base, log)
    clean = X @ (base.of(log.true) - base.of(robot.parameters()))
    information = _read(robot, base, log)
    total = information.total()
    found = {"ols": [], "wls": []}
    promised = {"ols": [], "wls": []}
    for _ in range(200):
        e = clean + log.noise * rng.normal(size=clean.shape)
        for row, columns in enumerate(total.columns):
            Z = np.concatenate([X[:, row][:, columns], e[:, row, None]], axis=1)
            total.grams[row][:] = Z.T @ Z
        for name, fit in (("ols", ordinary_fit(total)), ("wls", weighted_fit(total))):
            found[name].append(fit.delta)
            promised[name].append(fit.standard_errors)
    truth = base.of(log.true) - base.of(robot.parameters())
    for name, deltas in found.items():
        error = np.array(deltas) - truth
        spread = np.sqrt(np.mean(error**2, axis=0))
        said = np.sqrt(np.mean(np.square(promised[name]), axis=0))
        # 200 draws tell a standard deviation to 5 %; the largest of 25 deviates by three of those.
        np.testing.assert_allclose(spread, said, rtol=0.2, err_msg=name)
        assert np.all(np.abs(np.mean(error, axis=0)) < 4.0 * said / np.sqrt(200)), name
    assert np.all(np.mean(promised["wls"], axis=0) < 1.01 * np.mean(promised["ols"], axis=0)), (
        "weights must not make it worse"
    )


def test_confidence_is_two_standard_errors_of_a_normal_distribution(robot, base, information):
    """1.96 of them for 95 %, and relative ones in per cent of β."""
    fit = weighted_fit(information.total())
    np.testing.assert_allclose(fit.confidence(), 1.959964 * fit.standard_errors, rtol=1e-6)
    reference = base.of(robot.parameters())
    relative = fit.relative_deviations(reference)
    beta = reference + fit.delta
    np.testing.assert_allclose(relative * np.abs(beta), 100.0 * fit.standard_errors)
    assert fit.relative_deviations(-fit.delta)[0] == np.inf
    assert fit.to_dict(-fit.delta)["relative_standard_deviations_percent"][0] is None


def test_without_noise_the_truth_comes_back(robot, base, log):
    """To the half of the digits that sums of squares have."""
    rng = np.random.default_rng(1)
    clean = simulate(robot, log.true, [(log.q, log.qd, log.qdd)], rng, noise=0.0)
    fit = weighted_fit(_read(robot, base, clean).total())
    beta = base.of(robot.parameters()) + fit.delta
    np.testing.assert_allclose(beta, base.of(log.true), rtol=1e-7, atol=1e-8)
    assert np.all(fit.noise < 1e-6 * np.sqrt(np.mean(clean.tau**2, axis=0)))


def test_what_the_log_does_not_show_stays_at_the_description(robot, base, log):
    """A last joint that never moves leaves parameters that no least squares can tell."""
    q, qd, qdd = log.q.copy(), log.qd.copy(), log.qdd.copy()
    q[:, 2], qd[:, 2], qdd[:, 2] = 0.1, 0.0, 0.0
    rng = np.random.default_rng(1)
    still = simulate(robot, log.true, [(q, qd, qdd)], rng)
    fit = ordinary_fit(_read(robot, base, still).total())
    names = [base.names[column] for column in base.independent]
    assert abs(fit.delta[names.index("j3.viscous")]) < 1e-9
    assert fit.normal.scaled_condition == np.inf


def test_white_noise_is_read_off_second_differences(robot, base):
    """Without any model: from the torques of a slow motion, if times are there."""
    rng = np.random.default_rng(3)
    t = 1e-3 * np.arange(4000)[:, None]
    q = 0.3 * np.sin(2.0 * t + np.array([0.0, 1.0, 2.0]))
    qd, qdd = 0.6 * np.cos(2.0 * t + np.array([0.0, 1.0, 2.0])), -4.0 * q
    log = simulate(robot, perturbed(robot, rng), [(q, qd, qdd)], rng, _NOISE)
    found = _read(robot, base, log, time=t[:, 0]).white_noise
    np.testing.assert_allclose(found, log.noise, rtol=0.06)
    assert _read(robot, base, log).white_noise is None
