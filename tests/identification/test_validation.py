"""Cross-validation: whole trajectories are held out, and errors are those of real fits."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.identification import Samples, base_parameters
from grid_core.identification.information import Accumulator
from grid_core.identification.least_squares import weighted_fit
from grid_core.identification.prior import Prior
from grid_core.identification.regressor import Layout
from grid_core.identification.validation import cross_validate
from tests.identification.simulated import (
    TERMS,
    handle,
    perturbed,
    simulate,
    smooth_states,
)


@pytest.fixture(scope="module")
def robot():
    """Three joints, one of which slides."""
    return handle("axis_aligned", terms=TERMS)


@pytest.fixture(scope="module")
def log(robot):
    """Seven recordings of different lengths."""
    rng = np.random.default_rng(2)
    states = [smooth_states(robot, rng, 60 + 20 * k, dt=0.02) for k in range(7)]
    return simulate(robot, perturbed(robot, rng), states, rng, 0.02)


@pytest.fixture(scope="module")
def base(robot):
    """Its base parameters."""
    return base_parameters(robot)


@pytest.fixture(scope="module")
def information(robot, base, log):
    """The log in three folds; recordings in another order, and one split between two chunks."""
    order = np.random.default_rng(0).permutation(len(log.q))
    accumulator = Accumulator(robot, base, folds=3, gravity=-9.81)
    for part in np.array_split(np.concatenate([[0], order[order > 0]]), 3):
        arrays = (array[part] for array in log.arrays)
        accumulator.add(Samples(*arrays, trajectory=log.trajectory[part]))
    return accumulator.finish()


@pytest.fixture(scope="module")
def validation(robot, information, base):
    """Three weights of the prior tried."""
    total = information.total()
    prior = Prior.of(
        Layout.of(robot),
        information.reference,
        np.sqrt(total.torque / total.samples),
        information.speed,
        information.acceleration,
    )
    weights = (1e5, 1.0, 1e-3)
    return cross_validate(information, base, prior, weighted_fit(total).noise, weights)


def test_a_trajectory_is_in_one_fold_only(robot, base, log):
    """Each of seven recordings read alone has a sum that the folds' sums are made of."""
    accumulator = Accumulator(robot, base, folds=3, gravity=-9.81)
    for k in range(7):
        own = log.trajectory == k
        accumulator.add(Samples(*(array[own] for array in log.arrays), trajectory=f"run {k}"))
    found = accumulator.finish()
    lengths = np.bincount(log.trajectory)
    assert [f.samples for f in found.folds] == [lengths[k::3].sum() for k in range(3)]
    assert found.trajectories == 7


def test_folds_add_up_to_the_log(information, log):
    """And leave one out to all but that."""
    total, rest = information.total(), information.total(leave_out=1)
    assert total.samples == len(log.q)
    assert rest.samples == total.samples - information.folds[1].samples
    np.testing.assert_allclose(total.torque, np.sum(log.tau**2, axis=0))
    for whole, part, own in zip(total.grams, rest.grams, information.folds[1].grams, strict=True):
        np.testing.assert_allclose(part + own, whole, rtol=1e-12, atol=1e-9)


def test_held_out_errors_are_those_of_fits_to_the_others(robot, base, log):
    """By NumPy on the arrays themselves, for the ordinary fit and for the description."""
    groups = [log.trajectory % 3 == k for k in range(3)]
    accumulator = Accumulator(robot, base, folds=3, gravity=-9.81)
    for k in range(7):
        own = log.trajectory == k
        accumulator.add(Samples(*(array[own] for array in log.arrays), trajectory=k))
    information = accumulator.finish()
    total = information.total()
    prior = Prior.of(
        Layout.of(robot),
        information.reference,
        np.sqrt(total.torque / total.samples),
        information.speed,
        information.acceleration,
    )
    found = cross_validate(information, base, prior, weighted_fit(total).noise, (1.0,))
    Y = robot.inverse_dynamics_regressor(log.q, log.qd, log.qdd)
    X, e = Y[:, :, base.independent], log.tau - Y @ robot.parameters()
    squares = np.zeros(robot.nv)
    for k, own in enumerate(groups):
        train = X[~own].reshape(-1, base.rank)
        delta = np.linalg.lstsq(train, e[~own].ravel(), rcond=None)[0]
        errors = np.sum((X[own] @ delta - e[own]) ** 2, axis=0)
        np.testing.assert_allclose(
            found.rms_of_folds["ols"][k], np.sqrt(errors / own.sum()), rtol=1e-4
        )
        squares += errors
    np.testing.assert_allclose(found.rms["ols"], np.sqrt(squares / len(e)), rtol=1e-4)
    np.testing.assert_allclose(found.rms["description"], np.sqrt(np.mean(e**2, axis=0)), rtol=1e-9)


def test_fits_come_near_the_noise_and_the_description_does_not(validation, log):
    """Within the fifth that fitting two thirds of a short log costs."""
    for name in ("wls", "consistent"):
        assert np.all(validation.rms[name] < 1.2 * log.noise), name
    assert np.all(validation.rms["ols"] > 0.99 * validation.rms["wls"])
    assert np.all(validation.rms["description"] > 3.0 * log.noise)


def test_the_heaviest_prior_that_does_no_harm_is_chosen(validation):
    """A hundred thousand holds the fit back; of the other two, the first is as good."""
    assert validation.losses[0] > 1.01 * np.min(validation.losses)
    assert validation.prior_weight == 1.0
    assert validation.losses[1] <= 1.001 * np.min(validation.losses)


def test_scrambled_samples_fall_into_the_folds_of_their_trajectories(information, log):
    """Chunks cut across recordings change nothing in how many samples a fold has."""
    lengths = np.bincount(log.trajectory)
    seen = sum(fold.samples for fold in information.folds)
    assert seen == lengths.sum()
    sizes = {int(sum(lengths[list(group)])) for group in _groups()}
    assert {fold.samples for fold in information.folds} <= sizes


def _groups():
    """Yield every group of two or three of seven recordings."""
    for a in range(7):
        for b in range(a):
            yield (a, b)
            yield from ((a, b, c) for c in range(b))
