"""Run-time targets (K2, K11, K13): data to one compiled operation, the same as baked ones."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import grid_core
from grid_core.assets import asset_path
from grid_core.errors import ArgumentError, InputError, OperationNotLoaded, UnknownName
from grid_core.reference.rotations import axis_rotation
from tests.support.robots import HAND_MADE, example

RUNTIME = ["end_effector_pose_runtime", "end_effector_pose_gradient_runtime"]
BAKED = ["end_effector_pose", "end_effector_pose_gradient"]


@pytest.fixture(scope="module")
def go2():
    with grid_core.load_robot(
        asset_path("go2"),
        algorithm_list=[*RUNTIME, "frame_placement"],
        floating_base=True,
        backend="cpu",
        dtype="float64",
    ) as robot:
        yield robot


def transform(angle: float, point) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = axis_rotation(np.array([0.6, 0.0, 0.8]), np.array([angle]))[0]
    T[:3, 3] = point
    return T


def frames_of(robot):
    return [f.name for f in robot.model.frames if f.kind.name != "ROOT"]


def test_any_joint_or_fixed_frame_is_the_same_as_baked(go2) -> None:
    """K11: intermediate joints and fixed frames too, in one compiled operation a count."""
    q = go2.random_configuration(0, 3)
    names = frames_of(go2)
    pose = go2.end_effector_pose_runtime(q, names[:5])
    assert pose.shape == (3, 5, 6)
    with grid_core.load_robot(
        asset_path("go2"),
        algorithm_list=BAKED,
        floating_base=True,
        ee_joint_names=names,
        backend="cpu",
        dtype="float64",
    ) as baked:
        assert baked.num_ees == len(names)
        wanted = baked.end_effector_pose(q).reshape(3, -1, 6)
        J = baked.end_effector_pose_gradient(q).reshape(3, len(names), 6, go2.nv)
    np.testing.assert_allclose(go2.end_effector_pose_runtime(q, names), wanted, atol=1e-12)
    np.testing.assert_allclose(go2.end_effector_pose_gradient_runtime(q, names), J, atol=1e-11)
    for k, name in enumerate(names):
        alone = go2.end_effector_pose_runtime(q, name)
        np.testing.assert_allclose(alone, wanted[:, k : k + 1], atol=1e-12, err_msg=name)


def test_the_leaves_are_the_default(go2) -> None:
    """K1, K2, K11: names default to all leaf joints; the target axis stays."""
    q = go2.random_configuration(1, 2)
    leaves = [go2.joint_names[leaf] for leaf in go2.model.leaves]
    assert go2.end_effector_pose_runtime(q).shape == (2, len(leaves), 6)
    np.testing.assert_array_equal(
        go2.end_effector_pose_runtime(q), go2.end_effector_pose_runtime(q, leaves)
    )
    assert go2.end_effector_pose_gradient_runtime(q).shape == (2, len(leaves), 6, go2.nv)
    assert go2.end_effector_pose_runtime(q[0]).shape == (len(leaves), 6)


def test_every_form_of_offset(go2) -> None:
    """K11: points, homogeneous points, transforms; one for all, one each; None is the origin."""
    q = go2.random_configuration(2, 2)
    names = frames_of(go2)[3:7]
    points = np.random.default_rng(0).normal(size=(4, 3))

    def pose(offsets):
        return go2.end_effector_pose_runtime(q, names, offsets)

    def expected(transforms):
        placed = [
            go2.frame_placement(q, name) @ T for name, T in zip(names, transforms, strict=True)
        ]
        return np.stack(placed, axis=1)

    np.testing.assert_array_equal(pose(None), pose([[0, 0, 0]]))
    moved = pose(points)
    np.testing.assert_allclose(
        moved[..., :3], expected([transform(0.0, p) for p in points])[..., :3, 3], atol=1e-12
    )
    np.testing.assert_array_equal(moved[..., 3:], pose(None)[..., 3:])
    np.testing.assert_array_equal(moved, pose([[*p, 1.0] for p in points]))
    np.testing.assert_array_equal(moved, pose(np.c_[points, np.ones(4)]))
    one = pose([points[0]])
    np.testing.assert_array_equal(one, pose(points[0]))
    np.testing.assert_array_equal(one, pose([*points[0], 1.0]))
    np.testing.assert_array_equal(one, pose([points[0]] * 4))
    tools = [transform(a, p) for a, p in zip((0.3, -1.0, 2.0, 0.7), points, strict=True)]
    T = expected(tools)
    turned = pose(tools)
    np.testing.assert_allclose(turned[..., :3], T[..., :3, 3], atol=1e-12)
    yaw = np.arctan2(T[..., 1, 0], T[..., 0, 0])
    np.testing.assert_allclose(turned[..., 5], yaw, atol=1e-11)
    np.testing.assert_array_equal(pose(tools[1]), pose([tools[1]] * 4))
    np.testing.assert_array_equal(pose(tools[1]), pose(np.array([tools[1]])))
    mixed = pose([points[0], [*points[1], 1.0], tools[2], tools[3]])
    np.testing.assert_array_equal(mixed[:, :2], moved[:, :2])
    np.testing.assert_array_equal(mixed[:, 2:], turned[:, 2:])


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([[0.0, 0.0]], "each of ee_offsets is"),
        ([[0.0, 0.0, 0.0]] * 3, "one for each of the 2 targets; got 3"),
        ([[0.0, 0.0, 0.0, 2.0]], "ends in 1"),
        ([[0.0, float("nan"), 0.0]], "not finite"),
        (2.0 * np.eye(4), "ee_offsets"),
        ([np.diag([1.0, 1.0, -1.0, 1.0])], "a transform is a rotation"),
        ("here", "must be points or transforms"),
        ([["a", "b", "c"]], "no array of numbers"),
    ],
)
def test_what_is_no_offset_is_named(go2, offsets, message) -> None:
    with pytest.raises(InputError, match=message):
        go2.end_effector_pose_runtime(go2.neutral_configuration(), frames_of(go2)[:2], offsets)


def test_unknown_targets_are_answered_with_near_ones(go2) -> None:
    name = frames_of(go2)[3]
    with pytest.raises(UnknownName, match=name):
        go2.end_effector_pose_runtime(go2.neutral_configuration(), [name + "x"])


def test_other_targets_compile_nothing(go2) -> None:
    """One compiled operation for all targets; another count is compiled once."""
    call = next(c for c in go2.calls() if c.__name__ == RUNTIME[0])
    q, names = go2.random_configuration(3, 2), frames_of(go2)
    go2.end_effector_pose_runtime(q, names[:2])
    special = dict(call._specialised)
    for pair in itertools.islice(itertools.permutations(names, 2), 40):
        go2.end_effector_pose_runtime(q, pair, np.random.default_rng(1).normal(size=(2, 3)))
    assert dict(call._specialised) == special
    assert all(len(other._kernels) == 1 for other in special.values())


def test_more_targets_than_a_kernel_takes(go2) -> None:
    q, names = go2.random_configuration(4, 3), frames_of(go2)
    many = (names * 3)[:40]
    pose, J = (getattr(go2, name)(q, many) for name in RUNTIME)
    for k in (0, 15, 16, 39):
        alone = go2.end_effector_pose_runtime(q, many[k])
        np.testing.assert_allclose(pose[:, k : k + 1], alone, rtol=1e-12, atol=1e-12)
        alone = go2.end_effector_pose_gradient_runtime(q, many[k])
        np.testing.assert_allclose(J[:, k : k + 1], alone, rtol=1e-12, atol=1e-12)
    out = np.empty_like(pose)
    assert go2.end_effector_pose_runtime(q, many, out=out) is out
    np.testing.assert_array_equal(out, pose)
    one = np.empty((3, 1, 6))
    assert go2.end_effector_pose_runtime(q, many[:1], out=one) is one


def test_they_must_be_asked_for() -> None:
    """K13: a run-time target adds no operation; the error says how to load one."""
    with grid_core.load_robot(asset_path("iiwa14"), backend="cpu") as robot:
        assert not set(RUNTIME) & set(robot.algorithms)
        with pytest.raises(
            OperationNotLoaded, match=r"pose_runtime is not loaded.*algorithm_list="
        ):
            robot.end_effector_pose_runtime(robot.neutral_configuration())


@pytest.mark.parametrize("name", ["spherical", "helical", "mimic_branches", "mimic_constant"])
def test_every_kind_of_joint(name) -> None:
    robot = HAND_MADE[name]
    with grid_core.load_robot(
        urdf_string=robot.source(), algorithm_list=RUNTIME, backend="cpu", dtype="float64"
    ) as handle:
        names = frames_of(handle)
        q = handle.random_configuration(0, 2)
        with grid_core.load_robot(
            urdf_string=robot.source(),
            algorithm_list=BAKED,
            backend="reference",
            ee_joint_names=names,
        ) as baked:
            pose = baked.end_effector_pose(q).reshape(2, len(names), 6)
            J = baked.end_effector_pose_gradient(q).reshape(2, len(names), 6, handle.nv)
        np.testing.assert_allclose(handle.end_effector_pose_runtime(q, names), pose, atol=1e-12)
        actual = handle.end_effector_pose_gradient_runtime(q, names)
        np.testing.assert_allclose(actual, J, atol=1e-10)


def test_the_reference_backend_has_them_too() -> None:
    text = example("panda-panda").source()
    options = {"urdf_string": text, "algorithm_list": RUNTIME, "dtype": "float64"}
    with (
        grid_core.load_robot(**options, backend="cpu") as fast,
        grid_core.load_robot(**options, backend="reference") as plain,
    ):
        q, names = fast.random_configuration(0, 2), frames_of(fast)[:6]
        for name in RUNTIME:
            a, b = (getattr(r, name)(q, names, [0.1, 0.2, 0.3]) for r in (fast, plain))
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


def test_a_wrong_argument_is_an_error(go2) -> None:
    call = next(c for c in go2.calls() if c.__name__ == RUNTIME[0])
    with pytest.raises(InputError, match="body must be"):
        call(go2.neutral_configuration(), body=[1.0], placement=np.zeros((1, 3, 4)))
    with pytest.raises(ArgumentError, match="no argument 'bodies'"):
        call(go2.neutral_configuration(), bodies=[1.0])
