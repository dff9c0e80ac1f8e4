"""Where roll and yaw part no more: finite results, and how much accuracy goes (K6)."""

from __future__ import annotations

import numpy as np
import pytest

import grid_core
from grid_core.reference.rotations import axis_rotation
from tests.support import urdf

_AXES = ((0, 0, 1), (0, 1, 0), (1, 0, 0))
GIMBAL = urdf.robot(
    "gimbal",
    urdf.link("l0"),
    *(
        element
        for k, axis in enumerate(_AXES, start=1)
        for element in (
            urdf.link(f"l{k}"),
            urdf.joint(f"j{k}", "continuous", f"l{k - 1}", f"l{k}", axis=axis),
        )
    ),
)
"""Yaw, pitch and roll as three joints: q = (yaw, pitch, roll)."""


def gimbal(dtype: str):
    return grid_core.load_robot(
        urdf_string=GIMBAL, algorithm_list="eepose", backend="cpu", dtype=dtype
    )


def rotation(roll, pitch, yaw):
    turns = zip(np.eye(3)[::-1], (yaw, pitch, roll), strict=True)
    Rz, Ry, Rx = (axis_rotation(axis, np.asarray(angle)) for axis, angle in turns)
    return Rz @ Ry @ Rx


def configurations(distance: float):
    rng = np.random.default_rng(0)
    yaw, roll = rng.uniform(-3.0, 3.0, (2, 200))
    pitch = np.where(rng.random(200) < 0.5, -1.0, 1.0) * (np.pi / 2 - distance)
    return np.stack([yaw, pitch, roll], axis=1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("distance", [0.0, 1e-16, 1e-12, 1e-8, 1e-4, -1e-9])
def test_everything_stays_finite(dtype, distance) -> None:
    q = configurations(distance).astype(dtype)
    q[:3] = [[0.0, np.pi / 2, 0.0], [0.0, -np.pi / 2, 0.0], [1.0, np.pi / 2, 1.0]]
    with gimbal(dtype) as robot:
        for name in (
            "end_effector_pose",
            "end_effector_pose_gradient",
            "end_effector_pose_hessian",
        ):
            assert np.isfinite(getattr(robot, name)(q)).all(), name


@pytest.mark.parametrize(("dtype", "allowed"), [("float32", 1e-6), ("float64", 2e-15)])
@pytest.mark.parametrize("distance", [0.0, 1e-16, 1e-12, 1e-8, 1e-4, 1e-2, 1.0])
def test_the_angles_always_make_the_rotation(dtype, allowed, distance) -> None:
    """Each angle alone is off by rounding over cos(pitch), the three together are not."""
    q = configurations(distance).astype(dtype)
    with gimbal(dtype) as robot:
        pose = robot.end_effector_pose(q).astype(np.float64)
    yaw, pitch, roll = q.astype(np.float64).T
    np.testing.assert_allclose(
        rotation(*pose[:, 3:].T), rotation(roll, pitch, yaw), rtol=0.0, atol=allowed
    )


@pytest.mark.parametrize(("dtype", "rounding"), [("float32", 6e-8), ("float64", 1.1e-16)])
@pytest.mark.parametrize("distance", [1e-1, 1e-2, 1e-3])
def test_accuracy_goes_with_the_cosine_of_the_pitch(dtype, rounding, distance) -> None:
    """As documented: angles lose 1/cos(pitch), the gradient 1/cos², the Hessian 1/cos³."""
    q = configurations(distance).astype(dtype)
    yaw, pitch, roll = q.astype(np.float64).T
    cosine = np.cos(pitch)
    with gimbal(dtype) as robot:
        pose = robot.end_effector_pose(q).astype(np.float64)
        J = robot.end_effector_pose_gradient(q).astype(np.float64)
        H = robot.end_effector_pose_hessian(q).astype(np.float64)
    off = np.angle(np.exp(1j * (pose[:, 3:] - np.stack([roll, pitch, yaw], axis=1))))
    assert np.all(np.abs(off) <= 12 * rounding / cosine[:, None])
    # Here the joints are the angles: the gradient is a permutation and the Hessian is 0.
    exact = np.eye(3)[::-1]
    assert np.all(np.abs(J[:, 3:] - exact) <= 12 * rounding / cosine[:, None, None] ** 2)
    assert np.all(np.abs(H[:, 3:]) <= 12 * rounding / cosine[:, None, None, None] ** 3)
