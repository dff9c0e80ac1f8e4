"""Strict readers: JSON of one meaning, the published schemas, and damage at random."""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from grid_core.description import Calibration, RobotDescription, check_description, json_schema
from grid_core.description.documents import CalibrationDocument, Config, read_document
from grid_core.description.faults import Faults
from grid_core.description.schemas import SCHEMAS
from grid_core.errors import DescriptionError, GridError
from tests.description.calibrations import FULL, described, document
from tests.description.directories import EVERY, FIXTURES, R1400, copied

if TYPE_CHECKING:
    from pathlib import Path

HEAD = '{"schema": "rosie.machine-planning-calibration.v1", "model_id": "rosie_1400_v3", '


@pytest.mark.parametrize(
    ("tail", "match"),
    [
        ('"held_joints": {"J8": NaN}}', "held_joints.J8: NaN is not a finite number"),
        ('"held_joints": {"J8": Infinity}}', "held_joints.J8: Infinity"),
        ('"held_joints": {"J8": 1e999}}', "held_joints.J8: 1e999"),
        ('"held_joints": {"J8": 1' + 400 * "0" + "}}", "beyond the range of binary64"),
        ('"held_joints": {"J8": 1' + 5000 * "0" + "}}", "is not a finite number"),
        ('"held_joints": {"J8": true}}', "held_joints.J8: needs a number; got true or false"),
        ('"held_joints": {"J8": "0"}}', "held_joints.J8: needs a number; got '0'"),
        ('"held_joints": {"J8": null}}', "held_joints.J8: needs a number; got null"),
        ('"held_joints": [0]}', "held_joints: needs a map; got a list"),
        ('"held_joints": {"J8": 0, "J8": 0}}', "held_joints.J8: this key is given twice"),
        ('"held_joints": {"\\ud800": 0}}', "unpaired surrogate"),
        ('"model_id": "rosie_1400_v3"}', "model_id: this key is given twice"),
        ('"limit": {}}', "limit: unknown key (did you mean 'limits'?)"),
        ('"limits": {"J2": {"Lower": 0}}}', "limits.J2.Lower: unknown key"),
        ('"limits": {"J2": 1}}', "limits.J2: needs a map; got 1"),
        ('"kinematic_corrections": {"J3": {"xyz_m": [0, 0]}}}', "needs three numbers"),
        ('"kinematic_corrections": {"J3": {"xyz_m": [0, 0, "0"]}}}', "J3.xyz_m[2]: needs a number"),
        ('"held_joints": {}', "not JSON"),
        ('"held_joints": {}} trailing', "not JSON"),
        ('"held_joints": ' + 100_000 * "[", "nested too deeply"),
    ],
)
def test_what_is_refused(tail: str, match: str) -> None:
    """R29: with the file and the path of keys."""
    with pytest.raises(DescriptionError) as caught:
        Calibration.read((HEAD + tail).encode(), described(), file="cell.json")
    assert match in str(caught.value)
    assert str(caught.value).startswith("cell.json: ")


@pytest.mark.parametrize("data", [b"", b"\xff", b"\xef\xbb\xbf{}", b"7", b"[]", b"null", b'"x"'])
def test_what_is_no_document(data: bytes) -> None:
    """R29: not UTF-8, not JSON, not a map."""
    with pytest.raises(DescriptionError):
        Calibration.read(data, described())


def test_missing_keys_are_all_named() -> None:
    """R29: in one go."""
    faults = Faults()
    assert read_document(Config, b"{}", faults.at("config.json")) is None
    assert len(faults.found) == 11 - 1
    assert "config.json: torch: missing" in faults.found


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_the_schemas_are_schemas(name: str) -> None:
    """R29: valid 2020-12, and no map of known keys takes another."""
    schema = json_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]["schema"]["enum"] == [name]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"schema": name, "surplus": 1}, schema)


@pytest.mark.parametrize("name", EVERY)
def test_the_fixtures_satisfy_the_schemas(name: str) -> None:
    """R29: as another program would check them."""
    files = list((FIXTURES / name).glob("*.json"))
    assert files
    for file in files:
        value = json.loads(file.read_text(encoding="utf-8"))
        jsonschema.validate(value, json_schema(value["schema"]))
    jsonschema.validate(document(**FULL), json_schema(document()["schema"]))


def test_a_document_too_large() -> None:
    faults = Faults()
    data = b" " * (32 * 2**20 + 1)
    assert read_document(CalibrationDocument, data, faults.at("x")) is None
    assert faults.found == ["x: larger than 32 MiB"]


def test_many_keys_take_no_time() -> None:
    """R29: a document of a megabyte that is wrong in every key is refused in seconds."""
    keys = ", ".join(f'"k{number}": 0, "k{number}": 0' for number in range(20_000))
    for text in (f"{{{keys}}}", json.dumps({f"k{number}": 0 for number in range(20_000)})):
        faults = Faults()
        began = time.monotonic()
        assert read_document(CalibrationDocument, text.encode(), faults.at("x")) is None
        assert len(faults.found) >= 20_000
        assert time.monotonic() - began < 5


JUNK: list[Any] = [None, True, -1, 0, 1e308, -0.0, 2**70, "", "J1", "\ud800", [], [0], {}, {"a": 1}]


def damaged(value: Any, rng: random.Random) -> Any:
    """Change one thing somewhere inside."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        if rng.random() < 0.1:
            return {**value, f"{key}x": value[key]}
        return {**value, key: damaged(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        at = rng.randrange(len(value))
        return [*value[:at], damaged(value[at], rng), *value[at + 1 :]]
    return rng.choice(JUNK)


def spoiled(text: str, rng: random.Random) -> bytes:
    data = bytearray(text.encode())
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data))
        data[at : at + rng.randint(0, 2)] = bytes(rng.choices(b'{}[]",:0eN\\ \xff\x00', k=1))
    return bytes(data)


def test_damaged_calibrations_end_in_a_value_or_an_error() -> None:
    """R29: nine thousand, changed in meaning or in bytes."""
    rng, description = random.Random(8), described()
    ends = {"value": 0, "error": 0}
    for number in range(9000):
        value = document(**FULL)
        content = json.dumps(damaged(value, rng)).encode()
        if number % 2:
            content = spoiled(json.dumps(value), rng)
        try:
            Calibration.read(content, description)
            ends["value"] += 1
        except GridError:
            ends["error"] += 1
    assert min(ends.values()) > 20


@pytest.mark.parametrize(
    ("file", "times"), [("config.json", 400), ("manifest.json", 400), ("spheres.json", 200)]
)
def test_damaged_directories_end_in_a_value_or_an_error(
    file: str, times: int, tmp_path: Path
) -> None:
    """R29: the same of a whole directory."""
    rng, root = random.Random(9), copied(R1400, tmp_path)
    text = (root / file).read_text(encoding="utf-8")
    for number in range(times):
        content = json.dumps(damaged(json.loads(text), rng)).encode()
        (root / file).write_bytes(spoiled(text, rng) if number % 2 else content)
        faults = check_description(root)
        try:
            description = RobotDescription.load(root)
            assert description.planner_view
            assert not faults
        except GridError:
            assert faults
