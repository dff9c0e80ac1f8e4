"""Programs of the family against their references, traced and compiled."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

import grid_core
from grid_core.algorithm import Options
from grid_core.assets import asset_path
from grid_core.errors import ArgumentError, InputError, OperationRefused
from grid_core.testing import check_algorithm
from grid_plugins.regressor.structure import structure
from tests.program.operations import traced
from tests.regressor.evaluate import ALL, REGRESSORS, TERMS, evaluated
from tests.support.robots import HAND_MADE, Robot
from tests.support.states import random_state

PACKED = ["inverse_dynamics_regressor", "inverse_dynamics_regressor_packed"]
SMALL = ("helical", "mimic_constant", "dissipative", "one_body")


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("robot", SMALL)
def test_traced(name: str, robot: str) -> None:
    model = HAND_MADE[robot].load(floating_base=robot == "dissipative")
    options = Options(parameter_order="grid", regressor_terms=TERMS)
    bare = evolve(REGRESSORS[name], method=None, helpers={})
    check_algorithm(bare, model, options=options, backends=[], batches=(0, 2))


@pytest.mark.parametrize("name", REGRESSORS)
def test_compiled(name: str) -> None:
    model = HAND_MADE["helical"].load()
    bare = evolve(REGRESSORS[name], method=None, helpers={})
    check_algorithm(bare, model, backends=["cpu"], batches=(3,))


@pytest.mark.parametrize(
    ("name", "floating", "most"),
    [("iiwa14", False, 1373), ("go2", True, 2219)],
)
def test_instructions_stay_within_what_was_reached(name: str, floating: bool, most: int) -> None:
    """Fused, of the whole regressor: 1030 and 2056 as this is written."""
    model = Robot(name, path=asset_path(name)).load(floating_base=floating)
    program = traced(model, REGRESSORS["inverse_dynamics_regressor"], available=ALL)
    assert program.counts.fused <= most


def test_single_precision() -> None:
    """Within 1e-6 of the norm of each problem's Y."""
    robot = grid_core.load_robot(asset_path("iiwa14"), dtype="float32")
    s = random_state(robot.model, batch=64)
    q, qd, qdd = (x.astype(np.float32) for x in (s.q, s.qd, s.qdd))
    Y = robot.inverse_dynamics_regressor(q, qd, qdd)
    expected = evaluated(robot.model, "inverse_dynamics_regressor", q=q, qd=qd, qdd=qdd)
    error = np.linalg.norm(Y - expected, axis=(1, 2))
    assert np.all(error < 1e-6 * np.linalg.norm(expected, axis=(1, 2)))


def test_the_whole_derivative_is_had_by_a_call() -> None:
    wanted = "inverse_dynamics_regressor_gradient"
    robot = grid_core.load_robot(asset_path("iiwa14"), dtype="float64", algorithm_list=wanted)
    s = random_state(robot.model, batch=2)
    dY = robot.inverse_dynamics_regressor_gradient(s.q, s.qd, s.qdd, whole=True, order="grid")
    options = Options(parameter_order="grid")
    name = "inverse_dynamics_regressor_gradient_whole"
    expected = evaluated(robot.model, name, options, q=s.q, qd=s.qd, qdd=s.qdd)
    assert dY.shape == (2, 7, 70, 14)
    np.testing.assert_allclose(dY, expected, rtol=1e-9, atol=1e-10)
    pi = robot.parameters(order="grid")
    mine = robot.inverse_dynamics_regressor_gradient(s.q, s.qd, s.qdd, order="grid")
    np.testing.assert_allclose(dY.swapaxes(2, 3) @ pi, mine, rtol=1e-9, atol=1e-9)
    for given in (pi, np.tile(pi, (2, 1))):
        again = robot.inverse_dynamics_regressor_gradient(s.q, s.qd, s.qdd, given, order="grid")
        np.testing.assert_allclose(again, mine, rtol=1e-9, atol=1e-9)
    one = robot.inverse_dynamics_regressor_gradient(s.q[0], s.qd[0], s.qdd[0], pi, order="grid")
    np.testing.assert_allclose(one, mine[0], rtol=1e-9, atol=1e-9)
    with pytest.raises(ArgumentError, match="pi has no part in the whole derivative"):
        robot.inverse_dynamics_regressor_gradient(s.q, s.qd, s.qdd, pi, whole=True)


def test_packed() -> None:
    """What is left out is 0 at every state, and what is not is where the table says."""
    robot = grid_core.load_robot(asset_path("iiwa14"), dtype="float64", algorithm_list=PACKED)
    packed = robot.inverse_dynamics_regressor_packed
    rows, columns = packed.indices()
    assert (len(rows), len(set(zip(rows.tolist(), columns.tolist(), strict=True)))) == (254, 254)
    s = random_state(robot.model, batch=5)
    values = packed(s.q, s.qd, s.qdd)
    Y = robot.inverse_dynamics_regressor(s.q, s.qd, s.qdd)
    np.testing.assert_array_equal(Y[:, rows, columns], values)
    np.testing.assert_array_equal(packed.unpack(values), Y)
    np.testing.assert_array_equal(packed.unpack(values[0]), Y[0])
    with pytest.raises(InputError, match=r"packed must be \(B, nnz=254\); got \(3,\)"):
        packed.unpack(values[0, :3])


@pytest.mark.parametrize(
    ("name", "floating", "count"), [("iiwa14", False, 254), ("go2", True, 756)]
)
def test_entries_that_are_left_out_are_zero(name: str, floating: bool, count: int) -> None:
    model = Robot(name, path=asset_path(name)).load(floating_base=floating)
    mask = structure(model, Options())
    assert np.count_nonzero(mask) == count
    s = random_state(model, batch=20)
    Y = evaluated(model, "inverse_dynamics_regressor", q=s.q, qd=s.qd, qdd=s.qdd)
    assert np.abs(Y[:, ~mask]).max() < 1e-12
    # A sum that cancels for another reason than a zero factor is kept.
    assert np.mean(np.abs(Y[:, mask]).max(axis=0) < 1e-9) < 0.01


def test_packed_in_another_order_and_with_terms() -> None:
    terms = ("viscous", "offset")
    robot = grid_core.load_robot(
        asset_path("iiwa14"), dtype="float64", algorithm_list=PACKED, regressor_terms=terms
    )
    packed = robot.inverse_dynamics_regressor_packed
    s = random_state(robot.model, batch=2)
    values = packed(s.q, s.qd, s.qdd, order="grid")
    assert values.shape == (2, 254 + 14)
    Y = robot.inverse_dynamics_regressor(s.q, s.qd, s.qdd, order="grid")
    np.testing.assert_array_equal(packed.unpack(values, order="grid"), Y)


def test_in_mujocos_coordinates() -> None:
    """Rows turn as forces do, so that Y π stays inverse dynamics; packed ones cannot."""
    robot = grid_core.load_robot(
        urdf_string=HAND_MADE["skew_axes"].text,
        dtype="float64",
        floating_base=True,
        output_convention="mujoco",
        algorithm_list=["regressor", "inverse_dynamics", "crba"],
    )
    rng = np.random.default_rng(0)
    q = robot.random_configuration(rng, 3)
    qd, qdd = rng.normal(size=(2, 3, robot.nv))
    pi = robot.parameters()
    tau = robot.inverse_dynamics_regressor(q, qd, qdd) @ pi
    np.testing.assert_allclose(tau, robot.inverse_dynamics(q, qd, qdd), rtol=1e-9, atol=1e-9)
    momenta = robot.generalized_momentum_regressor(q, qd) @ pi
    expected = np.einsum("bij,bj->bi", robot.crba(q), qd)
    np.testing.assert_allclose(momenta, expected, rtol=1e-9, atol=1e-9)
    for name in ("inverse_dynamics_regressor_packed", "inverse_dynamics_regressor_gradient"):
        with pytest.raises(OperationRefused, match="MuJoCo"):
            getattr(robot, name)(q, qd, qdd)
