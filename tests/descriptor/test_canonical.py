"""The canonical typed encoding, against stated vectors and a second implementation."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid_core.descriptor import canonical_bytes, compute_descriptor_id
from grid_core.errors import DescriptorError
from tests.descriptor.encoding import encode, identity

VECTORS: list[tuple[dict[str, Any], str]] = [
    ({}, "55279606329849b7458b517c195e785721934c903ff91220c728d16b53336cb4"),
    ({"a": 1.0}, "0c363319cac7437088464b10e0b947e049dbc54723253caf06fb3377530674d1"),
    (
        {"b": [None, True, -0.0, "é"], "a": 1},
        "6c9d5c9d744cb3aab4d19afe5aa276f7f5ade717a20af388e475376122be991f",
    ),
]

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


@pytest.mark.parametrize(("fields", "expected"), VECTORS, ids=["empty", "float", "mixed"])
def test_stated_vectors(fields: dict[str, Any], expected: str) -> None:
    """D33: the three stated vectors."""
    assert compute_descriptor_id(fields) == expected
    assert identity(fields) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, '["null"]'),
        (True, '["bool",true]'),
        (1, '["int","1"]'),
        (-(10**30), f'["int","-1{"0" * 30}"]'),
        (1.0, '["f64","3ff0000000000000"]'),
        (-0.0, '["f64","0000000000000000"]'),
        (5e-324, '["f64","0000000000000001"]'),
        ("é\n/\x1f\x7f", '["str","é\\n/\\u001f\x7f"]'),
        ([1, [2]], '["list",[["int","1"],["list",[["int","2"]]]]]'),
        ({"b": 1, "B": None}, '["map",[["B",["null"]],["b",["int","1"]]]]'),
    ],
)
def test_tags(value: Any, expected: str) -> None:
    """D33: every tag, bool before integer, −0 as +0, no ASCII escapes."""
    assert canonical_bytes(value) == expected.encode()


def test_keys_sort_by_code_point_not_by_utf16() -> None:
    """D33: U+E000 comes before U+10000, whose UTF-16 begins lower."""
    ordered = canonical_bytes({"\U00010000": 1, "\ue000": 2}).decode()
    assert ordered.index("\ue000") < ordered.index("\U00010000")


def test_only_the_top_level_id_is_left_out() -> None:
    """D33: a nested descriptor_id counts, the top-level one does not."""
    nested = {"a": {"descriptor_id": "x"}}
    assert compute_descriptor_id({**nested, "descriptor_id": "y"}) == compute_descriptor_id(nested)
    assert compute_descriptor_id(nested) != compute_descriptor_id({"a": {}})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "\ud800", {"\udfff": 1}, {1: 2}])
def test_what_json_or_utf8_lacks_is_refused(value: Any) -> None:
    """D33: not finite, unpaired surrogates, keys that are no strings."""
    with pytest.raises(DescriptorError):
        canonical_bytes({"a": [value]})


@pytest.mark.parametrize("value", [(1, 2), b"x", {1, 2}, 1j, object()])
def test_other_types_are_refused(value: Any) -> None:
    """D33: seven types and no more."""
    with pytest.raises(DescriptorError, match="not plain JSON"):
        canonical_bytes(value)


@settings(deadline=None)
@given(PLAIN)
def test_agrees_with_the_second_implementation(value: Any) -> None:
    """D33: two implementations, one encoding, on anything that JSON can hold."""
    assert canonical_bytes(value).decode() == encode(value)


@settings(deadline=None)
@given(st.dictionaries(TEXT, PLAIN))
def test_pretty_printing_and_key_order_do_not_count(fields: dict[str, Any]) -> None:
    """D34: what is printed and read again keeps its identity, however it is printed."""
    printed = json.dumps(dict(reversed(fields.items())), indent=3)
    assert compute_descriptor_id(json.loads(printed)) == compute_descriptor_id(fields)


@pytest.mark.parametrize(("a", "b"), [(1, 1.0), (1, True), (0, False), (None, False), ("1", 1)])
def test_types_never_meet(a: Any, b: Any) -> None:
    """D33: what Python calls equal has different tags."""
    assert canonical_bytes(a) != canonical_bytes(b)
