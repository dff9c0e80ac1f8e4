"""The family as users call it: shapes, targets, frames by name, refusals (K1, K2, K5, K12-K14)."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import grid_core
from grid_core.assets import asset_path
from grid_core.errors import ArgumentError, HandleClosed, OperationRefused, UnknownName
from tests.support import urdf
from tests.support.random_trees import random_urdf
from tests.support.robots import HAND_MADE


def load(source=None, **options):
    options = {"algorithm_list": "eepose", "backend": "cpu", "dtype": "float64", **options}
    return grid_core.load_robot(source, **options)


@pytest.fixture(scope="module")
def go2():
    with load(asset_path("go2"), floating_base=True) as robot:
        yield robot


def test_shapes(go2) -> None:
    """K1, K2, K5: leaves by default, 6 rows each, columns by num_vel, q nq wide."""
    q = go2.random_configuration(0, 3)
    rows = 6 * go2.num_ees
    assert go2.num_ees == len(go2.model.leaves) == 4
    assert q.shape == (3, go2.nq)
    assert go2.end_effector_pose(q).shape == (3, rows)
    assert go2.end_effector_pose_gradient(q).shape == (3, rows, go2.num_vel)
    assert go2.end_effector_pose_hessian(q).shape == (3, rows, go2.num_vel, go2.num_vel)
    assert go2.end_effector_pose_quaternion(q).shape == (3, 28)
    assert go2.fk_batched(q).shape == (3, 7)
    assert go2.forward_kinematics(q).shape == (3, go2.nb, 4, 4)
    assert go2.frame_placement(q).shape == (3, 4, 4)
    assert go2.frame_jacobian(q).shape == (3, 6, go2.nv)
    assert go2.frame_jacobian_dot(q, np.zeros((3, go2.nv))).shape == (3, 6, go2.nv)
    assert go2.end_effector_pose(q[0]).shape == (rows,)
    assert go2.end_effector_pose_hessian(q[:0]).shape == (0, rows, go2.nv, go2.nv)


def test_targets_by_name() -> None:
    """K1: any joints and fixed frames, in the order given, any number of them."""
    with load(asset_path("go2")) as every:
        names = [f.name for f in every.model.frames if f.kind.name != "ROOT"]
        q = every.random_configuration(0, 2)
        placed = {name: every.frame_placement(q, name) for name in names}
    for chosen in (names[::-1], [names[-1]], [names[2], names[-1], names[0]]):
        with load(asset_path("go2"), ee_joint_names=chosen) as robot:
            assert robot.num_ees == len(chosen)
            pose = robot.end_effector_pose(q).reshape(2, -1, 6)
            for k, name in enumerate(chosen):
                np.testing.assert_allclose(pose[:, k, :3], placed[name][:, :3, 3], atol=1e-12)


def test_frames_by_name(go2) -> None:
    """Joints, fixed joints and links; each is compiled once, for any axes."""
    q = go2.random_configuration(1, 2)
    joint = go2.model.joints[5]
    link = go2.body_names[5]
    T = go2.frame_placement(q, joint.name)
    np.testing.assert_allclose(T, go2.forward_kinematics(q)[:, joint.id], atol=1e-14)
    np.testing.assert_array_equal(T, go2.frame_placement(q, link))
    J = go2.frame_jacobian(q, joint.name)
    np.testing.assert_array_equal(J, go2.frame_jacobian(q, joint.name, "LOCAL_WORLD_ALIGNED"))
    local = go2.frame_jacobian(q, joint.name, reference_frame="local")
    back = np.swapaxes(T[:, :3, :3], 1, 2)
    np.testing.assert_allclose(local[:, :3], back @ J[:, :3], atol=1e-12)
    np.testing.assert_allclose(local[:, 3:], back @ J[:, 3:], atol=1e-12)
    call = next(c for c in go2.calls() if c.__name__ == "frame_jacobian")
    known = dict(call._specialised)
    for kind in ("local", "local_world_aligned"):
        go2.frame_jacobian(q, joint.name, kind)
    assert dict(call._specialised) == known


def test_the_first_end_effector_is_the_default_frame(go2) -> None:
    q = go2.random_configuration(1, 2)
    leaf = go2.joint_names[go2.model.leaves[0]]
    np.testing.assert_array_equal(go2.frame_jacobian(q), go2.frame_jacobian(q, leaf))
    np.testing.assert_allclose(
        go2.frame_jacobian(q)[:, :3], go2.end_effector_pose_gradient(q)[:, :3], atol=1e-13
    )


def test_unknown_frames_and_axes(go2) -> None:
    q = go2.neutral_configuration()
    with pytest.raises(UnknownName, match=r"frame: 'go2.*' has no joint or link 'tool0'"):
        go2.frame_jacobian(q, "tool0")
    with pytest.raises(ArgumentError, match="reference_frame must be local_world_aligned, local"):
        go2.frame_jacobian(q, reference_frame="base")
    with pytest.raises(ArgumentError, match="reference_frame"):
        go2.frame_jacobian_dot(q, np.zeros(go2.nv), reference_frame=3)


def test_frames_from_several_threads() -> None:
    with load(asset_path("iiwa14")) as robot:
        q, name, results = robot.random_configuration(0, 2), robot.joint_names[3], []
        threads = [
            threading.Thread(target=lambda: results.append(robot.frame_jacobian(q, name)))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 4
        for J in results:
            np.testing.assert_array_equal(J, results[0])


def test_a_closed_handle_says_so() -> None:
    """K14: also operations that were compiled for a frame or a number of targets."""
    robot = load(asset_path("iiwa14"), algorithm_list=["frame_jacobian", "fk_batched"])
    q = robot.neutral_configuration()
    jacobian, name = robot.frame_jacobian, robot.joint_names[2]
    jacobian(q, name)
    robot.close()
    for call in (
        lambda: jacobian(q, name),
        lambda: jacobian(q, robot.joint_names[1]),
        lambda: jacobian(q),
        lambda: robot.fk_batched(q),
    ):
        with pytest.raises(HandleClosed):
            call()


def test_fk_batched() -> None:
    """K12: the first leaf, scalar first; `use_warp` is there."""
    with load(asset_path("iiwa14")) as robot:
        q = robot.random_configuration(0, 4)
        pose, both = robot.fk_batched(q), robot.end_effector_pose_quaternion(q)
        np.testing.assert_array_equal(pose[:, :3], both[:, :3])
        np.testing.assert_array_equal(pose[:, 3], both[:, 6])
        np.testing.assert_array_equal(pose[:, 4:], both[:, 3:6])
        np.testing.assert_array_equal(pose, robot.fk_batched(q, use_warp=True))
        assert np.all(pose[:, 3] >= 0.0)


def test_fk_batched_takes_the_first_leaf_whatever_the_targets() -> None:
    """K12: the targets of the load do not matter."""
    with load(asset_path("go2")) as robot:
        q, names = robot.random_configuration(0, 2), robot.joint_names
        pose = robot.fk_batched(q)
    with load(asset_path("go2"), ee_joint_names=[names[-1]]) as other:
        np.testing.assert_array_equal(pose, other.fk_batched(q))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (HAND_MADE["spherical"].source(), "spherical"),
        (random_urdf(1, 33, kinds=("revolute",)), "33 joints, more than 32"),
        (HAND_MADE["one_body"].source(), "no joint"),
    ],
    ids=["ball", "33", "one body"],
)
def test_fk_batched_refuses(text, why) -> None:
    """K12: more than 32 joints, or a ball: use end_effector_pose."""
    with (
        load(urdf_string=text, algorithm_list=["fk_batched", "end_effector_pose"]) as robot,
        pytest.raises(OperationRefused, match=f"{why}.*use end_effector_pose"),
    ):
        robot.fk_batched(robot.neutral_configuration())


def test_32_joints_are_not_too_many() -> None:
    with load(
        urdf_string=random_urdf(1, 32, kinds=("revolute",)), algorithm_list="fk_batched"
    ) as robot:
        assert robot.fk_batched(robot.neutral_configuration()).shape == (7,)


def test_a_joint_and_a_link_of_one_name() -> None:
    """The joint comes first: the name stands in the argument of joints everywhere else."""
    text = urdf.robot(
        "swapped",
        urdf.link("base"),
        urdf.link("a"),
        urdf.link("b"),
        urdf.joint("b", "revolute", "base", "a", xyz=(0, 0, 1)),
        urdf.joint("a", "revolute", "a", "b", xyz=(0, 0, 1)),
    )
    with load(urdf_string=text, algorithm_list="frame_placement") as robot:
        q = robot.neutral_configuration()
        assert robot.frame_placement(q, "b")[2, 3] == 1.0
        assert robot.frame_placement(q, "a")[2, 3] == 2.0
        np.testing.assert_array_equal(robot.frame_placement(q, "base"), np.eye(4))


def test_the_docstrings_say_which_jacobian(go2) -> None:
    """K6: the gradient is not the spatial Jacobian, and is singular."""
    assert "not an angular velocity" in go2.end_effector_pose_gradient.__doc__
    assert "singular at pitch" in go2.end_effector_pose_hessian.__doc__
    assert "no\nsingularity" in go2.frame_jacobian.__doc__


def test_what_is_no_name_of_a_frame_is_refused(go2) -> None:
    q, qd = go2.neutral_configuration(), np.zeros(go2.nv)
    for call in (
        lambda: go2.frame_placement("tool", q),
        lambda: go2.frame_jacobian_dot(q, "tool", qd),
        lambda: go2.frame_placement(q, 7),
    ):
        with pytest.raises(ArgumentError, match=r"frame_\w+: frame must be the name of a frame"):
            call()
    with pytest.raises(ArgumentError, match="reference_frame must be"):
        go2.frame_jacobian(q, None, q)
    with pytest.raises(ArgumentError, match="end_effector_pose: q is missing"):
        go2.end_effector_pose()


def test_links_are_told_from_joints(go2) -> None:
    joint = go2.ee_joint_names[0]
    link = go2.body_names[go2.model.leaves[0]]
    with pytest.raises(UnknownName, match=f"has no joint '{link}': that is a link, .* '{joint}'"):
        load(asset_path("go2"), ee_joint_names=[link])
    with pytest.raises(UnknownName, match=r"no joint or link 'FL_cal' \(did you mean .*FL_calf"):
        go2.frame_placement(go2.neutral_configuration(), "FL_cal")
    with pytest.raises(UnknownName, match=r"no joint or link 'FR_' \(did you mean 'FR_"):
        go2.frame_placement(go2.neutral_configuration(), "FR_")
