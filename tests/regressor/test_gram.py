"""Sums of squares over a log against the regressor written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import grid_core
from grid_core.assets import asset_path
from grid_core.errors import ArgumentError, InputError
from tests.support.robots import HAND_MADE

if TYPE_CHECKING:
    from grid_core.gram import Gram
    from grid_core.model.types import Array

COUNT = 5000
"""Samples: several chunks and a part of one."""
TERMS = ("viscous", "offset")
WANTED = ["regressor_gram", "inverse_dynamics_regressor"]


@pytest.fixture(scope="module")
def arm() -> grid_core.RobotHandle:
    return grid_core.load_robot(
        asset_path("iiwa14"), dtype="float64", algorithm_list=WANTED, regressor_terms=TERMS
    )


@pytest.fixture(scope="module")
def log(arm: grid_core.RobotHandle) -> tuple[Array, ...]:
    """States, and torques of other parameters than the description's, with noise."""
    rng = np.random.default_rng(5)
    q = arm.random_configuration(rng, COUNT)
    qd, qdd = rng.normal(size=(2, COUNT, 7))
    pi = arm.parameters() * rng.uniform(0.7, 1.3, 84) + np.repeat([0.0, 0.3], [70, 14])
    tau = arm.inverse_dynamics_regressor(q, qd, qdd) @ pi + 0.05 * rng.normal(size=(COUNT, 7))
    return q, qd, qdd, tau


def close(gram: Gram, Y: Array, tau: Array, W: Array) -> None:
    size = np.abs(Y).max() ** 2 * len(Y)
    expected = np.einsum("bvp,v,bvr->pr", Y, W, Y)
    np.testing.assert_allclose(gram.YtY, expected, rtol=1e-12, atol=1e-13 * size)
    expected = np.einsum("bvp,v,bv->p", Y, W, tau)
    np.testing.assert_allclose(gram.Yttau, expected, rtol=1e-11, atol=1e-12 * size)
    assert gram.tautau == pytest.approx(np.einsum("bv,v,bv->", tau, W, tau), rel=1e-13)
    assert gram.count == len(Y)


def test_is_what_the_regressor_written_out_gives(
    arm: grid_core.RobotHandle, log: tuple[Array, ...]
) -> None:
    Y, tau = arm.inverse_dynamics_regressor(*log[:3]), log[3]
    gram = arm.regressor_gram(*log)
    close(gram, Y, tau, np.ones(7))
    assert gram.names == arm.parameter_names()
    other = arm.regressor_gram(*log, order="grid")
    place = [gram.names.index(name) for name in other.names]
    np.testing.assert_allclose(other.YtY, gram.YtY[np.ix_(place, place)], rtol=1e-12, atol=1e-8)


def test_rows_are_weighted_before_or_afterwards(
    arm: grid_core.RobotHandle, log: tuple[Array, ...]
) -> None:
    W = np.array([1.0, 2.0, 0.0, 0.5, 3.0, 4.0, 0.1])
    Y = arm.inverse_dynamics_regressor(*log[:3])
    close(arm.regressor_gram(*log, weights=W), Y, log[3], W)
    close(arm.regressor_gram(*log).weighted(W), Y, log[3], W)


def test_a_log_may_come_in_chunks(arm: grid_core.RobotHandle, log: tuple[Array, ...]) -> None:
    whole = arm.regressor_gram(*log)
    parts = [
        tuple(array[k] for array in log) for k in (slice(0, 17), slice(17, 3000), slice(3000, None))
    ]
    chained = None
    for part in parts:
        chained = arm.regressor_gram(*part, initial=chained)
    assert chained is not None
    added = sum((arm.regressor_gram(*part) for part in parts[1:]), arm.regressor_gram(*parts[0]))
    for gram in (chained, added):
        np.testing.assert_allclose(gram.YtY, whole.YtY, rtol=1e-12, atol=1e-8)
        np.testing.assert_allclose(gram.Yttau, whole.Yttau, rtol=1e-11, atol=1e-8)
        assert gram.count == COUNT
    empty = arm.regressor_gram(*(array[:0] for array in log), initial=whole)
    np.testing.assert_array_equal(empty.YtY, whole.YtY)


def test_the_same_numbers_come_out_again(
    arm: grid_core.RobotHandle, log: tuple[Array, ...]
) -> None:
    first, second = arm.regressor_gram(*log), arm.regressor_gram(*log)
    np.testing.assert_array_equal(first.YtY, second.YtY)
    np.testing.assert_array_equal(first.Yttau, second.Yttau)


def test_its_solution_is_that_of_a_factorisation_of_the_regressor(
    arm: grid_core.RobotHandle, log: tuple[Array, ...]
) -> None:
    """Within 1e-6 of float64 QR, over the parameters that the log decides."""
    Y, tau = arm.inverse_dynamics_regressor(*log[:3]).reshape(-1, 84), log[3].ravel()
    lengths = np.linalg.norm(Y, axis=0)
    scale = np.divide(1.0, lengths, out=np.zeros(84), where=lengths > 0.0)
    expected = scale * np.linalg.lstsq(Y * scale, tau, rcond=1e-9)[0]
    pi = arm.regressor_gram(*log).solve()
    assert np.linalg.norm((pi - expected) / scale.max()) < 1e-6
    np.testing.assert_allclose(pi, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())
    residuals = arm.regressor_gram(*log).residuals(pi)
    wanted = np.sum((Y @ expected - tau).reshape(-1, 7) ** 2, axis=0)
    np.testing.assert_allclose(residuals, wanted, rtol=1e-6)


def test_a_prior_fills_what_the_log_leaves_open(
    arm: grid_core.RobotHandle, log: tuple[Array, ...]
) -> None:
    prior = arm.parameters()
    gram = arm.regressor_gram(*log)
    pi = gram.solve(prior)
    # The mass of the first link is never felt: it stays as it is.
    assert pi[0] == pytest.approx(prior[0], abs=1e-9)
    np.testing.assert_allclose(gram.residuals(pi), gram.residuals(gram.solve()), rtol=1e-6)


def test_single_precision_sums_in_double(log: tuple[Array, ...]) -> None:
    robot = grid_core.load_robot(asset_path("iiwa14"), algorithm_list=WANTED, regressor_terms=TERMS)
    gram = robot.regressor_gram(*log)
    rounded = [array.astype(np.float32) for array in log]
    Y = robot.inverse_dynamics_regressor(*rounded[:3]).astype(np.float64)
    close(gram, Y, rounded[3].astype(np.float64), np.ones(7))


def test_a_floating_robot() -> None:
    text = HAND_MADE["skew_axes"].text
    robot = grid_core.load_robot(
        urdf_string=text, dtype="float64", floating_base=True, algorithm_list=WANTED
    )
    rng = np.random.default_rng(1)
    q = robot.random_configuration(rng, 40)
    qd, qdd, tau = rng.normal(size=(3, 40, robot.nv))
    close(
        robot.regressor_gram(q, qd, qdd, tau),
        robot.inverse_dynamics_regressor(q, qd, qdd),
        tau,
        np.ones(robot.nv),
    )


def test_what_is_refused(arm: grid_core.RobotHandle, log: tuple[Array, ...]) -> None:
    q, qd, qdd, tau = (array[:4] for array in log)
    with pytest.raises(InputError, match=r"regressor_gram: tau must be \(B, nv=7\)"):
        arm.regressor_gram(q, qd, qdd, tau[:, :3])
    with pytest.raises(InputError, match="q needs the axis B, over which is summed"):
        arm.regressor_gram(q[0], qd[0], qdd[0], tau[0])
    with pytest.raises(InputError, match="tau must have the batch of q, B=4; got B=3"):
        arm.regressor_gram(q, qd, qdd, tau[:3])
    with pytest.raises(InputError, match=r"weights must be \(nv=7,\)"):
        arm.regressor_gram(q, qd, qdd, tau, weights=[1.0, 2.0])
    with pytest.raises(InputError, match="at least 0"):
        arm.regressor_gram(q, qd, qdd, tau, weights=-np.ones(7))
    gram = arm.regressor_gram(q, qd, qdd, tau)
    with pytest.raises(ArgumentError, match="initial must be sums of this robot's parameters"):
        arm.regressor_gram(q, qd, qdd, tau, initial=gram, order="grid")
    with pytest.raises(ArgumentError, match="other parameters"):
        gram + arm.regressor_gram(q, qd, qdd, tau, order="grid")
    with pytest.raises(ArgumentError, match="other weights"):
        gram + gram.weighted(np.arange(7.0))
    with pytest.raises(InputError, match=r"solve: prior must be \(p=84,\); got \(4,\)"):
        gram.solve(prior=np.ones(4))
    with pytest.raises(InputError, match="solve: prior must hold real numbers"):
        gram.solve(prior=["heavy"] * 84)
    with pytest.raises(InputError, match=r"residuals: parameters must be \(p=84,\)"):
        gram.residuals(np.ones(83))
    with pytest.raises(InputError, match="weighted: weights must hold real numbers"):
        gram.weighted(["much"] * 7)
