"""Tables that break an invariant are refused by its name, also with their identity made anew."""

from __future__ import annotations

import contextlib
import copy
import math
from typing import TYPE_CHECKING, Any

import pytest

from grid_core.descriptor import compute_descriptor_id, validate
from grid_core.errors import DescriptorError, GridError
from tests.descriptor.robots import FIXTURES, golden

if TYPE_CHECKING:
    from collections.abc import Callable


def put(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """``put("joints.0.axis", None)`` changes that field."""

    def change(found: Any) -> None:
        *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        for step in steps:
            found = found[step]
        found[last] = value

    return change


def drop(path: str) -> Callable[[dict[str, Any]], None]:
    def change(found: Any) -> None:
        *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        for step in steps:
            found = found[step]
        del found[last]

    return change


def turned(sign: float, corner: float = 0.0) -> list[list[float]]:
    return [
        [sign, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [corner, 0.0, 0.0, 1.0],
    ]


SKEW = [[1.0, 0.1, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]

BROKEN: list[tuple[str, str, Any, str]] = [
    # fixture, invariant, change, where
    ("fixed_arm", "schema version", put("schema_version", 2), "schema_version"),
    ("fixed_arm", "form", put("schema_version", value=True), "schema_version"),
    ("fixed_arm", "form", put("schema_version", 1.0), "schema_version"),
    ("fixed_arm", "form", drop("nq"), "the descriptor"),
    ("fixed_arm", "form", put("colour", "red"), "the descriptor"),
    ("fixed_arm", "form", put("joints.1.colour", "red"), "joints[1]"),
    ("fixed_arm", "form", put("joints.1.limits.jerk", 1.0), "joints[1].limits"),
    ("fixed_arm", "form", put("nq", value=True), "nq"),
    ("fixed_arm", "form", put("nq", 3.0), "nq"),
    ("fixed_arm", "form", put("nq", -3), "nq"),
    ("fixed_arm", "form", put("joints.0.limits.lower", -1), "joints[0].limits.lower"),
    ("fixed_arm", "form", put("joints.0.limits.lower", math.nan), "joints[0].limits.lower"),
    ("fixed_arm", "form", put("joints.0.limits.upper", math.inf), "joints[0].limits.upper"),
    ("fixed_arm", "form", put("joints.0.limits.upper", "1"), "joints[0].limits.upper"),
    ("fixed_arm", "form", put("joints.0.kind", "planar"), "joints[0].kind"),
    ("fixed_arm", "form", put("joints.0.local_nq", 2), "joints[0].local_nq"),
    ("fixed_arm", "form", put("joints.0.axis", [1.0, 0.0]), "joints[0].axis"),
    ("fixed_arm", "form", put("joints.0.name", "\ud800"), "joints[0].name"),
    ("fixed_arm", "form", put("joints.0.name", None), "joints[0].name"),
    ("fixed_arm", "form", put("joints", {}), "joints"),
    ("fixed_arm", "form", put("frames", []), "frames"),
    ("fixed_arm", "form", put("descriptor_id", "A" * 64), "descriptor_id"),
    ("fixed_arm", "counts", put("nj", 4), "nj"),
    ("fixed_arm", "counts", put("nb", 4), "nb"),
    ("fixed_arm", "ids", put("joints.1.id", 2), "joints[1].id"),
    ("fixed_arm", "ids", put("bodies.1.id", 0), "bodies[1].id"),
    ("fixed_arm", "ids", put("frames.1.id", 7), "frames[1].id"),
    ("fixed_arm", "tree order", put("joints.1.parent_body", 1), "joints[1].parent_body"),
    ("fixed_arm", "tree order", put("joints.1.parent_body", 2), "joints[1].parent_body"),
    ("fixed_arm", "tree order", put("joints.1.child_body", 0), "joints[1].child_body"),
    ("fixed_arm", "names", put("joints.1.name", "shoulder"), "joints"),
    ("fixed_arm", "names", put("bodies.1.name", "upper"), "bodies"),
    ("fixed_arm", "floating root", put("floating_base", value=True), "floating_base"),
    ("floating", "floating root", put("floating_base", value=False), "floating_base"),
    ("fixed_arm", "local widths", put("joints.0.local_nq", 4), "joints[0].local_nq"),
    ("ball", "local widths", put("joints.0.local_nv", 1), "joints[0].local_nv"),
    ("fixed_arm", "ownership", put("joints.1.q_start", 0), "joints[1].q_start"),
    ("fixed_arm", "ownership", put("joints.2.q_start", 3), "joints[2].q_start"),
    ("fixed_arm", "ownership", put("joints.2.v_start", 1), "joints[2].v_start"),
    ("fixed_arm", "ownership", put("joints.2.v_start", None), "joints[2].v_start"),
    ("fixed_arm", "ownership", put("nq", 4), "nq"),
    ("fixed_arm", "ownership", put("nv", 2), "nv"),
    ("ball", "ownership", put("joints.1.q_start", 3), "joints[1].q_start"),
    ("floating", "ownership", put("joints.1.v_start", 7), "joints[1].v_start"),
    ("mimic_chain", "ownership", put("joints.0.q_start", 2), "joints[0].q_start"),
    ("mimic_chain", "ownership", put("joints.0.v_start", 0), "joints[0].v_start"),
    ("mimic_chain", "mimic", put("joints.0.mimic.leader", 1), "joints[0].mimic"),
    ("mimic_chain", "mimic", put("joints.0.mimic.leader", 0), "joints[0].mimic"),
    ("mimic_chain", "mimic", put("joints.0.mimic.leader", 9), "joints[0].mimic"),
    ("mimic_chain", "mimic", put("joints.0.mimic.leader", None), "joints[0].mimic"),
    ("mimic_chain", "mimic", put("joints.0.mimic.multiplier", 0.0), "joints[0].mimic"),
    ("fixed_arm", "unit axis", put("joints.0.axis", [0.0, 0.0, 2.0]), "joints[0].axis"),
    ("fixed_arm", "unit axis", put("joints.0.axis", [0.0, 0.0, 0.0]), "joints[0].axis"),
    ("fixed_arm", "unit axis", put("joints.0.axis", None), "joints[0].axis"),
    ("ball", "unit axis", put("joints.0.axis", [0.0, 0.0, 1.0]), "joints[0].axis"),
    ("fixed_arm", "pitch", put("joints.0.pitch", 0.0), "joints[0].pitch"),
    ("screw", "pitch", put("joints.0.pitch", None), "joints[0].pitch"),
    ("fixed_arm", "limits", put("joints.0.limits.lower", 3.0), "joints[0].limits"),
    ("fixed_arm", "limits", put("joints.0.limits.velocity", -1.0), "joints[0].limits"),
    ("fixed_arm", "limits", put("joints.1.limits.upper", 1.0), "joints[1].limits"),
    ("ball", "limits", put("joints.0.limits.lower", 0.0), "joints[0].limits"),
    (
        "fixed_arm",
        "proper rotation",
        put("joints.0.T_parent_joint_zero", turned(-1.0)),
        "joints[0].T_parent_joint_zero",
    ),
    (
        "fixed_arm",
        "proper rotation",
        put("joints.0.T_parent_joint_zero", turned(1.0, 0.5)),
        "joints[0].T_parent_joint_zero",
    ),
    ("fixed_leaf", "proper rotation", put("frames.3.T_body_frame", SKEW), "frames[3].T_body_frame"),
    ("fixed_leaf", "frames", put("frames.1.T_body_frame", SKEW), "frames[1]"),
    ("fixed_leaf", "frames", put("frames.0.body", 0), "frames[0]"),
    ("fixed_leaf", "frames", put("frames.0.kind", "fixed"), "frames[0]"),
    ("fixed_leaf", "frames", put("frames.1.name", "turned"), "frames[1]"),
    ("fixed_leaf", "frames", put("frames.1.body", -1), "frames[1]"),
    ("fixed_leaf", "frames", put("frames.3.body", 1), "frames[3]"),
    ("fixed_leaf", "frames", put("frames.3.kind", "joint"), "frames[3]"),
    ("fixed_arm", "frames", drop("frames.3"), "frames"),
    ("fixed_leaf", "names", put("frames.4.name", "turn"), "frames"),
]


@pytest.mark.parametrize("name", FIXTURES)
def test_what_was_described_is_valid(name: str) -> None:
    """D35: every invariant holds for what we write."""
    validate(golden(name))


@pytest.mark.parametrize(
    ("name", "invariant", "change", "where"),
    BROKEN,
    ids=[f"{case[1]}: {case[3]} of {case[0]}" for case in BROKEN],
)
def test_a_broken_invariant_is_named(name: str, invariant: str, change: Any, where: str) -> None:
    """D35: a rehashed invalid table is refused, with the invariant and the field."""
    found = golden(name)
    change(found)
    rehash(found)
    with pytest.raises(DescriptorError) as caught:
        validate(found)
    assert (caught.value.invariant, caught.value.where) == (invariant, where)
    assert f"[{invariant}]" in str(caught.value)


def test_a_floating_joint_hangs_from_the_root() -> None:
    """D14, D35: there is no floating joint inside a tree."""
    found = golden("floating")
    base = copy.deepcopy(found["joints"][0])
    found["joints"][1] |= {
        key: base[key] for key in ("kind", "axis", "local_nq", "local_nv", "limits")
    }
    with pytest.raises(DescriptorError, match="hangs from the root"):
        validate(rehash(found))


def test_a_ball_cannot_follow_or_lead() -> None:
    """D19, D35: no mimic semantics for joints of several coordinates."""
    found = golden("ball")
    law = {"leader": 0, "multiplier": 1.0, "offset": 0.0}
    found["joints"][1] |= {"mimic": law, "q_start": None, "v_start": None}
    found |= {"nq": 4, "nv": 3}
    with pytest.raises(DescriptorError, match="joint 0 is spherical") as caught:
        validate(rehash(found))
    assert caught.value.invariant == "mimic"
    found = golden("ball")
    law = {"leader": 1, "multiplier": 1.0, "offset": 0.0}
    found["joints"][0] |= {"mimic": law, "q_start": None, "v_start": None}
    found["joints"][1] |= {"q_start": 0, "v_start": 0}
    found |= {"nq": 1, "nv": 1}
    with pytest.raises(DescriptorError, match="a spherical joint cannot follow"):
        validate(rehash(found))


@pytest.mark.parametrize("value", [None, [], "x", 1, True])
def test_what_is_no_map_is_refused(value: Any) -> None:
    """D35: a descriptor is a map."""
    with pytest.raises(DescriptorError, match="needs a map"):
        validate(value)


def test_a_wrong_identity_is_refused() -> None:
    """D35: an edit without a new identity is found as well."""
    found = golden("fixed_arm")
    found["joints"][0]["limits"]["upper"] = 2.0
    with pytest.raises(DescriptorError, match="was edited") as caught:
        validate(found)
    assert caught.value.invariant == "descriptor id"


def test_near_keys_are_suggested() -> None:
    found = golden("fixed_arm")
    found["joints"][0]["qstart"] = found["joints"][0].pop("q_start")
    with pytest.raises(DescriptorError, match=r"unknown key 'qstart' \(did you mean 'q_start'"):
        validate(found)


def test_the_error_is_a_value_error_and_grids_own() -> None:
    assert issubclass(DescriptorError, ValueError)
    assert issubclass(DescriptorError, GridError)


def rehash(found: dict[str, Any]) -> dict[str, Any]:
    """Compute the identity anew, where the fields have one."""
    if found.get("descriptor_id") != "A" * 64:
        with contextlib.suppress(DescriptorError):  # NaN and such have none
            found["descriptor_id"] = compute_descriptor_id(found)
    return found
