"""The JSON Schema file that is shipped, read by a JSON Schema implementation."""

from __future__ import annotations

import importlib.resources
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grid_core.descriptor import json_schema
from tests.descriptor.robots import FIXTURES, golden

KEYS = {
    *("schema_version", "descriptor_id", "floating_base", "nq", "nv", "nj", "nb"),
    *("joints", "bodies", "frames", "id", "name", "kind", "parent_body", "child_body"),
    *("q_start", "v_start", "local_nq", "local_nv", "T_parent_joint_zero", "axis", "pitch"),
    *("mimic", "leader", "multiplier", "offset", "limits", "lower", "upper", "velocity", "effort"),
    *("body", "T_body_frame"),
}
PAGE = Path(__file__).parents[2] / "docs/descriptor.md"


def test_the_schema_is_a_schema_and_is_shipped() -> None:
    """D2: the file in the package is what `json_schema` returns, and a valid 2020-12 schema."""
    file = importlib.resources.files("grid_core.descriptor") / "model_descriptor.schema.json"
    assert json.loads(file.read_text(encoding="utf-8")) == json_schema()
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("name", FIXTURES)
def test_every_descriptor_satisfies_the_schema(name: str) -> None:
    """D2: as another program would check it."""
    jsonschema.validate(golden(name), json_schema())


def test_the_schema_refuses_unknown_and_missing_keys() -> None:
    """D2: at any depth."""
    found = golden("fixed_arm")
    found["joints"][0]["limits"]["jerk"] = 1.0
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, json_schema())
    del found["joints"][0]["limits"]["jerk"], found["joints"][0]["limits"]["lower"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, json_schema())


def test_only_coordinates_and_frames_have_keys() -> None:
    """D21, D43: no key for actuation, control, sampling, contact or solvers; all documented."""
    found: set[str] = set()
    for name in FIXTURES:
        found |= _keys(golden(name))
    assert found == KEYS
    page = PAGE.read_text(encoding="utf-8")
    assert not [key for key in KEYS if f"`{key}`" not in page]


def test_the_returned_schema_is_a_copy() -> None:
    json_schema()["properties"].clear()
    assert json_schema()["properties"]


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(_keys, value.values()))
    if isinstance(value, list):
        return set().union(*map(_keys, value))
    return set()
