"""Poses and their derivatives against Pinocchio, robot by robot (K3, K4, K6, K10)."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from tests.eepose.pinocchio_frames import FrameOracle, angles
from tests.eepose.states import regular_configurations, some_targets
from tests.support.evaluate import Reference
from tests.support.pinocchio_oracle import PinocchioOracle
from tests.support.random_trees import random_urdf
from tests.support.robots import HAND_MADE, Robot, example_params, hand_made_params

NOT_URDF = ("spherical", "helical", "mimic_branches")
TREES = [
    *(Robot(f"tree_{n}", text=random_urdf(n, n)) for n in (1, 3, 8, 13)),
    *(Robot(f"mimic_{n}", text=random_urdf(40 + n, n, mimic=0.4)) for n in (4, 9)),
]
PARSED = [*example_params(), *hand_made_params(*(n for n in HAND_MADE if n not in NOT_URDF))]
BUILT = [*(pytest.param(t, id=t.name) for t in TREES), *hand_made_params(*NOT_URDF)]
each_base = pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])


def _both():
    yield from (pytest.param(*p.values, True, id=p.id) for p in PARSED)
    yield from (pytest.param(*p.values, False, id=p.id) for p in BUILT)


each_robot = pytest.mark.parametrize(("robot", "parsed"), list(_both()))


@functools.lru_cache(maxsize=2)
def setup(robot: Robot, parsed: bool, floating: bool):
    model = robot.load(floating_base=floating)
    if parsed:
        oracle = PinocchioOracle.from_urdf(model, robot.source())
    else:
        oracle = PinocchioOracle.from_records(model)
    known = [t for t in some_targets(model) if FrameOracle(oracle, model.frames[t]).known]
    frames = [FrameOracle(oracle, model.frames[t]) for t in known]
    q = regular_configurations(model, known)
    return Reference(model, targets=tuple(known)), frames, q


@each_robot
@each_base
def test_pose(robot, parsed, floating) -> None:
    grid, frames, q = setup(robot, parsed, floating)
    pose = grid("end_effector_pose", q=q).reshape(len(q), len(frames), 6)
    for e, frame in enumerate(frames):
        for b in range(len(q)):
            T = frame.placement(q[b])
            np.testing.assert_allclose(pose[b, e, :3], T[:3, 3], rtol=0, atol=1e-11)
            turn = pose[b, e, 3:] - angles(T[:3, :3])
            np.testing.assert_allclose(np.angle(np.exp(1j * turn)), 0.0, atol=1e-10)


@each_robot
@each_base
def test_gradient(robot, parsed, floating) -> None:
    """K3, K4, K6: E(rpy)⁻¹ times the spatial Jacobian; base columns local linear, angular."""
    grid, frames, q = setup(robot, parsed, floating)
    J = grid("end_effector_pose_gradient", q=q).reshape(len(q), len(frames), 6, grid.model.nv)
    for e, frame in enumerate(frames):
        for b in range(len(q)):
            np.testing.assert_allclose(J[b, e], frame.gradient(q[b]), rtol=1e-10, atol=1e-10)


@each_robot
@each_base
def test_hessian(robot, parsed, floating) -> None:
    """K3, K10: Pinocchio's kinematic Hessian and the chain rule through roll, pitch and yaw."""
    grid, frames, q = setup(robot, parsed, floating)
    own = [e for e, f in enumerate(frames) if f.joint and np.allclose(f.frame.placement, np.eye(4))]
    if not own or not frames[0].constant:
        pytest.skip("Pinocchio has other coordinates, or no Hessian of a fixed frame")
    nv = grid.model.nv
    grid = Reference(grid.model, targets=tuple(frames[e].frame.id for e in own))
    H = grid("end_effector_pose_hessian", q=q).reshape(len(q), len(own), 6, nv, nv)
    for k, e in enumerate(own):
        for b in range(len(q)):
            expected = frames[e].hessian(q[b])
            scale = np.max(np.abs(expected), initial=1.0)
            np.testing.assert_allclose(H[b, k], expected, rtol=1e-9, atol=1e-9 * scale)
