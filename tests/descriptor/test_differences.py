"""What differs, in words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid_core.descriptor import differences
from tests.descriptor.robots import FIXTURES, describe_text, descriptor, golden, text
from tests.descriptor.xml_edits import permute, reformat
from tests.support.random_trees import ALL_KINDS, random_urdf

EDITS = [
    # fixture, before, after, sentences
    ("fixed_arm", 'name="rail"', 'name="track"', ["joint 'rail' is called 'track'"]),
    (
        "fixed_arm",
        'upper="2.25"',
        'upper="2"',
        ["the upper limit of joint 'shoulder' narrowed from 2.25 to 2.0 rad"],
    ),
    (
        "fixed_arm",
        'lower="-1.5"',
        'lower="-1.75"',
        ["the lower limit of joint 'shoulder' widened from -1.5 to -1.75 rad"],
    ),
    (
        "fixed_arm",
        ' velocity="0.5" effort="120"',
        ' effort="60"',
        [
            "the velocity limit of joint 'rail' widened from 0.5 to none",
            "the effort limit of joint 'rail' narrowed from 120.0 to 60.0 N",
        ],
    ),
    (
        "fixed_arm",
        'xyz="0.05 0.02 0.15"',
        'xyz="0.05 0.02 0.25" rpy="0 0 0.5"',
        [
            (
                "joint 'rail' moved by 0.1 m, from [0.05, 0.02, 0.15] to [0.05, 0.02, 0.25] and "
                "turned by 0.5 rad (28.6479°)"
            )
        ],
    ),
    (
        "fixed_arm",
        'axis xyz="0 0 -1"',
        'axis xyz="0 0 1"',
        ["the axis of joint 'shoulder' turned by 180°, from [0, 0, -1] to [0, 0, 1]"],
    ),
    ("fixed_arm", "continuous", "revolute", ["joint 'elbow' is revolute, was continuous"]),
    ("fixed_arm", '"upper"', '"boom"', ["joint 'shoulder' moves body 'boom', was body 'upper'"]),
    ("screw", "0.0125", "0.015", ["the pitch of joint 'lead' is 0.015 m/rad, was 0.0125"]),
    (
        "mimic_chain",
        'offset="0.75"',
        'offset="0.5"',
        ["joint 'd_held' is constant at 0.5; before, it is constant at 0.75"],
    ),
    (
        "mimic_chain",
        '<mimic joint="c_leader" multiplier="0" offset="0.75"/>',
        "",
        [
            "entries in q: 3, was 2",
            "entries in v: 3, was 2",
            "joint 'd_held' is independent; before, it is constant at 0.75",
            "the q entry of joint 'd_held' is 1, was none",
            "the v entry of joint 'd_held' is 1, was none",
            "the q entry of joint 'e_free' is 2, was 1",
            "the v entry of joint 'e_free' is 2, was 1",
        ],
    ),
    ("fixed_leaf", '"grip"', '"grasp"', ["fixed frame 'grip' is called 'grasp'"]),
    (
        "fixed_leaf",
        'xyz="0 0 0.25"',
        'xyz="0 0 0.375"',
        [
            (
                "fixed frame 'grip' moved by 0.125 m, from [0.5, -0.0496673, 0.370017] to "
                "[0.5, -0.074501, 0.492525]"
            )
        ],
    ),
    (
        "fixed_leaf",
        '<parent link="tool"/><child link="tip"/>',
        '<parent link="base"/><child link="tip"/>',
        [
            (
                "fixed frame 'grip' sits on the root at [0, 0, 0.25] m, was body 'arm' at "
                "[0.5, -0.0496673, 0.370017] m"
            )
        ],
    ),
]


@pytest.mark.parametrize(("name", "before", "after", "expected"), EDITS)
def test_an_edit_is_told_in_words(name: str, before: str, after: str, expected: list[str]) -> None:
    edited = text(name).replace(before, after)
    assert edited != text(name)
    found = differences(descriptor(name), describe_text(edited, floating_base=FIXTURES[name]))
    assert found == expected


def test_a_floating_base_is_told() -> None:
    found = differences(descriptor("floating", floating_base=False), descriptor("floating"))
    assert found[:5] == [
        "the base is floating, was fixed",
        "the root frame is called 'world', was 'trunk'",
        "entries in q: 9, was 2",
        "entries in v: 8, was 2",
        "joint 'root_joint' is new (floating)",
    ]
    assert (
        "joint 'hip' hangs from body 'trunk' at [0.2, 0, -0.1] m, was the root at [0.2, 0, -0.1] m"
    ) in found


def test_joints_and_frames_come_and_go() -> None:
    found = differences(descriptor("fixed_leaf"), descriptor("screw"))
    assert "joint 'turn' is gone" in found
    assert "joint 'lead' is new (helical)" in found
    assert "fixed frame 'grip' is gone" in found


def test_a_renamed_joint_that_sorts_elsewhere_is_still_one_joint() -> None:
    """A sibling's name decides its ID, and so its entry of q."""
    renamed = text("floating").replace('"hip"', '"a_hip"')
    found = differences(descriptor("floating"), describe_text(renamed, floating_base=True))
    assert "joint 'hip' is called 'a_hip'" in found
    assert "the q entry of joint 'hip' is 7, was 8" in found
    assert not [line for line in found if "gone" in line or "new" in line]


def test_fixed_frames_in_another_order_are_told() -> None:
    before = text("fixed_leaf")
    start = before.index('<joint name="mount"')
    middle, end = before.index('<joint name="grip"'), before.index("</robot>")
    after = before[:start] + before[middle:end] + before[start:middle] + before[end:]
    assert differences(descriptor("fixed_leaf"), describe_text(after)) == [
        "fixed frame 'mount' has ID 4, was 3",
        "fixed frame 'grip' has ID 3, was 4",
    ]


def test_a_last_bit_is_told() -> None:
    """Whatever changes the identity is said, however small."""
    edited = text("fixed_arm").replace("0.05 0.02 0.15", "0.05 0.02 0.15000000000000002")
    (line,) = differences(descriptor("fixed_arm"), describe_text(edited))
    assert line.startswith("joint 'rail' moved by 2.77556e-17 m")


@pytest.mark.parametrize("a", FIXTURES)
@pytest.mark.parametrize("b", FIXTURES)
def test_silent_exactly_for_equal_identities(a: str, b: str) -> None:
    assert bool(differences(golden(a), golden(b))) == (a != b)


TREES = st.builds(
    lambda seed, joints, mimic: random_urdf(
        seed, joints, kinds=(*ALL_KINDS, "fixed", "planar"), mimic=mimic
    ),
    st.integers(0, 50),
    st.integers(1, 6),
    st.sampled_from([0.0, 0.4]),
)


@settings(max_examples=30, deadline=None)
@given(TREES, TREES, st.integers())
def test_silent_exactly_for_equal_identities_of_random_robots(a: str, b: str, seed: int) -> None:
    one, two = describe_text(a), describe_text(b)
    assert bool(differences(one, two)) == (one["descriptor_id"] != two["descriptor_id"])
    assert differences(one, describe_text(reformat(permute(a, seed)))) == []
