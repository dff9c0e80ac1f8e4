"""Damaged descriptors: refused with a message or still valid, never another exception."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from grid_core.descriptor import compute_descriptor_id, load_descriptor, validate
from grid_core.errors import DescriptorError
from tests.descriptor.robots import FIXTURES, golden

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.sampled_from([10**30, -(10**30), 1e308, -1e308, 5e-324, 0.0, -0.0, 1.0, "", "root", "\x00"]),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=4),
    st.dictionaries(st.sampled_from(["leader", "multiplier", "offset", "id"]), st.integers(0, 3)),
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container with a key of it."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    found = [(value, key) for key in keys]
    for key in keys:
        if isinstance(value[key], dict | list):
            found += places(value[key])
    return found


def rehashed(found: dict[str, Any]) -> dict[str, Any]:
    return {**found, "descriptor_id": compute_descriptor_id(found)}


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(FIXTURES)), st.data())
def test_damaged_tables(name: str, data: st.DataObject) -> None:
    """D35: one or two fields replaced or removed, identity computed anew."""
    found = golden(name)
    for _ in range(data.draw(st.integers(1, 2))):
        container, key = data.draw(st.sampled_from(places(found)))
        if data.draw(st.booleans()):
            container[key] = data.draw(VALUES)
        else:
            del container[key]
    found = rehashed(found)
    try:
        validate(found)
    except DescriptorError as error:
        assert error.invariant  # noqa: PT017 - valid damage is fine as well
    else:
        assert load_descriptor(json.dumps(found)) == found


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(FIXTURES)), st.data())
def test_damaged_text(name: str, data: st.DataObject) -> None:
    """D35: a byte of the file changed, the identity as it was."""
    text = bytearray(json.dumps(golden(name)).encode())
    place = data.draw(st.integers(1, len(text) - 1))
    text[place] = data.draw(st.integers(0, 255))
    try:
        assert load_descriptor(bytes(text)) == golden(name)
    except DescriptorError:
        return
