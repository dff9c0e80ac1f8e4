"""Small URDFs with the right answer, keyed by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_core.reference.kinematics import forward_kinematics
from grid_core.reference.spatial import solve
from tests.support.evaluate import Reference
from tests.support.pinocchio_oracle import PinocchioOracle
from tests.support.robots import Robot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grid_core.model.types import Array, Joint, RobotModel

CASES = Path(__file__).parents[1] / "cases"


def with_numbers() -> list[object]:
    """Return the cases that say what the dynamics are."""
    found: list[object] = []
    for path in sorted(CASES.glob("*.expected.json")):
        expected = json.loads(path.read_text(encoding="utf-8"))
        if "tau_inverse_dynamics" in expected and "coords" in expected:
            found.append(pytest.param(expected, id=expected["case"]))
    return found


def vector(
    model: RobotModel, values: Mapping[str, float], start: Callable[[Joint], int | None]
) -> Array:
    """Return a batch of one from values by joint name."""
    result = np.zeros((1, len(values)))
    for joint in model.joints:
        column = start(joint)
        if column is not None:
            result[0, column] = values[joint.name]
    return result


@pytest.mark.parametrize("expected", with_numbers())
def test_case(expected: dict[str, Any]) -> None:
    model = Robot(expected["case"], path=CASES / expected["file"]).load()
    grid = Reference(model)
    assert model.nq == model.nv == expected["nv"]
    q = vector(model, expected["q"], lambda j: j.q_start)
    qd, qdd = (vector(model, expected[key], lambda j: j.v_start) for key in ("v", "a"))
    starts = {j.name: j.v_start for j in model.joints}
    order = np.array([starts[name] for name in expected["coords"]], dtype=int)

    def check(key: str, actual: Array) -> None:
        values, wanted = actual[0][order], np.array(expected[key])
        if len(wanted) < len(values):  # the first, the middle and the last of many
            values = values[[0, len(values) // 2, -1]]
        np.testing.assert_allclose(values, wanted, rtol=1e-9, atol=1e-9, err_msg=key)

    check("gravity_torque", grid("generalized_gravity", q=q))
    check("tau_inverse_dynamics", grid("inverse_dynamics", q=q, qd=qd, qdd=qdd))
    check_mass_matrix(expected, grid("crba", q=q)[0][np.ix_(order, order)])
    check_poses(expected, model, q)
    for name in ("forward_dynamics", "aba"):
        if "forward_dynamics_error_must_name" in expected:
            reason = grid.refuse(name) or ""
            assert all(word in reason for word in expected["forward_dynamics_error_must_name"])
        elif "fd_tau_zero" in expected:
            assert grid.refuse(name) is None
            check("fd_tau_zero", grid(name, q=q, qd=qd, u=np.zeros_like(qd)))


def check_mass_matrix(expected: dict[str, Any], M: Array) -> None:
    if isinstance(expected["M"], dict):  # too large to store
        summary = expected["M"]
        assert np.trace(M) == pytest.approx(summary["trace"], rel=1e-9)
        assert np.linalg.slogdet(M)[1] == pytest.approx(summary["logdet"], rel=1e-6)
        ends = np.diag(M)[[0, -1]]
        np.testing.assert_allclose(ends, summary["diag_first_last"], rtol=1e-9, atol=1e-12)
    else:
        np.testing.assert_allclose(M, np.reshape(expected["M"], M.shape), rtol=1e-9, atol=1e-9)


def check_poses(expected: dict[str, Any], model: RobotModel, q: Array) -> None:
    T = forward_kinematics(model, q)[0]
    links = {link.name: link for link in model.links}
    for name, pose in expected["link_poses_in_root"].items():
        link = links[name]
        actual = link.placement if link.body < 0 else T[link.body] @ link.placement
        np.testing.assert_allclose(actual[:3, 3], pose["xyz"], atol=1e-9, err_msg=name)
        np.testing.assert_allclose(actual[:3, :3], pose["R"], atol=1e-9, err_msg=name)


def stored(case: str) -> tuple[Robot, dict[str, Any]]:
    text = (CASES / f"{case}.expected.json").read_text(encoding="utf-8")
    return Robot(case, path=CASES / f"{case}.urdf"), json.loads(text)


def test_a_floating_base_carries_the_whole_root() -> None:
    robot, expected = stored("18b_heavy_root")
    q = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.4]])
    M = Reference(robot.load(floating_base=True))("crba", q=q)
    np.testing.assert_allclose(M[0], expected["floating_base"]["M"], rtol=1e-9, atol=1e-9)


def test_an_inner_floating_joint_is_pinocchios_in_other_coordinates() -> None:
    """Stored in Pinocchio's coordinates: V = P v and A = P v̇ + c give ours."""
    robot, expected = stored("20_floating_mid")
    model = robot.load()
    q, (V, A) = np.array(expected["q_pinocchio"]), (np.array(expected[k]) for k in "va")
    oracle = PinocchioOracle.from_urdf(model, robot.source())
    _, P, _ = oracle.convert(q, np.zeros(model.nv))
    qd = np.linalg.solve(P, V)
    Q, _, c = oracle.convert(q, qd)
    np.testing.assert_allclose(Q, q)
    qdd = solve(P, (A - c)[:, None])[:, 0]
    grid = Reference(model)
    tau = grid("inverse_dynamics", q=q[None], qd=qd[None], qdd=qdd[None])[0]
    wanted = P.T @ expected["tau_inverse_dynamics"]
    np.testing.assert_allclose(tau, wanted, rtol=1e-9, atol=1e-9)
    M = P.T @ np.array(expected["M"]) @ P
    np.testing.assert_allclose(grid("crba", q=q[None])[0], M, rtol=1e-9, atol=1e-9)
    check_poses(expected, model, q[None])
