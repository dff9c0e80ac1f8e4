"""Stored numbers: the case files' J and H of a tip, and another implementation's poses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_core.targets import find_frame
from tests.support.evaluate import Reference
from tests.support.robots import Robot

if TYPE_CHECKING:
    from grid_core.model.types import RobotModel

TESTS = Path(__file__).parent.parent
CASES, ORACLE = TESTS / "cases", TESTS / "oracle"


def _stored() -> list[Any]:
    found = []
    for path in sorted(CASES.glob("*.expected.json")):
        expected = json.loads(path.read_text(encoding="utf-8"))
        if "J_tip_local_world_aligned" in expected:
            found.append(pytest.param(expected, id=expected["case"]))
    return found


def setup(expected: dict[str, Any]) -> tuple[RobotModel, Reference, Any, list[int]]:
    model = Robot(expected["case"], path=CASES / expected["file"]).load()
    starts = {joint.name: joint for joint in model.joints}
    q = np.zeros((1, model.nq))
    for name, value in expected["q"].items():
        q[0, starts[name].q_start] = value
    order = [starts[name].v_start for name in expected["coords"]]
    # A tip is a link.
    tip = next(link for link in model.links if link.name == expected["tip"])
    target = next(
        frame.id
        for frame in model.frames
        if frame.body == tip.body and np.allclose(frame.placement, tip.placement)
    )
    return model, Reference(model, targets=(target,)), q, order


@pytest.mark.parametrize("expected", _stored())
def test_the_jacobian_of_the_tip(expected) -> None:
    model, grid, q, order = setup(expected)
    stored, J = expected["J_tip_local_world_aligned"], grid("frame_jacobian", q=q)[0]
    if isinstance(stored, dict):  # too large to store
        norms = np.linalg.norm(J[:, order], axis=0)[[0, -1]]
        np.testing.assert_allclose(norms, stored["col_norms_first_last"], rtol=1e-9)
        return
    wanted = np.reshape(stored, (6, model.nv))
    np.testing.assert_allclose(J[:, order], wanted, rtol=1e-9, atol=1e-9)
    gradient = grid("end_effector_pose_gradient", q=q)[0]
    np.testing.assert_allclose(gradient[:3, order], wanted[:3], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("expected", [p for p in _stored() if "H_tip_dJ_dq" in p.values[0]])
def test_the_derivative_of_the_jacobian(expected) -> None:
    """With q̇ a unit along coordinate k, dJ/dt is ∂J/∂q_k."""
    model, grid, q, order = setup(expected)
    wanted = np.reshape(expected["H_tip_dJ_dq"], (6, model.nv, model.nv))
    units = np.eye(model.nv)[order]
    dJ = grid("frame_jacobian_dot", q=np.repeat(q, model.nv, axis=0), qd=units)
    actual = np.moveaxis(dJ[:, :, order], 0, -1)
    np.testing.assert_allclose(actual, wanted, rtol=0.0, atol=1e-7)
    H = grid("end_effector_pose_hessian", q=q)[0, :3][:, order][:, :, order]
    np.testing.assert_allclose(H, wanted[:3], rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("path", sorted(ORACLE.glob("*.numeric.json")), ids=lambda p: p.stem)
def test_another_implementations_numbers(path) -> None:
    """K7: poses, gradients and Jacobians that were computed elsewhere.

    Its Jacobians leave out how a screw advances, against its own poses; those columns are ours.
    """
    stored = json.loads(path.read_text(encoding="utf-8"))
    name, base, _ = path.name.split(".", 2)
    # It took 1.5708 for a quarter turn (see tests/reference/test_oracle.py).
    text = (ORACLE / f"{name}.urdf").read_text(encoding="utf-8")
    robot = Robot(name, text=text.replace('"1.5708 ', f'"{np.pi / 2!r} '))
    model = robot.load(floating_base=base == "floating")
    plain = [j.v_start + k for j in model.joints if j.pitch == 0.0 for k in range(j.nv)]
    joints = {f.body: f.id for f in model.frames if f.kind.name == "JOINT"}
    grid = Reference(model, targets=tuple(joints[leaf] for leaf in model.leaves))
    tight = {"rtol": 1e-9, "atol": 1e-9}
    for case in stored["cases"]:
        q = np.array([case["q"]])
        if "end_effector_pose_all_leaves" in case:
            pose = grid("end_effector_pose", q=q)[0]
            np.testing.assert_allclose(
                pose, np.ravel(case["end_effector_pose_all_leaves"]), **tight
            )
        if "end_effector_pose_gradient" in case:
            J = grid("end_effector_pose_gradient", q=q)[0]
            wanted = np.reshape(case["end_effector_pose_gradient"], J.shape)
            np.testing.assert_allclose(J[:, plain], wanted[:, plain], **tight)
        if "frame_jacobian_lwa_leaf0" in case:
            J = grid("frame_jacobian", q=q)[0]
            wanted = np.array(case["frame_jacobian_lwa_leaf0"])
            np.testing.assert_allclose(J[:, plain], wanted[:, plain], **tight)
        placements = {**case.get("world_T_joint", {}), **case.get("world_T_fixed", {})}
        for frame, T in placements.items():
            base = model.joints[0].name if frame == "floating_base_joint" else frame
            target = find_frame(model, base, "frame")
            placed = Reference(model, targets=(target,))("frame_placement", q=q)[0]
            np.testing.assert_allclose(placed, T, **tight)
