"""Mimic joints: flattened to an independent leader, or constants."""

from __future__ import annotations

import pytest

from grid_core.errors import ModelError
from grid_core.model import Mimic, load_urdf_string
from tests.model.texts import LIMIT, joint, link, robot


def hand(*fingers: tuple[str, str], kinds: dict[str, str] | None = None):
    """Load a palm with a finger for each (joint, mimic attributes)."""
    joints = []
    for name, mimic in fingers:
        inside = LIMIT + (f"<mimic {mimic}/>" if mimic else "")
        joints.append(
            joint(name, "palm", f"{name}_link", inside, (kinds or {}).get(name, "revolute"))
        )
    links = [link(f"{name}_link") for name, _ in fingers]
    model = load_urdf_string(robot(link("palm"), *links, *joints))
    return {item.name: item for item in model.joints}, model


def test_defaults():
    """The multiplier is 1 and the offset 0 unless said."""
    joints, model = hand(("a", ""), ("b", 'joint="a"'))
    assert joints["b"].mimic == Mimic(joints["a"].id, 1.0, 0.0)
    assert (joints["b"].q_start, joints["b"].v_start) == (None, None)
    assert (model.nq, model.nv, model.nb) == (1, 1, 2)
    assert model.has_mimic


def test_followers_keep_limits():
    """A follower has the limits of its own element."""
    joints, _ = hand(("a", ""), ("b", 'joint="a"'))
    assert (joints["b"].limits.lower, joints["b"].limits.effort) == (-3.0, 10.0)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_chains(order):
    """A mimic of a mimic follows the independent joint at the end, in any order of the file."""
    fingers = [
        ("d", ""),
        ("c", 'joint="d" multiplier="2" offset="1"'),
        ("b", 'joint="c" multiplier="-3" offset="0.5"'),
        ("a", 'joint="b" multiplier="0.5"'),
    ]
    joints, _ = hand(*(fingers[index] for index in order))
    assert joints["d"].q_start == 0
    leader = joints["d"].id
    assert joints["c"].mimic == Mimic(leader, 2.0, 1.0)
    assert joints["b"].mimic == Mimic(leader, -6.0, -2.5)
    assert joints["a"].mimic == Mimic(leader, -3.0, -1.25)


def test_constants():
    """A follower of a fixed joint, or with multiplier 0, reads no coordinate."""
    joints, model = hand(
        ("f", ""),
        ("m", ""),
        ("a", 'joint="f" multiplier="2" offset="0.3"'),
        ("b", 'joint="m" multiplier="0" offset="-0.1"'),
        ("c", 'joint="a" multiplier="2" offset="0.1"'),
        kinds={"f": "fixed"},
    )
    assert joints["a"].mimic == Mimic(None, 0.0, 0.3)
    assert joints["b"].mimic == Mimic(None, 0.0, -0.1)
    assert joints["c"].mimic == Mimic(None, 0.0, pytest.approx(0.7))
    assert (model.nq, model.nj) == (1, 4)
    assert not model.has_mimic


def test_fixed_joints_mimic_nothing():
    """A mimic element of a fixed joint is ignored, even one that leads nowhere."""
    joints, model = hand(("a", ""), ("f", 'joint="nobody"'), kinds={"f": "fixed"})
    assert list(joints) == ["a"]
    assert model.nq == 1


@pytest.mark.parametrize("kind", ["prismatic", "continuous"])
def test_other_scalar_kinds(kind):
    """Any joint of one coordinate may lead or follow."""
    joints, _ = hand(("a", ""), ("b", 'joint="a" multiplier="0.05"'), kinds={"b": kind})
    assert joints["b"].mimic == Mimic(0, 0.05, 0.0)


@pytest.mark.parametrize(
    ("fingers", "kinds", "named"),
    [
        ([("a", 'joint="x"')], {}, ["'a' mimics 'x', which does not exist"]),
        ([("a", 'joint="palm"')], {}, ["'a' mimics 'palm', which does not exist"]),
        ([("a", 'joint="a"')], {}, ["'a' mimics itself"]),
        ([("a", 'joint="b"'), ("b", 'joint="a"')], {}, ["ring: 'a' → 'b' → 'a'"]),
        (
            [("a", 'joint="b"'), ("b", 'joint="c"'), ("c", 'joint="b"')],
            {},
            ["ring: 'b' → 'c' → 'b'"],
        ),
        (
            [("a", ""), ("b", 'joint="a"')],
            {"a": "spherical"},
            ["'b' cannot mimic spherical joint 'a'"],
        ),
        ([("a", ""), ("b", 'joint="a"')], {"a": "planar"}, ["'b' cannot mimic planar joint 'a'"]),
        (
            [("a", ""), ("b", 'joint="a"')],
            {"b": "floating"},
            ["floating joint 'b' cannot mimic 'a'"],
        ),
        ([("a", ""), ("b", 'joint="a"')], {"b": "planar"}, ["planar joint 'b' cannot mimic 'a'"]),
        ([("a", ""), ("b", "")], {}, []),
        ([("a", ""), ("b", 'multiplier="1"')], {}, ["'joint' is missing"]),
        ([("a", ""), ("b", 'joint=""')], {}, ["'joint' is empty"]),
        ([("a", ""), ("b", 'joint="a" multiplier="two"')], {}, ["'multiplier'", "'two'"]),
        ([("a", ""), ("b", 'joint="a" offset="nan"')], {}, ["'offset'", "'nan'"]),
        (
            [
                ("a", ""),
                ("b", 'joint="a" multiplier="1e200"'),
                ("c", 'joint="b" multiplier="1e200"'),
            ],
            {},
            ["'c' through 'b' overflows"],
        ),
    ],
)
def test_refusals(fingers, kinds, named):
    """What cannot be followed is refused with both names and the line of the element."""
    if not named:
        hand(*fingers)
        return
    with pytest.raises(ModelError) as caught:
        hand(*fingers, kinds=kinds)
    for words in named:
        assert words in str(caught.value)
    assert caught.value.element == "mimic"
    assert caught.value.line > len(fingers) + 2


def test_long_chains_take_linear_time():
    """A thousand followers of one another, last first, need no recursion."""
    fingers = [(f"j{n:04}", f'joint="j{n + 1:04}"') for n in range(1000)]
    joints, model = hand(*fingers, ("j1000", ""))
    assert all(item.mimic.leader == 1000 for item in joints.values() if item.mimic)
    assert model.nq == 1
