"""Counts, ownership, kinds, mimic relations and limits, on one robot of each sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid_core.descriptor import configuration_layout
from grid_core.reference.coordinates import joint_positions, joint_rates
from tests.descriptor.robots import FIXTURES, describe_text, descriptor, model
from tests.descriptor.walk import local_rate, theta
from tests.support.random_trees import ALL_KINDS, random_urdf

WIDTHS = {"spherical": (4, 3), "floating": (7, 6)}


@pytest.mark.parametrize("name", FIXTURES)
def test_counts_are_of_the_tables(name: str) -> None:
    """D7: nq and nv are sums of owned widths, nj and nb count rows; the root is not a body."""
    found = descriptor(name)
    own = [joint for joint in found["joints"] if joint["q_start"] is not None]
    assert found["nq"] == sum(joint["local_nq"] for joint in own)
    assert found["nv"] == sum(joint["local_nv"] for joint in own)
    assert found["nj"] == len(found["joints"])
    assert found["nb"] == len(found["bodies"])
    assert -1 not in [body["id"] for body in found["bodies"]]
    assert found["frames"][0]["body"] == -1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.booleans())
def test_ids_follow_the_tree(seed: int, joints: int, floating_base: bool) -> None:
    """D8: IDs are indices, and every parent body precedes the body that hangs from it."""
    found = describe_text(random_urdf(seed, joints, mimic=0.3), floating_base=floating_base)
    for number, joint in enumerate(found["joints"]):
        assert joint["id"] == number
        assert -1 <= joint["parent_body"] < joint["child_body"] < found["nb"]


def test_fixed_joints_are_merged_and_compound_ones_are_effective() -> None:
    """D9: no fixed joint among the joints; planar and inner floating ones as what moves."""
    leaf = descriptor("fixed_leaf")
    assert [joint["name"] for joint in leaf["joints"]] == ["turn"]
    kinds = [(joint["name"], joint["kind"]) for joint in descriptor("decomposed")["joints"]]
    assert kinds == [
        ("plane.x", "prismatic"),
        ("plane.y", "prismatic"),
        ("plane.rotation", "continuous"),
        ("string.x", "prismatic"),
        ("string.y", "prismatic"),
        ("string.z", "prismatic"),
        ("string.rotation", "spherical"),
    ]


def test_joints_record_their_bodies_and_massless_bodies_count() -> None:
    """D10: parent and child of each joint; the floating base and decomposition bodies count."""
    found = descriptor("decomposed")
    assert found["nb"] == 7
    assert [(j["parent_body"], j["child_body"]) for j in found["joints"]] == [
        (number - 1, number) for number in range(7)
    ]
    assert model("decomposed").bodies[0].inertia.mass == 0.0
    free = descriptor("floating")
    assert free["bodies"][0] == {"id": 0, "name": "trunk"}
    assert [joint["parent_body"] for joint in free["joints"]] == [-1, 0, 0]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 12), st.booleans())
def test_blocks_cover_every_slot_once(seed: int, joints: int, floating_base: bool) -> None:
    """D11: on random trees of every kind, each entry of q and of v has exactly one owner."""
    kinds = (*ALL_KINDS, "planar", "floating")
    found = describe_text(
        random_urdf(seed, joints, kinds=kinds, mimic=0.3), floating_base=floating_base
    )
    for start, width, total in (("q_start", "local_nq", "nq"), ("v_start", "local_nv", "nv")):
        owners = np.zeros(found[total], dtype=int)
        for joint in found["joints"]:
            if joint[start] is not None:
                assert joint[start] + joint[width] <= found[total]
                owners[joint[start] : joint[start] + joint[width]] += 1
        assert np.all(owners == 1)


@pytest.mark.parametrize("name", FIXTURES)
def test_the_layout_is_a_view_sorted_by_q_start(name: str) -> None:
    """D12: derived from the joints, stored nowhere, in the order of q."""
    found = descriptor(name)
    assert "configuration_layout" not in found
    layout = configuration_layout(found)
    starts = [block["q_start"] for block in layout]
    assert starts == sorted(starts)
    assert [found["joints"][block["joint"]]["q_start"] for block in layout] == starts
    assert sum(block["local_nq"] for block in layout) == found["nq"]
    assert sum(block["local_nv"] for block in layout) == found["nv"]


def test_the_layout_of_a_floating_robot() -> None:
    """D12: the blocks that an application reads."""
    assert [tuple(block.values()) for block in configuration_layout(descriptor("floating"))] == [
        (0, "root_joint", "floating", 0, 7, 0, 6),
        (1, "collar", "continuous", 7, 1, 6, 1),
        (2, "hip", "revolute", 8, 1, 7, 1),
    ]


@pytest.mark.parametrize(
    ("name", "joint", "kind"),
    [
        ("fixed_arm", 0, "revolute"),
        ("fixed_arm", 1, "continuous"),
        ("fixed_arm", 2, "prismatic"),
        ("screw", 0, "helical"),
        ("screw", 1, "helical"),
        ("ball", 0, "spherical"),
        ("floating", 0, "floating"),
    ],
)
def test_kinds_and_their_widths(name: str, joint: int, kind: str) -> None:
    """D14: the six kinds, their widths, and the pitch that a helical joint alone has."""
    found = descriptor(name)["joints"][joint]
    assert found["kind"] == kind
    assert (found["local_nq"], found["local_nv"]) == WIDTHS.get(kind, (1, 1))
    assert (found["pitch"] is not None) == (kind == "helical")


def test_pitch_is_metres_a_radian_along_the_axis() -> None:
    """D14: as the file says, sign included."""
    first, second = descriptor("screw")["joints"]
    assert (first["pitch"], second["pitch"]) == (0.0125, -0.002)


def test_rotations_have_tangent_velocities() -> None:
    """D15: a quaternion has three velocities, not four rates; a floating base's is linear first."""
    globe, base = descriptor("ball")["joints"][0], descriptor("floating")["joints"][0]
    assert (globe["local_nq"], globe["local_nv"]) == (4, 3)
    assert (base["local_nq"], base["local_nv"]) == (7, 6)
    handle_model = model("floating")
    (moved,) = joint_rates(handle_model, np.arange(1.0, 9.0)[None])[0]
    assert list(moved) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_followers_own_nothing_and_their_chain_is_flat() -> None:
    """D17: starts are null, and each names the independent joint at its chain's end."""
    a, b, c, *_ = descriptor("mimic_chain")["joints"]
    assert [(j["q_start"], j["v_start"]) for j in (a, b, c)] == [(None, None), (None, None), (0, 0)]
    assert a["mimic"] == {"leader": 2, "multiplier": -1.0, "offset": 0.0}
    assert b["mimic"] == {"leader": 2, "multiplier": 0.5, "offset": 0.125}
    assert c["mimic"] is None
    assert descriptor("mimic_chain")["nb"] == 5


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_relations_are_those_of_the_reference(seed: int) -> None:
    """D17: θ = m q[leader] + b and its rate m v[leader], as the dynamics has them."""
    from grid_core.model import load_urdf_string, random_configuration  # noqa: PLC0415

    text = random_urdf(seed, 8, mimic=0.6)
    found, tree = describe_text(text), load_urdf_string(text)
    rng = np.random.default_rng(seed)
    q, v = random_configuration(tree, rng), rng.normal(size=tree.nv)
    positions, rates = joint_positions(tree, q[None]), joint_rates(tree, v[None])
    for joint in found["joints"]:
        number = joint["id"]
        np.testing.assert_allclose(theta(found, joint, q), positions[number][0], atol=1e-12)
        np.testing.assert_allclose(local_rate(found, joint, v), rates[number][0], atol=1e-12)


def test_a_constant_joint_reads_nothing() -> None:
    """D18: null leader, multiplier 0, θ its offset whatever q is."""
    found = descriptor("mimic_chain")
    held = found["joints"][3]
    assert held["mimic"] == {"leader": None, "multiplier": 0.0, "offset": 0.75}
    for q in (np.zeros(2), np.full(2, np.nan)):
        assert theta(found, held, q) == [0.75]
        assert local_rate(found, held, q) == [0.0]


def test_local_widths_describe_the_motion() -> None:
    """D19: a follower has widths of its own motion; only joints of one coordinate follow."""
    for joint in descriptor("mimic_chain")["joints"]:
        assert (joint["local_nq"], joint["local_nv"]) == (1, 1)


def test_limits_are_per_joint_and_null_is_no_bound() -> None:
    """D20: null is not zero; a continuous joint has no interval."""
    shoulder, elbow, rail = descriptor("fixed_arm")["joints"]
    assert shoulder["limits"] == {"lower": -1.5, "upper": 2.25, "velocity": 3.5, "effort": 40.0}
    assert elbow["limits"] == {"lower": None, "upper": None, "velocity": 6.0, "effort": 12.0}
    assert rail["limits"]["lower"] == 0.0
    unbounded = descriptor("mimic_chain")["joints"][4]["limits"]
    assert unbounded == dict.fromkeys(("lower", "upper", "velocity", "effort"))


def test_followers_keep_their_limits() -> None:
    """D20: limits stay with the joint that the file gave them."""
    assert descriptor("mimic_chain")["joints"][0]["limits"]["lower"] == -3.0


def test_no_box_is_made_up_for_a_quaternion() -> None:
    """D21: neither a spherical nor a floating joint gets an interval."""
    for joint in (descriptor("ball")["joints"][0], descriptor("floating")["joints"][0]):
        assert (joint["limits"]["lower"], joint["limits"]["upper"]) == (None, None)
