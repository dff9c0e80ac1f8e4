"""The effective model: merged fixed joints, frames, links, floating and planar joints."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.errors import ModelError, ModelWarning
from grid_core.model import FrameKind, JointKind, load_urdf_string
from tests.model.kinematics import link_poses, rotation
from tests.model.texts import INERTIA, LIMIT, joint, link, robot

AT = '<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>'


def test_fixed_joints_merge():
    """Masses merge at their common centre by the full parallel-axis rule, at any depth."""
    heavy = f'<inertial><origin xyz="0 1 0" rpy="0.1 0 0"/><mass value="2"/>{INERTIA}</inertial>'
    document = robot(
        '<link name="base"/>',
        link("arm"),
        link("b", heavy),
        link("c", heavy),
        '<link name="tip"/>',
        joint("j", "base", "arm"),
        joint("f1", "arm", "b", AT, "fixed"),
        joint("f2", "b", "c", AT, "fixed"),
        joint("f3", "c", "tip", AT, "fixed"),
    )
    model = load_urdf_string(document)
    (body,) = model.bodies
    assert body.name == "arm"
    T = model.frames[2].placement
    # Each mass as six points on the axes of its ball, a distribution without any rule to trust.
    points, weights = [], []
    for mass, com in (
        (1.0, np.array([0.1, 0, 0])),
        (2.0, (T @ [0, 1, 0, 1])[:3]),
        (2.0, (T @ T @ [0, 1, 0, 1])[:3]),
    ):
        radius = np.sqrt(0.02 / mass * 3 / 2)
        for offset in radius * np.vstack([np.eye(3), -np.eye(3)]):
            points.append(com + offset)
            weights.append(mass / 6)
    points, weights = np.array(points), np.array(weights)
    com = weights @ points / weights.sum()
    d = points - com
    expected = np.einsum(
        "n,nij->ij", weights, np.einsum("nk,nk->n", d, d)[:, None, None] * np.eye(3)
    )
    expected = expected - np.einsum("n,ni,nj->ij", weights, d, d)
    assert body.inertia.mass == pytest.approx(5.0)
    np.testing.assert_allclose(body.inertia.com, com, atol=1e-15)
    np.testing.assert_allclose(body.inertia.rotational, expected, atol=1e-14)
    np.testing.assert_array_equal(body.inertia.rotational, body.inertia.rotational.T)


def test_frames_and_links():
    """Root, joints by ID, fixed joints in document order; every link in document order."""
    document = robot(
        link("tip"),
        link("hand"),
        link("arm"),
        link("stand"),
        link("base"),
        joint("z_tip", "hand", "tip", AT, "fixed"),
        joint("stand", "base", "stand", AT, "fixed"),
        joint("wrist", "arm", "hand", LIMIT + AT),
        joint("base", "stand", "arm", LIMIT + AT),
    )
    model = load_urdf_string(document)
    T = model.frames[3].placement
    assert [(frame.id, frame.name, frame.kind, frame.body) for frame in model.frames] == [
        (0, "base", FrameKind.ROOT, -1),
        (1, "base", FrameKind.JOINT, 0),
        (2, "wrist", FrameKind.JOINT, 1),
        (3, "z_tip", FrameKind.FIXED, 1),
        (4, "stand", FrameKind.FIXED, -1),
    ]
    assert [(item.name, item.body) for item in model.links] == [
        ("tip", 1),
        ("hand", 1),
        ("arm", 0),
        ("stand", -1),
        ("base", -1),
    ]
    np.testing.assert_array_equal(model.links[0].placement, T)
    for frame in model.frames[:3]:
        np.testing.assert_array_equal(frame.placement, np.eye(4))
    # The placement of a joint holds the fixed ancestors that were merged.
    np.testing.assert_allclose(model.joints[0].placement, T @ T)
    assert [(item.parent, item.source) for item in model.joints] == [(-1, "base"), (0, "wrist")]
    assert model.leaves == (1,)


def test_fixed_base_drops_the_roots_mass():
    """The root link and what is fixed to it stand still; floating they count."""
    document = robot(
        link("a"), link("b"), link("c"), joint("f", "a", "b", AT, "fixed"), joint("j", "b", "c")
    )
    assert [b.inertia.mass for b in load_urdf_string(document).bodies] == [1.0]
    model = load_urdf_string(document, floating_base=True)
    assert [(b.name, b.inertia.mass) for b in model.bodies] == [("a", 2.0), ("c", 1.0)]


def test_floating_base():
    """Joint 0 is a free joint from the world to the root link."""
    model = load_urdf_string(robot(link("a"), link("b"), joint("j", "a", "b")), floating_base=True)
    base, arm = model.joints
    assert (base.name, base.kind, base.parent, base.source) == (
        "root_joint", JointKind.FLOATING, -1, "",
    )  # fmt: skip
    assert base.axis is None
    np.testing.assert_array_equal(base.placement, np.eye(4))
    assert (base.q_start, base.v_start, arm.q_start, arm.v_start) == (0, 0, 7, 6)
    assert (model.nq, model.nv, model.floating_base) == (8, 7, True)
    assert [(frame.name, frame.body) for frame in model.frames] == [
        ("world", -1), ("root_joint", 0), ("j", 1),
    ]  # fmt: skip
    assert model.root_link == "a"
    assert model.links[0].body == 0


def test_floating_base_name_is_made_unique():
    """A joint of the URDF keeps the name root_joint."""
    document = robot(link("a"), link("b"), joint("root_joint", "a", "b"))
    model = load_urdf_string(document, floating_base=True)
    assert [item.name for item in model.joints] == ["root_joint_2", "root_joint"]


@pytest.mark.parametrize("floating_base", [False, True])
def test_floating_joint_at_the_root(floating_base, recwarn):
    """A file that itself floats on a massless root has one floating joint, asked for or not."""
    document = robot(
        '<link name="world"/>', link("a"), link("b"),
        joint("free", "world", "a", AT, "floating"), joint("j", "a", "b"),
    )  # fmt: skip
    model = load_urdf_string(document, floating_base=floating_base)
    assert [(item.name, item.kind, item.source) for item in model.joints] == [
        ("free", JointKind.FLOATING, "free"),
        ("j", JointKind.REVOLUTE, "j"),
    ]
    assert model.joints[0].parent == -1
    assert model.joints[0].placement[0, 3] == 0.1
    assert model.floating_base
    assert model.frames[0].name == "world"
    assert model.links[0].body == -1
    assert [("'free'" in str(entry.message)) for entry in recwarn] == [True] * floating_base
    if floating_base:
        with pytest.raises(ModelError, match=r"'free'.*floating base asked for"):
            load_urdf_string(document, floating_base=True, strict=True)


def test_floating_joint_under_a_heavy_root():
    """A root that weighs something floats by itself; the joint below it is decomposed."""
    document = robot(link("a"), link("b"), joint("free", "a", "b", AT, "floating"))
    fixed = load_urdf_string(document)
    assert [item.kind for item in fixed.joints] == [JointKind.FLOATING]
    model = load_urdf_string(document, floating_base=True)
    assert [item.name for item in model.joints] == [
        "root_joint", "free.x", "free.y", "free.z", "free.rotation",
    ]  # fmt: skip
    assert (model.nq, model.nv) == (14, 12)


def test_two_floating_joints_at_the_root():
    """Each free body on a fixed base has a floating joint of its own."""
    document = robot(
        '<link name="world"/>', '<link name="table"/>', link("a"), link("b"),
        joint("t", "world", "table", AT, "fixed"),
        joint("fa", "world", "a", "", "floating"), joint("fb", "table", "b", AT, "floating"),
    )  # fmt: skip
    model = load_urdf_string(document)
    assert [(item.name, item.kind, item.parent) for item in model.joints] == [
        ("fa", JointKind.FLOATING, -1),
        ("fb", JointKind.FLOATING, -1),
    ]
    assert (model.nq, model.nv) == (14, 12)


def test_floating_joint_below_is_decomposed():
    """Three slides in the joint's frame and a ball, on massless bodies, names made unique."""
    document = robot(
        link("a"), link("b"), link("c"), link("c.x"),
        joint("j", "a", "b"), joint("f", "b", "c", AT, "floating"), joint("f.x", "b", "c.x"),
    )  # fmt: skip
    model = load_urdf_string(document)
    assert [item.name for item in model.joints] == ["j", "f.x_2", "f.y", "f.z", "f.rotation", "f.x"]
    assert [item.name for item in model.bodies] == ["b", "c.x_2", "c.y", "c.z", "c", "c.x"]
    assert [item.parent for item in model.joints] == [-1, 0, 1, 2, 3, 0]
    assert [item.source for item in model.joints] == ["j", "f", "f", "f", "f", "f.x"]
    assert [item.inertia.mass for item in model.bodies] == [1, 0, 0, 0, 1, 1]
    q = np.array([0.3, 1, 2, 3, 0, 0, np.sin(0.2), np.cos(0.2), 0])
    poses = link_poses(model, q)
    expected = poses["b"] @ model.joints[1].placement
    expected = expected @ np.block(
        [[rotation([0, 0, 1], 0.4), np.array([[1], [2], [3]])], [np.zeros((1, 3)), 1]]
    )
    np.testing.assert_allclose(poses["c"], expected, atol=1e-15)


@pytest.mark.parametrize(
    ("normal", "x", "y"),
    [
        ((0, 0, 1), (1, 0, 0), (0, 1, 0)),
        ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        ((0, 1, 0), (0, 0, 1), (1, 0, 0)),
        ((0, 0, -1), (1, 0, 0), (0, -1, 0)),
        ((0.6, 0, 0.8), (0.8, 0, -0.6), (0, 1, 0)),
        ((1, 1, 1), None, None),
        ((-0.2, 0.5, -0.4), None, None),
    ],
)
def test_planar_joints_move_in_the_plane_of_their_axis(normal, x, y):
    """Two slides in the plane and a rotation about its normal, right-handed."""
    axis = f'<axis xyz="{normal[0]} {normal[1]} {normal[2]}"/>'
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="1"/>'
    document = robot(link("a"), link("b"), joint("p", "a", "b", AT + axis + limit, "planar"))
    model = load_urdf_string(document)
    assert [(item.name, item.kind) for item in model.joints] == [
        ("p.x", JointKind.PRISMATIC), ("p.y", JointKind.PRISMATIC),
        ("p.rotation", JointKind.CONTINUOUS),
    ]  # fmt: skip
    axes = np.array([item.axis for item in model.joints])
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    np.testing.assert_allclose(axes[2], np.array(normal) / np.linalg.norm(normal), atol=1e-15)
    if x is not None:
        np.testing.assert_allclose(axes[:2], [x, y], atol=1e-15)
    assert [item.inertia.mass for item in model.bodies] == [0.0, 0.0, 1.0]
    assert all(item.limits == type(item.limits)() and item.damping == 0 for item in model.joints)


def test_records_are_read_only():
    """Neither a record nor an array of one can be changed; equal files make equal models."""
    document = robot(link("a"), link("b"), joint("j", "a", "b"))
    model = load_urdf_string(document)
    with pytest.raises(ValueError, match="read-only"):
        model.joints[0].placement[0, 0] = 2.0
    with pytest.raises(AttributeError):
        model.name = "other"
    assert model == load_urdf_string(document)
    assert hash(model) == hash(load_urdf_string(document))
    assert model != load_urdf_string(document.replace('upper="3"', 'upper="2"'))


def test_zero_outside_limits_is_noted_once():
    """One note names every independent joint that cannot be at zero, and no warning is issued."""
    document = robot(
        link("a"), link("b"), link("c"), link("d"),
        joint("j", "a", "b", '<limit lower="1" upper="2"/>'),
        joint("k", "b", "c", '<limit lower="-2" upper="-1"/>'),
        joint("l", "c", "d", '<limit lower="1" upper="2"/><mimic joint="k"/>'),
    )  # fmt: skip
    (note,) = load_urdf_string(document).warnings
    assert "'j', 'k';" in note


def test_warnings_are_issued_once_each():
    """Every warning of the model is issued, each once, and points at the caller."""
    document = robot(
        link("a"), link("b"), link("c"), joint("j", "a", "b", ""), joint("k", "b", "c", "")
    )
    with pytest.warns(ModelWarning) as issued:
        model = load_urdf_string(document, name="r.urdf")
    assert tuple(str(entry.message) for entry in issued) == model.warnings
    assert model.warnings[0].startswith("r.urdf:5: <joint> 'j': ")
    assert issued[0].filename == __file__
