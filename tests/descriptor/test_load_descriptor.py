"""Reading: what JSON readers are lax about is refused, with file and field."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from grid_core.descriptor import compute_descriptor_id, load_descriptor, to_json
from grid_core.errors import DescriptorError
from tests.descriptor.robots import FIXTURES, HERE, golden

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("indent", [None, 1, 8])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_printing_does_not_matter(indent: int | None, ascii_only: bool) -> None:
    """D34: pretty-printing and ASCII escapes keep the descriptor and its identity."""
    found = golden("fixed_arm")
    printed = json.dumps(found, indent=indent, ensure_ascii=ascii_only)
    assert load_descriptor(printed) == load_descriptor(printed.encode()) == found


@pytest.mark.parametrize("name", FIXTURES)
def test_path_text_and_writer_agree(name: str) -> None:
    """D34: `to_json` writes what `load_descriptor` reads."""
    file = HERE / "golden" / f"{name}.json"
    assert load_descriptor(file) == load_descriptor(str(file)) == golden(name)
    assert load_descriptor(to_json(golden(name))) == golden(name)


def test_names_with_brackets_survive_the_writer() -> None:
    """D34: only rows of numbers are put on one line."""
    found = golden("ball")
    found["bodies"][0]["name"] = "[\n 1,\n 2\n]"
    found["descriptor_id"] = compute_descriptor_id(found)
    assert load_descriptor(to_json(found)) == found


def replaced(before: str, after: str) -> str:
    printed = json.dumps(golden("fixed_arm"))
    assert before in printed
    return printed.replace(before, after, 1)


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        (replaced('"nq": 3', '"nq": 3, "nq": 3'), "'nq' occurs twice"),
        (replaced('"lower": -1.5', '"lower": 0.0, "lower": -1.5'), "'lower' occurs twice"),
        (replaced('"lower": -1.5', '"lower": NaN'), "NaN is not a finite"),
        (replaced('"upper": 2.25', '"upper": Infinity'), "Infinity is not a finite"),
        (replaced('"lower": -1.5', '"lower": -Infinity'), "-Infinity is not a finite"),
        (replaced('"upper": 2.25', '"upper": 1e999'), "1e999 is not a finite"),
        (replaced('"name": "shoulder"', '"name": "\\ud800"'), "unpaired surrogate"),
        (replaced('"name": "shoulder"', '"name": "\\udc00\\ud800"'), "unpaired surrogate"),
        (replaced('"nq": 3', '"nq": true'), "needs an integer; got True"),
        (replaced('"nq": 3', '"nq": 3.0'), "needs an integer; got 3.0"),
        (replaced('"nq": 3', f'"nq": {"9" * 5000}'), "not JSON: "),
        (replaced('"nq": 3', f'"nq": {"9" * 4000}'), r"\[ownership\]"),
        (replaced('"lower": -1.5', '"lower": -2'), "needs a float or null; got -2"),
        (replaced('"schema_version": 1', '"schema_version": 2'), "schema version 2"),
        (replaced('"schema_version": 1', '"schema_version": 0'), "schema version 0"),
        (replaced('"nv": 3', '"nv": 3, "nu": 3'), "unknown key 'nu'"),
        (replaced('"descriptor_id": "eaef', '"descriptor_id": "faef'), "was edited"),
        ("{", "not JSON"),
        ("\ufeff{}", "not JSON: .*BOM"),
        ('{"a": 1} x', "not JSON"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("{}", "lacks"),
    ],
)
def test_lax_json_is_refused(printed: str, message: str) -> None:
    """D2, D33, D35: duplicates, NaN, infinities, surrogates, versions, keys, types, identity."""
    with pytest.raises(DescriptorError, match=message):
        load_descriptor(printed)


def test_paired_surrogate_escapes_are_one_character() -> None:
    """D33: a pair of escapes is a character beyond U+FFFF, and fine."""
    found = golden("ball")
    found["bodies"][0]["name"] = "\U0001f916"
    found["descriptor_id"] = compute_descriptor_id(found)
    printed = json.dumps(found, ensure_ascii=True)
    assert "\\ud83e\\udd16" in printed
    assert load_descriptor(printed) == found


def test_errors_name_the_file(tmp_path: Path) -> None:
    """D35: the file comes first, then the field."""
    file = tmp_path / "model_descriptor.json"
    file.write_text(replaced('"nq": 3', '"nq": 4'), encoding="utf-8")
    with pytest.raises(DescriptorError) as caught:
        load_descriptor(file)
    assert str(caught.value).startswith(f"{file}: nq: 4, but the blocks cover 3 entries")
    assert caught.value.file == str(file)
    file.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(DescriptorError, match="byte 7 is not UTF-8"):
        load_descriptor(file)


@pytest.mark.parametrize("source", ["nowhere.json", "", "a\0b", "."])
def test_what_cannot_be_opened_is_refused(source: str) -> None:
    with pytest.raises(DescriptorError, match="cannot be read"):
        load_descriptor(source)


@pytest.mark.parametrize("source", [None, 3, {}])
def test_what_is_no_path_is_refused(source: Any) -> None:
    with pytest.raises(DescriptorError, match="a path or text is needed"):
        load_descriptor(source)
