from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin
import pytest
from attrs import evolve

import grid_core
from grid_core.assets import asset_path
from grid_core.errors import ArgumentError, GridError, OperationRefused, OptionError
from grid_core.identification import excitation
from grid_core.identification.base_parameters import base_parameters
from grid_core.identification.excitation import Excitation, excite
from grid_core.identification.excitation_bounds import bounds
from grid_core.identification.excitation_entries import Entries
from grid_core.identification.excitation_payload import with_payload
from grid_core.identification.excitation_search import Search, Shapes
from grid_core.identification.excitation_series import FourierSeries, rest_basis
from grid_core.model import load_urdf
from tests.support import urdf
from tests.support.robots import HAND_MADE

if TYPE_CHECKING:
    from pathlib import Path

MARGIN = 0.05


@pytest.fixture(scope="module")
def arm() -> Any:
    wanted = ["inverse_dynamics", "inverse_dynamics_regressor", "inverse_dynamics_regressor_packed"]
    return grid_core.load_robot(asset_path("iiwa14"), dtype="float64", algorithm_list=wanted)


@pytest.fixture(scope="module")
def found(arm: Any) -> Excitation:
    return excite(arm, starts=1)


def pinocchios_condition(found: Excitation, columns: tuple[int, ...]) -> float:
    """The same number from another regressor."""
    model = pin.buildModelFromUrdf(str(asset_path("iiwa14")))
    data = model.createData()
    time = np.linspace(0.0, found.series.period, 200, endpoint=False)
    Y = [
        pin.computeJointTorqueRegressor(model, data, *x)
        for x in zip(*found.series.at(time), strict=True)
    ]
    W = np.concatenate(Y)[:, list(columns)]
    values = np.linalg.svd(W, compute_uv=False)
    return float(values[0] / values[-1])


def test_it_is_five_times_better_than_a_hundred_random_ones(arm: Any, found: Excitation) -> None:
    assert found.rank == 43
    assert 5.0 * found.condition < found.random_condition
    assert 3.0 * found.condition < found.stretched_condition
    columns = base_parameters(arm).independent
    assert found.condition == pytest.approx(pinocchios_condition(found, columns), rel=1e-3)


def test_its_columns_are_those_of_the_base_parameters(arm: Any) -> None:
    shapes = Shapes(10.0, 5, 60, bounds(arm.model, margin=MARGIN, acceleration=None))
    rng = np.random.default_rng(0)
    motions = [shapes.motion(shapes.random(rng, stretched=True)) for _ in range(5)]
    assert Entries.of(arm).excited(motions) == base_parameters(arm).independent


def test_it_keeps_to_every_limit(arm: Any, found: Excitation) -> None:
    low, high = arm.joint_pos_limits.T
    room = (high - low) / 2.0 * MARGIN
    part = (1.0 - MARGIN) * (1.0 + 1e-3)  # the largest value may be between two samples
    assert np.all(found.q >= low + 0.99 * room)
    assert np.all(found.q <= high - 0.99 * room)
    assert np.all(np.abs(found.qd) <= part * arm.joint_vel_limits)
    assert np.all(np.abs(found.tau) <= part * arm.joint_effort_limits)
    tau = arm.inverse_dynamics(found.q, found.qd, found.qdd)
    np.testing.assert_allclose(found.tau, tau, atol=1e-9)


def test_it_starts_and_ends_at_rest(found: Excitation) -> None:
    assert len(found.time) == 10_001
    ends = [0, -1]
    np.testing.assert_allclose(found.qd[ends], 0.0, atol=1e-12)
    np.testing.assert_allclose(found.qdd[ends], 0.0, atol=1e-11)
    np.testing.assert_allclose(found.q[0], found.q[-1], atol=1e-12)


def test_its_derivatives_are_derivatives(found: Excitation) -> None:
    inside = slice(1, -1)
    for x, dx in ((found.q, found.qd), (found.qd, found.qdd)):
        slope = np.gradient(x, found.time, axis=0)
        np.testing.assert_allclose(slope[inside], dx[inside], atol=1e-4)


def test_it_can_be_written_and_evaluated_again(found: Excitation, tmp_path: Path) -> None:
    found.save(tmp_path / "trajectory.npz")
    with np.load(tmp_path / "trajectory.npz") as file:
        assert list(file["joint_names"]) == list(found.joint_names)
        assert "tau" not in file
        series = FourierSeries(
            float(file["period"]), file["offset"], file["cosines"], file["sines"]
        )
        np.testing.assert_allclose(series.at(file["t"])[2], file["qdd"], atol=1e-12)
    with pytest.raises(OptionError, match="cannot be written"):
        found.save(tmp_path / "no" / "such.npz")


def test_the_same_seed_gives_the_same_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excitation, "_RANDOM", 5)
    robot = grid_core.load_robot(urdf_string=PENDULUM, dtype="float64")
    options: dict[str, Any] = {"starts": 1, "harmonics": 4, "seed": 3}
    first, second = (excite(robot, **options) for _ in range(2))
    np.testing.assert_array_equal(first.q, second.q)


@pytest.mark.parametrize("power", [1.0, 32.0])
@pytest.mark.parametrize("packed", [False, True])
def test_the_gradient_is_that_of_the_value(arm: Any, power: float, packed: bool) -> None:
    robot = arm if packed else grid_core.load_robot(asset_path("iiwa14"), dtype="float64")
    assert Entries.of(robot).packed == packed
    limits = bounds(arm.model, margin=MARGIN, acceleration=4.0)
    tight = bounds(with_payload(arm.model, 20.0), margin=0.8, acceleration=4.0)
    columns = base_parameters(arm).independent
    rng = np.random.default_rng(0)
    for lim in (limits, tight):
        shapes = Shapes(10.0, 5, 60, lim)
        entries = evolve(Entries.of(robot), parameters=5.0 * arm.parameters())
        search = Search(entries, columns, shapes)
        x = shapes.random(rng, stretched=True).ravel()
        _, gradient = search._value(x, power)
        direction = rng.normal(size=x.size)
        ahead, behind = (search._value(x + s * 1e-5 * direction, power)[0] for s in (1, -1))
        assert gradient @ direction == pytest.approx((ahead - behind) / 2e-5, rel=1e-3, abs=1e-4)


def test_every_basis_function_rests() -> None:
    a, b = rest_basis(7)
    np.testing.assert_allclose(a.sum(axis=0), 0.0, atol=1e-14)
    np.testing.assert_allclose(np.arange(1, 8) @ b, 0.0, atol=1e-13)
    np.testing.assert_allclose(a.T @ a, np.eye(6), atol=1e-14)


PENDULUM = urdf.robot(
    "pendulum",
    urdf.link("world"),
    urdf.link("rod", 1.0, (0.0, 0.0, -0.5), np.diag([0.1, 0.1, 0.01])),
    urdf.joint("pivot", "revolute", "world", "rod", axis=(1, 0, 0)).replace(
        'effort="50"', 'effort="3.0"'
    ),
)


def test_motions_shrink_until_the_torques_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excitation, "_RANDOM", 20)
    robot = grid_core.load_robot(urdf_string=PENDULUM, dtype="float64")
    found = excite(robot, starts=1, harmonics=4, acceleration=5.0)
    assert np.abs(found.tau).max() <= 3.0 * (1.0 - MARGIN) * 1.001
    assert np.abs(found.qdd).max() <= 5.0 * 1.001
    assert np.ptp(found.q) > 0.3


def test_gravity_is_what_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excitation, "_RANDOM", 5)
    robot = grid_core.load_robot(urdf_string=PENDULUM, dtype="float64")
    options: dict[str, Any] = {"starts": 1, "harmonics": 3, "rate": 33.0, "period": 3.7}
    found = excite(robot, gravity=-1.62, **options)
    tau = robot.inverse_dynamics(found.q, found.qd, found.qdd, gravity=-1.62)
    np.testing.assert_allclose(found.tau, tau, atol=1e-9)
    assert found.time[-1] == 3.7  # although 33 Hz do not divide it
    np.testing.assert_allclose(found.qd[-1], 0.0, atol=1e-12)


def test_a_robot_too_weak_for_its_weight_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excitation, "_RANDOM", 5)
    lying = PENDULUM.replace('lower="-2" upper="2"', 'lower="1.4" upper="1.7"')
    robot = grid_core.load_robot(urdf_string=lying, dtype="float64")
    with pytest.raises(OperationRefused, match="no motion was found whose torques keep"):
        excite(robot, starts=1, harmonics=3)


def test_followers_limits_are_their_leaders() -> None:
    model = HAND_MADE["mimic_chain"].load()
    lim = bounds(model, margin=0.0, acceleration=None)
    # j2 = -2 j1 + 0.1 within ±2, and j3 = 0.5 j2 - 0.2 turns freely
    np.testing.assert_allclose([lim.lower[0], lim.upper[0]], [-0.95, 1.05])
    assert lim.velocity[0] == pytest.approx(2.5)


def test_a_payload_is_felt() -> None:
    model = load_urdf(asset_path("iiwa14"))
    rng = np.random.default_rng(0)
    states = rng.normal(size=(3, 5, 7))
    held = with_payload(model, 3.0, com=(0.1, 0.2, 0.3))
    robot, loaded = (grid_core.load_robot(m, dtype="float64") for m in (model, held))
    extra = loaded.parameters() - robot.parameters()
    c = np.array([0.1, 0.2, 0.3])
    I = 3.0 * (c @ c * np.eye(3) - np.outer(c, c))
    expected = [3.0, *(3.0 * c), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]
    np.testing.assert_allclose(extra[-10:], expected, atol=1e-12)
    Y = robot.inverse_dynamics_regressor(*states)
    tau = loaded.inverse_dynamics(*states) - robot.inverse_dynamics(*states)
    np.testing.assert_allclose(tau, Y @ extra, atol=1e-9)


def test_what_rounded_numbers_alone_tell_apart_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(excitation, "_RANDOM", 5)
    links = [urdf.random_link(f"l{k}", np.random.default_rng(k)) for k in range(3)]
    ranks = []
    for tilt in (0.0, 1e-6):
        # A vertical first axis feels no gravity; one that a rounded number tilts does, a little.
        turn = urdf.joint("waist", "revolute", "l0", "l1", axis=(0, tilt, 1))
        bend = urdf.joint("elbow", "revolute", "l1", "l2", xyz=(0.3, 0, 0), axis=(0, 1, 0))
        text = urdf.robot("rounded", *links, turn, bend)
        robot = grid_core.load_robot(urdf_string=text, dtype="float64")
        found = excite(robot, starts=1, harmonics=4)
        ranks.append((found.rank, base_parameters(robot).rank))
        assert found.condition < 1e3
    assert ranks[0][0] == ranks[0][1] == ranks[1][0]
    assert ranks[1][1] > ranks[1][0]


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "text"),
        [
            ({"period": 0.0}, "period must be above 0"),
            ({"harmonics": 2}, "harmonics must be at least 3"),
            ({"rate": 1.0}, "rate must be above 2 Hz"),
            ({"starts": 0}, "starts must be at least 1"),
            ({"margin": 1.0}, "margin must be at least 0 and below 1"),
            ({"acceleration": -1.0}, "acceleration must be above 0"),
            ({"acceleration": "low"}, "acceleration must be above 0; got 'low'"),
            ({"period": "long"}, "period must be above 0; got 'long'"),
            ({"harmonics": 4.5}, "harmonics must be at least 3.*; got 4.5"),
            ({"seed": -1}, "seed must be an integer from 0 on; got -1"),
            ({"gravity": np.nan}, "gravity must be finite; got nan"),
        ],
    )
    def test_options(self, arm: Any, options: dict[str, Any], text: str) -> None:
        with pytest.raises(OptionError, match=text):
            excite(arm, **options)

    def test_what_cannot_be_moved_at_will(self) -> None:
        floating = grid_core.load_robot(asset_path("go2"), dtype="float64", floating_base=True)
        with pytest.raises(OperationRefused, match="its base floats"):
            excite(floating)
        ball = grid_core.load_robot(HAND_MADE["spherical"].load(), dtype="float64")
        with pytest.raises(OperationRefused, match="cannot move j1 and j3"):
            excite(ball)
        rigid = grid_core.load_robot(HAND_MADE["one_body"].load(), dtype="float64")
        with pytest.raises(OperationRefused, match="no joint to move"):
            excite(rigid)

    def test_what_is_no_robot(self) -> None:
        with pytest.raises(
            ArgumentError, match=r"excite: robot must be a handle, .*; got 'iiwa14'"
        ):
            excite("iiwa14")  # type: ignore[arg-type]

    def test_float32(self) -> None:
        robot = grid_core.load_robot(asset_path("iiwa14"), dtype="float32")
        with pytest.raises(OptionError, match="load it with dtype='float64'"):
            excite(robot)

    def test_payloads(self) -> None:
        model = load_urdf(asset_path("go2"))
        for options, text in (
            ({"mass": 1.0}, "needs the name of its frame"),
            ({"mass": 1.0, "frame": "no_joint"}, "no moving frame 'no_joint'"),
            ({"mass": -1.0}, "must be above 0 kg"),
            ({"mass": 1.0, "com": (1.0,)}, "three numbers"),
        ):
            with pytest.raises(GridError, match=text):
                with_payload(model, **options)  # type: ignore[arg-type]
