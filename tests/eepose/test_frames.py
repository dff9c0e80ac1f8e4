"""Frame placements, Jacobians and their time derivative against Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.reference.kinematics import forward_kinematics
from tests.eepose.pinocchio_frames import REFERENCE_FRAMES
from tests.eepose.test_pinocchio import each_base, each_robot, setup
from tests.support.evaluate import Reference

each_kind = pytest.mark.parametrize("kind", REFERENCE_FRAMES)


@each_robot
@each_base
def test_placement(robot, parsed, floating) -> None:
    _, frames, q = setup(robot, parsed, floating)
    for frame in frames:
        grid = Reference(frame.oracle.model, targets=(frame.frame.id,))
        T = grid("frame_placement", q=q)
        for b in range(len(q)):
            np.testing.assert_allclose(T[b], frame.placement(q[b]), rtol=0.0, atol=1e-11)


@each_robot
@each_base
@each_kind
def test_jacobian(robot, parsed, floating, kind) -> None:
    _, frames, q = setup(robot, parsed, floating)
    for frame in frames:
        options = {"targets": (frame.frame.id,), "reference_frame": kind}
        J = Reference(frame.oracle.model, **options)("frame_jacobian", q=q)
        for b in range(len(q)):
            np.testing.assert_allclose(J[b], frame.jacobian(q[b], kind), rtol=1e-10, atol=1e-10)


@each_robot
@each_base
@each_kind
def test_jacobian_dot(robot, parsed, floating, kind) -> None:
    """The matrix itself, and J̇ v where Pinocchio's coordinates are others than ours."""
    _, frames, q = setup(robot, parsed, floating)
    for frame in frames:
        model = frame.oracle.model
        qd = np.random.default_rng(3).normal(size=(len(q), model.nv))
        options = {"targets": (frame.frame.id,), "reference_frame": kind}
        dJ = Reference(model, **options)("frame_jacobian_dot", q=q, qd=qd)
        for b in range(len(q)):
            matrix, product = frame.jacobian_rate(q[b], qd[b], kind)
            if frame.constant:
                np.testing.assert_allclose(dJ[b], matrix, rtol=1e-10, atol=1e-10)
            scale = max(1.0, np.max(np.abs(product), initial=0.0))
            np.testing.assert_allclose(dJ[b] @ qd[b], product, rtol=1e-10, atol=1e-10 * scale)


@each_robot
@each_base
def test_forward_kinematics_and_quaternions(robot, parsed, floating) -> None:
    grid, frames, q = setup(robot, parsed, floating)
    T = grid("forward_kinematics", q=q)
    np.testing.assert_array_equal(T, forward_kinematics(grid.model, q))
    pose = grid("end_effector_pose_quaternion", q=q).reshape(len(q), len(frames), 7)
    for e, frame in enumerate(frames):
        for b in range(len(q)):
            x, y, z, w = pose[b, e, 3:]
            assert w >= 0.0
            R = np.eye(3) + 2.0 * w * _skew(x, y, z) + 2.0 * _skew(x, y, z) @ _skew(x, y, z)
            expected = frame.placement(q[b])
            np.testing.assert_allclose(R, expected[:3, :3], rtol=0.0, atol=1e-11)
            np.testing.assert_allclose(pose[b, e, :3], expected[:3, 3], rtol=0.0, atol=1e-11)


def _skew(x, y, z):
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
