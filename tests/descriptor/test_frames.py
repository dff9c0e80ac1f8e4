"""Placements, axes and the frame table, held against our reference and Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid_core.model import load_urdf_string, random_configuration
from tests.descriptor.robots import FIXTURES, describe_text, descriptor, model, text
from tests.descriptor.walk import body_poses, frame_poses
from tests.model.kinematics import link_poses
from tests.support.pinocchio_oracle import PinocchioOracle
from tests.support.random_trees import ALL_KINDS, random_urdf


def test_transforms_are_rows_that_map_child_to_parent() -> None:
    """D22: p_A = T_AB p_B, four rows of four; the translation is the last column."""
    T = np.array(descriptor("fixed_arm")["joints"][0]["T_parent_joint_zero"])
    assert T.shape == (4, 4)
    assert list(T[:3, 3]) == [0.1, -0.2, 0.3]
    assert list(T[3]) == [0.0, 0.0, 0.0, 1.0]
    # rpy = (0.1, 0.2, 0.3): the third row of Rz(0.3) Ry(0.2) Rx(0.1) begins with -sin(0.2).
    assert T[2, 0] == pytest.approx(-np.sin(0.2))


def test_zero_placements_include_merged_fixed_ancestors() -> None:
    """D23: the placement of `turn` is not its URDF origin: `base` lies between."""
    T = np.array(descriptor("fixed_leaf")["joints"][0]["T_parent_joint_zero"])
    c, s = np.cos(0.3), np.sin(0.3)
    np.testing.assert_allclose(T[:3, 3], [0.25 * c, 0.25 * s, 0.5], atol=1e-15)
    np.testing.assert_allclose(T[:3, :3], [[c, -s, 0], [s, c, 0], [0, 0, 1]], atol=1e-15)


def test_zero_placements_precede_the_mimic_offset() -> None:
    """D23: the offset of a follower is in its law, not in its placement."""
    T = np.array(descriptor("mimic_chain")["joints"][1]["T_parent_joint_zero"])
    assert np.array_equal(T[:3, :3], np.eye(3))
    assert list(T[:3, 3]) == [0.0, 0.1, 0.0]


def test_axes_are_signed_unit_vectors_of_the_joint_frame() -> None:
    """D24: the sign is kept; a rotated origin does not turn the axis; none for a ball or base."""
    shoulder, elbow, rail = descriptor("fixed_arm")["joints"]
    assert shoulder["axis"] == [0.0, 0.0, -1.0]
    assert elbow["axis"] == pytest.approx([0.6, 0.0, 0.8])
    assert rail["axis"] == [0.0, 1.0, 0.0]
    assert descriptor("ball")["joints"][0]["axis"] is None
    assert descriptor("floating")["joints"][0]["axis"] is None


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.booleans())
def test_the_walk_agrees_with_pinocchio(seed: int, joints: int, floating_base: bool) -> None:
    """D25: world = parent · zero · M(q) gives Pinocchio's body poses, floating base included."""
    urdf = random_urdf(seed, joints, kinds=ALL_KINDS)
    tree = load_urdf_string(urdf, floating_base=floating_base)
    q = random_configuration(tree, np.random.default_rng(seed))
    poses = body_poses(describe_text(urdf, floating_base=floating_base), q)
    ids, expected = PinocchioOracle.from_records(tree).placements(q[None])
    np.testing.assert_allclose([poses[i] for i in ids], expected[0], atol=1e-12)


@pytest.mark.parametrize("name", FIXTURES)
def test_fixed_frames_are_where_the_urdf_puts_their_links(name: str) -> None:
    """D25: T_world_frame = T_world_body · T_body_frame, against a walk over the URDF's own tree."""
    tree = model(name)
    q = random_configuration(tree, np.random.default_rng(3))
    poses = frame_poses(descriptor(name), q)
    fixed = [frame for frame in descriptor(name)["frames"] if frame["kind"] == "fixed"]
    children = _children(name)
    expected = link_poses(tree, q)
    for frame in fixed:
        np.testing.assert_allclose(
            poses[frame["id"]], expected[children[frame["name"]]], atol=1e-12
        )


def test_frames_are_root_then_joints_then_fixed_in_document_order() -> None:
    """D26: IDs are indices of one namespace, also for several fixed joints."""
    frames = descriptor("fixed_leaf")["frames"]
    assert [(f["id"], f["kind"], f["name"], f["body"]) for f in frames] == [
        (0, "root", "base", -1),
        (1, "joint", "turn", 0),
        (2, "fixed", "base", -1),
        (3, "fixed", "mount", 0),
        (4, "fixed", "grip", 0),
    ]


def test_frame_ids_are_stable_within_one_identity_only() -> None:
    """D26: with the fixed joints in another order, frame IDs and the identity differ."""
    before = text("fixed_leaf")
    start = before.index('<joint name="mount"')
    middle, end = before.index('<joint name="grip"'), before.index("</robot>")
    after = before[:start] + before[middle:end] + before[start:middle] + before[end:]
    found = describe_text(after)
    assert [frame["name"] for frame in found["frames"][3:]] == ["grip", "mount"]
    assert found["descriptor_id"] != descriptor("fixed_leaf")["descriptor_id"]


@pytest.mark.parametrize("name", FIXTURES)
def test_joint_frames_have_identity_offsets(name: str) -> None:
    """D27: a joint's frame is its body's."""
    for frame in descriptor(name)["frames"]:
        if frame["kind"] != "fixed":
            assert np.array_equal(frame["T_body_frame"], np.eye(4))


def test_fixed_frames_keep_their_accumulated_placement() -> None:
    """D27: `grip` is placed on the body, through `mount`."""
    grip = np.array(descriptor("fixed_leaf")["frames"][4]["T_body_frame"])
    c, s = np.cos(0.2), np.sin(0.2)
    np.testing.assert_allclose(grip[:3, 3], [0.5, -0.25 * s, 0.125 + 0.25 * c], atol=1e-15)


def test_the_root_is_told_by_kind_and_name() -> None:
    """D27: a joint may be called like the root; discarded links have no alias."""
    frames = descriptor("fixed_leaf")["frames"]
    assert [f["kind"] for f in frames if f["name"] == "base"] == ["root", "fixed"]
    assert "riser" not in [f["name"] for f in frames]


def test_names_are_opaque_text() -> None:
    """D27: no spelling is special, and none is normalised."""
    odd = "e\u0301\U0001f916 base/\u00e9"
    urdf = text("ball").replace('"vane_hinge"', f'"{odd}"')
    assert describe_text(urdf)["joints"][1]["name"] == odd


def test_inspection_does_not_touch_quaternions() -> None:
    """D16: a descriptor has no configuration in it, so none is normalised or refused."""
    found = descriptor("ball")
    assert not [key for key in found if "quaternion" in key or key == "q"]
    q = np.array([0.0, 0.0, 0.0, 2.0, 0.1])
    before = q.copy()
    body_poses(found, q)
    assert np.array_equal(q, before)


def _children(name: str) -> dict[str, str]:
    """Child link of each joint of the document."""
    from lxml import etree  # noqa: PLC0415

    root = etree.fromstring(text(name).encode())
    return {j.get("name"): j.find("child").get("link") for j in root.iter("joint")}
