"""From logs to parameters: simulated robots that differ from their descriptions."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import grid_core
from grid_core.assets import asset_path
from grid_core.errors import ArgumentError, GridError, InputError, OptionError
from grid_core.identification import (
    Samples,
    identify,
    identify_stream,
    is_consistent,
)
from tests.identification.simulated import (
    TERMS,
    handle,
    perturbed,
    random_states,
    simulate,
    smooth_states,
)


def _bodies(robot, parameters):
    return parameters[: 10 * robot.nb].reshape(-1, 10)


@pytest.fixture(scope="module")
def arm():
    """The arm of seven joints, with friction."""
    return handle("iiwa14", terms=TERMS)


@pytest.fixture(scope="module")
def log(arm):
    """Ten recordings of a second, with 1 % of noise in the torques."""
    rng = np.random.default_rng(20)
    states = [smooth_states(arm, rng, 400) for _ in range(10)]
    return simulate(arm, perturbed(arm, rng), states, rng)


@pytest.fixture(scope="module")
def result(arm, log):
    """What is found of it."""
    time = np.concatenate([10.0 * k + 2e-3 * np.arange(400) for k in range(10)])
    return identify(arm, *log.arrays, time=time)


def test_held_out_torques_are_within_a_fifth_of_the_noise(result, log):
    """Of every row, for the consistent fit as for the weighted one."""
    for method in ("wls", "consistent"):
        assert np.all(result.validation.rms[method] < 1.2 * log.noise)
    assert np.all(result.validation.rms["description"] > 5.0 * log.noise)


def test_every_body_can_exist(arm, result):
    """And friction and rotors are positive."""
    assert result.converged
    assert result.inconsistent == ()
    assert np.all(is_consistent(_bodies(arm, result.parameters)))
    names = np.array(result.parameter_names)
    positive = ~np.char.endswith(names, ".offset") & (np.arange(len(names)) >= 10 * arm.nb)
    assert np.all(result.parameters[positive] > 0.0)


def test_base_parameters_come_back_within_their_standard_errors(result, log):
    """The sum of squared errors, by the covariance, is that of χ² with as many as there are."""
    for name, fit in result.fits.items():
        beta = result.base.of(result.initial) + fit.delta
        error = beta - result.base.of(log.true)
        distance = error @ np.linalg.solve(fit.covariance, error)
        rank = result.base.rank
        assert abs(distance - rank) < 4.0 * np.sqrt(2.0 * rank), name
        assert np.max(np.abs(error / fit.standard_errors)) < 4.5, name


def test_noise_is_what_was_added(result, log):
    """From residuals, and from second differences without any model."""
    np.testing.assert_allclose(result.noise, log.noise, rtol=0.06)
    np.testing.assert_allclose(result.white_noise, log.noise, rtol=0.12)


def test_the_consistent_fit_gives_up_next_to_nothing(result):
    """Its torques on the whole log are as near as those of the unconstrained one."""
    assert np.all(result.rms["consistent"] < 1.02 * result.rms["wls"])
    assert np.all(result.rms["wls"] < 1.001 * np.asarray(result.noise))


def test_torques_that_pinocchio_predicts_with_the_result_are_right(arm, log, result):
    """A motion that nobody measured: not only columns, the bodies themselves are right."""
    rng = np.random.default_rng(77)
    states = [smooth_states(arm, rng, 100)]
    truth = simulate(arm, log.true, states, rng, noise=0.0).tau
    found = simulate(arm, result.parameters, states, rng, noise=0.0).tau
    error = np.sqrt(np.mean((found - truth) ** 2, axis=0))
    assert np.all(error < 0.2 * log.noise)


def test_the_result_counts_what_it_read(result):
    """Samples, trajectories by the jumps of time, rank and names."""
    assert (result.samples, result.trajectories, result.excluded) == (4000, 10, 0)
    assert result.base.rank == result.structure.rank == 69
    assert result.warnings == ()
    assert result.row_names[0] == "iiwa_joint_1"
    assert 1.0 < result.scaled_condition_number < result.condition_number < 1e5


def test_the_result_is_a_json_document(result):
    """Strictly: neither NaN nor infinity."""
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["parameters"] == result.parameters.tolist()
    assert document["fits"]["wls"]["standard_errors"][0] > 0.0
    assert len(document["base"]["groupings"]) == 69
    assert document["validation"]["folds"] == 5


def test_methods_choose_which_estimate_is_given(arm, log):
    """Least squares' parameters have the fit's own base parameters, near the description."""
    found = identify(arm, *log.arrays, method="ols", folds=0, prior_weight=3.0)
    assert found.validation is None
    assert found.prior_weight == 3.0
    beta = found.base.of(found.initial) + found.fits["ols"].delta
    np.testing.assert_allclose(found.base.of(found.parameters), beta, atol=1e-6)
    np.testing.assert_array_equal(found.parameters, found.estimates["ols"])


def test_a_stream_of_chunks_gives_what_the_arrays_give(arm, log):
    """Cut anywhere, with trajectories by name."""
    whole = identify(arm, *log.arrays, trajectory=log.trajectory, prior_weight=1.0)
    cuts = np.array_split(np.arange(len(log.q)), 17)
    names = np.array([f"run {k}" for k in log.trajectory])
    chunks = (Samples(*(a[cut] for a in log.arrays), trajectory=names[cut]) for cut in cuts)
    streamed = identify_stream(arm, chunks, prior_weight=1.0)
    np.testing.assert_allclose(streamed.parameters, whole.parameters, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        streamed.validation.rms["consistent"], whole.validation.rms["consistent"], rtol=1e-6
    )


@pytest.mark.parametrize(
    ("name", "floating"),
    [("mimic_chain", False), ("spherical", False), ("branching", True), ("mimic_branches", True)],
)
def test_other_trees_are_identified_too(name, floating):
    """Mimics, spherical joints, floating bases."""
    robot = handle(name, floating_base=floating, terms=TERMS)
    rng = np.random.default_rng(31)
    states = [random_states(robot, rng, 150) for _ in range(5)]
    log = simulate(robot, perturbed(robot, rng), states, rng)
    result = identify(robot, *log.arrays, trajectory=log.trajectory)
    assert result.converged
    assert result.inconsistent == ()
    assert np.all(result.validation.rms["consistent"] < 1.2 * log.noise)
    error, rank = result.base_values - result.base.of(log.true), result.base.rank
    distance = error @ np.linalg.solve(result.fits["wls"].covariance, error)
    assert abs(distance - rank) < 4.0 * np.sqrt(2.0 * rank)


def test_a_robot_without_masses_is_identified_from_its_motion(tmp_path):
    """The arm's description with every inertia taken out: the log says them all the same."""
    text = asset_path("iiwa14").read_text(encoding="utf-8")
    start = text.index("<inertial>")
    while start >= 0:
        end = text.index("</inertial>") + len("</inertial>")
        text = text[:start] + text[end:]
        start = text.find("<inertial>")
    (tmp_path / "bare.urdf").write_text(text, encoding="utf-8")
    bare = grid_core.load_robot(
        tmp_path / "bare.urdf",
        dtype="float64",
        backend="reference",
        algorithm_list=["inverse_dynamics_regressor", "regressor_gram"],
        regressor_terms=TERMS,
    )
    rng = np.random.default_rng(8)
    real = handle("iiwa14", terms=TERMS)
    states = [smooth_states(real, rng, 300) for _ in range(6)]
    log = simulate(real, perturbed(real, rng), states, rng)
    result = identify(bare, *log.arrays, trajectory=log.trajectory)
    assert len(result.repaired) == 7
    assert "not physically consistent in the description" in result.warnings[0]
    assert result.converged
    assert result.inconsistent == ()
    assert np.all(result.validation.rms["consistent"] < 1.2 * log.noise)


@pytest.mark.parametrize("differs", [False, True])
def test_torques_without_any_noise_are_fitted_too(arm, differs):
    """As simulators make them; also of the description itself, whose friction is zero."""
    rng = np.random.default_rng(12)
    true = perturbed(arm, rng) if differs else arm.parameters()
    states = [random_states(arm, rng, 100) for _ in range(4)]
    log = simulate(arm, true, states, rng, noise=0.0)
    result = identify(arm, *log.arrays, trajectory=log.trajectory)
    assert result.converged
    assert result.inconsistent == ()
    torque = np.sqrt(np.mean(log.tau**2, axis=0))
    assert np.all(result.validation.rms["wls"] < 1e-6 * torque)
    assert np.all(result.validation.rms["consistent"] < 1e-3 * torque)


def test_gravity_is_an_argument():
    """On the moon, and without any."""
    robot = handle("skew_axes", terms=TERMS)
    for gravity in (-1.62, 0.0):
        rng = np.random.default_rng(41)
        states = [random_states(robot, rng, 150) for _ in range(4)]
        log = simulate(robot, perturbed(robot, rng), states, rng, gravity=gravity)
        found = identify(robot, *log.arrays, trajectory=log.trajectory, gravity=gravity)
        assert np.all(found.validation.rms["consistent"] < 1.2 * log.noise)


def test_a_joint_that_never_moves_is_told(arm, log):
    """Fewer base parameters, named; the others as good as ever."""
    rng = np.random.default_rng(6)
    states = []
    for k in range(5):
        q, qd, qdd = (a[log.trajectory == k].copy() for a in (log.q, log.qd, log.qdd))
        q[:, 6], qd[:, 6], qdd[:, 6] = 0.3, 0.0, 0.0
        states.append((q, qd, qdd))
    still = simulate(arm, log.true, states, rng)
    result = identify(arm, *still.arrays, trajectory=still.trajectory)
    assert any("qd and qdd are zero in every sample: iiwa_joint_7" in w for w in result.warnings)
    assert any("iiwa_joint_7.viscous" in w for w in result.warnings)
    assert result.base.rank < result.structure.rank
    assert np.isfinite(result.condition_number)
    assert np.all(result.validation.rms["consistent"] < 1.2 * still.noise)


def test_samples_with_nan_are_left_out_and_counted(arm, log):
    """The rest decides as if they had not been there."""
    arrays = [array.copy() for array in log.arrays]
    arrays[0][3, 1], arrays[3][17, 6], arrays[2][17, 2] = np.nan, np.inf, np.nan
    result = identify(arm, *arrays, trajectory=log.trajectory, folds=0)
    assert (result.excluded, result.samples) == (2, 3998)
    good = np.ones(len(log.q), dtype=bool)
    good[[3, 17]] = False
    expected = identify(
        arm, *(a[good] for a in log.arrays), trajectory=log.trajectory[good], folds=0
    )
    np.testing.assert_allclose(result.parameters, expected.parameters, rtol=1e-6, atol=1e-7)


def test_nothing_needs_threadpoolctl(arm, log, monkeypatch):
    """The extra makes it fast beside other work; results are the same without."""
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    result = identify(arm, *(a[:500] for a in log.arrays), folds=0)
    assert result.converged


def _cut(**changes):
    """Return a change of a log's arrays."""
    return lambda arrays: arrays | {k: f(arrays[k]) for k, f in changes.items()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_cut(q=lambda a: a[:, :6]), r"q must be \(B, nq=7\); got \(4000, 6\)"),
        (_cut(qd=lambda a: a[:-1]), r"qd must be \(4000, nv=7\); got \(3999, 7\)"),
        (_cut(tau=lambda a: a[0]), r"tau must be \(4000, nv=7\); got \(7,\)"),
        (_cut(qdd=lambda _: "fast"), "qdd must hold real numbers; got dtype <U"),
        (_cut(tau=lambda a: 0.0 * a), "tau is zero in every sample"),
        (_cut(tau=lambda a: np.nan * a), "no samples to fit: all 4000 have a NaN"),
        (
            _cut(q=lambda a: 0.0 * a, qd=lambda a: 0.0 * a, qdd=lambda a: 0.0 * a),
            "nothing moves: qd and qdd are zero and q is the same",
        ),
        (_cut(tau=lambda a: a.astype(str)), "tau must hold real numbers; got dtype <U"),
        (_cut(q=lambda a: a.astype(complex)), "q must hold real numbers; got dtype complex128"),
        (
            _cut(tau=lambda a: 1e300 * a),
            r"tau is -?\d.*e\+30\d in row 0 of 4000; numbers above 1e\+60 cannot be summed",
        ),
        (
            _cut(**dict.fromkeys(("q", "qd", "qdd", "tau"), lambda a: a[:8])),
            "8 times 7 torques are too few for 69 base parameters",
        ),
        (
            _cut(**dict.fromkeys(("q", "qd", "qdd", "tau"), lambda a: a[:0])),
            "no samples to fit: none came",
        ),
    ],
)
def test_logs_that_cannot_be_used_are_refused_by_name(arm, log, change, message):
    """What, where, and how many."""
    arrays = dict(zip(("q", "qd", "qdd", "tau"), log.arrays, strict=True))
    with pytest.raises(InputError, match=message) as caught:
        identify(arm, **change(arrays))
    assert isinstance(caught.value, GridError)
    assert "iiwa14" in str(caught.value)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"time": [0.0, 1.0]}, r"time must be \(4000,\); got \(2,\)"),
        ({"trajectory": [[0]]}, r"trajectory must be \(4000,\) of numbers or names; got \(1, 1\)"),
    ],
)
def test_times_and_trajectories_must_be_one_a_sample(arm, log, extra, message):
    """As the arrays are."""
    with pytest.raises(InputError, match=message):
        identify(arm, *log.arrays, **extra)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "wsl"}, r"no method 'wsl' \(did you mean 'wls'\?\); there are ols, wls and"),
        ({"method": 3}, "no method 3; there are"),
        ({"folds": -1}, "folds must be a count; got -1"),
        ({"folds": 2.5}, "folds must be a count; got 2.5"),
        ({"prior_weight": 0.0}, "prior_weight must be positive; got 0.0"),
        ({"prior_weight": "much"}, "prior_weight must be positive; got 'much'"),
        ({"gravity": np.nan}, "gravity must be finite; got nan"),
    ],
)
def test_options_of_no_meaning_are_refused(arm, log, options, message):
    """Before anything is computed."""
    with pytest.raises(OptionError, match=message):
        identify(arm, *log.arrays, **options)


def test_what_is_no_robot_or_no_chunk_is_refused(arm, log):
    """By what it must be."""
    with pytest.raises(ArgumentError, match="robot must be a handle, as load_robot gives it"):
        identify("iiwa14.urdf", *log.arrays)
    with pytest.raises(ArgumentError, match="chunks must be Samples; got a value of type tuple"):
        identify_stream(arm, [log.arrays])
    with pytest.raises(ArgumentError, match=r"chunks must be an iterable of Samples.*; got 3"):
        identify_stream(arm, 3)


def test_what_a_result_is_asked_is_checked(result):
    """Levels between 0 and 1, and as many parameters as there are."""
    for level in (0.0, 1.5, "most"):
        with pytest.raises(OptionError, match="confidence: level must be between 0 and 1; got"):
            result.fits["wls"].confidence(level)
    with pytest.raises(InputError, match=r"parameters must be \(..., \d+\); got \(4,\)"):
        result.base.of(result.parameters[:4])


def test_single_precision_is_refused():
    """It cannot tell what is dependent from what is nearly so."""
    robot = grid_core.load_robot(asset_path("iiwa14"), dtype="float32", backend="cpu")
    with pytest.raises(OptionError, match=r'needs float64.*dtype="float64", not float32'):
        identify(robot, *(np.zeros((5, 7)),) * 4)


def test_a_handle_without_the_operations_says_how_to_load_them(log):
    """By the handle's own message."""
    robot = grid_core.load_robot(
        asset_path("iiwa14"), dtype="float64", backend="reference", algorithm_list=["crba"]
    )
    with pytest.raises(GridError, match="inverse_dynamics_regressor is not loaded"):
        identify(robot, *log.arrays)
