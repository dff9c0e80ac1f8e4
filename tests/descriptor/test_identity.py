"""What changes the identity, and what does not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grid_core
from grid_core.descriptor import differences
from tests.descriptor.encoding import identity
from tests.descriptor.robots import describe_text, descriptor, path, text
from tests.descriptor.xml_edits import change_inertias, permute, reformat, rewrite
from tests.support.random_trees import ALL_KINDS, random_urdf

if TYPE_CHECKING:
    from lxml import etree

KINDS = (*ALL_KINDS, "fixed", "planar", "floating")
TREES = st.builds(
    lambda seed, joints, mimic: random_urdf(seed, joints, kinds=KINDS, mimic=mimic, dynamics=True),
    st.integers(0, 10**6),
    st.integers(1, 10),
    st.sampled_from([0.0, 0.4]),
)


def ids(*documents: str, **options: Any) -> set[str]:
    return {describe_text(document, **options)["descriptor_id"] for document in documents}


@settings(max_examples=30, deadline=None)
@given(TREES, st.integers(), st.booleans())
def test_what_the_coordinates_do_not_depend_on(urdf: str, seed: int, floating_base: bool) -> None:
    """D8, D32: XML order, spelling of numbers, comments, meshes and inertias keep the identity."""
    same = [
        urdf,
        permute(urdf, seed),
        reformat(urdf),
        change_inertias(urdf),
        reformat(permute(change_inertias(urdf), seed + 1)),
    ]
    assert len(ids(*same, floating_base=floating_base)) == 1


@settings(max_examples=30, deadline=None)
@given(TREES, st.booleans())
def test_the_identity_is_that_of_the_second_implementation(urdf: str, floats: bool) -> None:
    """D33: on random trees."""
    found = describe_text(urdf, floating_base=floats)
    assert found["descriptor_id"] == identity(found)


def _set(where: str, key: str, value: str) -> Any:
    def change(root: etree._Element) -> None:
        (element,) = root.findall(where)
        element.set(key, value)

    return change


def _edit(joint: etree._Element, what: str) -> None:
    """Change one thing that the coordinates depend on."""
    match what:
        case "name":
            before, after = joint.get("name"), f"{joint.get('name')}_"
            joint.set("name", after)
            for mimic in joint.getparent().iter("mimic"):
                if mimic.get("joint") == before:
                    mimic.set("joint", after)
        case "origin":
            origin = joint.find("origin")
            x, y, z = map(float, origin.get("xyz").split())
            origin.set("xyz", f"{math.nextafter(x, math.inf)!r} {y!r} {z!r}")
        case "axis":
            axis = joint.find("axis")
            axis.set("xyz", " ".join(repr(-float(n)) for n in axis.get("xyz").split()))
        case "limit":
            joint.find("limit").set("velocity", "4.999")


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 8),
    st.data(),
    st.sampled_from(["name", "origin", "axis", "limit"]),
)
def test_one_edit_of_a_random_robot_changes_it(
    seed: int, joints: int, data: st.DataObject, what: str
) -> None:
    """D32: a joint's name, the last bit of its origin, its axis' sign or a limit."""
    urdf = random_urdf(seed, joints, kinds=("revolute", "prismatic", "helical"), mimic=0.3)
    number = data.draw(st.integers(0, joints - 1))
    edited = rewrite(urdf, lambda root: _edit(root.findall("joint")[number], what))
    before, after = describe_text(urdf), describe_text(edited)
    assert before["descriptor_id"] != after["descriptor_id"]
    assert differences(before, after)


CHANGES = {
    "joint name": ("fixed_arm", _set("joint[@name='rail']", "name", "railway")),
    "limit": ("fixed_arm", _set("joint[@name='rail']/limit", "upper", "0.40000000000000008")),
    "effort": ("fixed_arm", _set("joint[@name='rail']/limit", "effort", "121")),
    "speed": ("fixed_arm", _set("joint[@name='rail']/limit", "velocity", "0.25")),
    "axis": ("fixed_arm", _set("joint[@name='rail']/axis", "xyz", "0 -1 0")),
    "origin": ("fixed_arm", _set("joint[@name='rail']/origin", "xyz", "0.05 0.02 0.1500000001")),
    "kind": ("fixed_arm", _set("joint[@name='elbow']", "type", "revolute")),
    "owner": ("mimic_chain", _set("joint[@name='b_middle']/mimic", "joint", "e_free")),
    "offset": ("mimic_chain", _set("joint[@name='b_middle']/mimic", "offset", "0.126")),
    "multiplier": ("mimic_chain", _set("joint[@name='d_held']/mimic", "multiplier", "1")),
    "pitch": ("screw", _set("joint[@name='lead']/axis", "pitch", "0.0126")),
    "frame name": ("fixed_leaf", _set("joint[@name='grip']", "name", "grasp")),
    "frame placement": ("fixed_leaf", _set("joint[@name='grip']/origin", "xyz", "0 0 0.26")),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_the_coordinates_depend_on(what: str) -> None:
    """D32: a name, limit, axis, offset, kind or owner changes the identity."""
    name, change = CHANGES[what]
    assert len(ids(text(name), rewrite(text(name), change))) == 2


def test_the_base_counts() -> None:
    """D32: ownership with a floating base is another one."""
    assert ids(text("floating")) != ids(text("floating"), floating_base=True)


def test_a_body_that_moves_a_joint_by_another_name_counts() -> None:
    """D32: names of effective bodies are covered, those of merged links are not."""
    before = text("fixed_leaf")
    assert len(ids(before, before.replace('"arm"', '"boom"'))) == 2
    assert len(ids(before, before.replace('"riser"', '"plinth"'))) == 1


def test_the_robots_own_name_does_not_count() -> None:
    """D32: so that a robot registered under another name is still the same one."""
    before = text("ball")
    assert len(ids(before, before.replace('robot name="ball"', 'robot name="b"'))) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"dtype": "float64"},
        {"algorithm_list": "id"},
        {"use_joint_dynamics": True},
        {"num_threads": 1},
        {"name": "other"},
        {"ee_joint_names": ["collar"]},
    ],
    ids=lambda options: next(iter(options)),
)
def test_options_of_a_load_do_not_count(options: dict[str, Any]) -> None:
    """D32: algorithms, precision, compiler options, friction and targets keep the identity."""
    handle = grid_core.load_robot(
        path("floating"), floating_base=True, backend="reference", **options
    )
    expected = descriptor("floating")["descriptor_id"]
    assert handle.model_descriptor["descriptor_id"] == expected
