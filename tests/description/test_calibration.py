"""A cell's calibration: what it may say, and what is refused."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from typing import TYPE_CHECKING, Any

import pytest

from grid_core.description import Calibration, RobotDescription, description_identity
from grid_core.errors import DescriptionError
from tests.description.calibrations import FULL, SCHEMA, described, document, read, written
from tests.description.directories import BENCHES, FIXTURES, R1400, R1420

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def refused(match: str, **parts: Any) -> None:
    with pytest.raises(DescriptionError) as caught:
        read(**parts)
    assert match in str(caught.value)
    assert all(fault.startswith("cell.json: ") for fault in caught.value.faults)


def test_a_calibration_with_every_key(tmp_path: Path) -> None:
    """R23: the schema's name is fixed, and the file belongs to no description directory."""
    path = written(tmp_path, **FULL)
    found = Calibration.load(path, described())
    assert found.document.schema == SCHEMA
    assert found.document.held_joints == {"J8": 0.1}
    assert not list(FIXTURES.rglob("machine_planning_calibration.json"))


@pytest.mark.parametrize("schema", ["rosie.machine-planning-calibration.v2", "", None, 1])
def test_another_schema_is_refused(schema: Any) -> None:
    """R23: any other schema."""
    with pytest.raises(DescriptionError, match="schema"):
        Calibration.read(json.dumps(document(schema=schema)).encode(), described())


def test_two_cells_share_a_description(tmp_path: Path) -> None:
    """R2: two calibrations, one identity, and not a byte of the directory touched."""
    before = description_identity(FIXTURES / R1400)
    one, two = read(held_joints={"J8": 0.1}), read(held_joints={"J8": 0.2})
    description = described()
    cells = [description.robot_cell(cell) for cell in (one, two)]
    assert {c.robot_description_sha256 for c in cells} == {before}
    assert len({c.machine_planning_calibration_sha256 for c in cells}) == 2
    assert description_identity(FIXTURES / R1400) == before


@pytest.mark.parametrize(
    ("key", "bound", "outwards"),
    [("lower", -1.6, -math.inf), ("upper", 2.3, math.inf), ("velocity", 1.4, math.inf)],
)
def test_narrowing(key: str, bound: float, outwards: float) -> None:
    """R25: equal is no change and is allowed; the next number outwards is refused."""
    assert read(limits={"J2": {key: bound}})
    assert read(limits={"J2": {key: math.nextafter(bound, -outwards)}})
    wider = math.nextafter(bound, outwards)
    refused(f"limits.J2.{key}: {wider!r}", limits={"J2": {key: wider}})


def test_a_velocity_is_measured_against_the_planning_velocity() -> None:
    """R25: 3.0 is what the URDF gives J2, and 1.4 what is planned with."""
    refused("limits.J2.velocity: 2.0 is above the model's 1.4", limits={"J2": {"velocity": 2.0}})
    assert read(limits={"J8": {"velocity": 1.8}})  # held: the URDF's
    refused("limits.J8.velocity", limits={"J8": {"velocity": math.nextafter(1.8, 2)}})


def test_a_continuous_axis(r1400: Path) -> None:
    """R25: it has no interval to narrow, and a velocity like any other."""
    urdf = r1400 / f"{R1400}.urdf"
    text = urdf.read_text(encoding="utf-8")
    urdf.write_text(
        text.replace('name="J6" type="revolute"', 'name="J6" type="continuous"'), encoding="utf-8"
    )
    description = RobotDescription.load(r1400)

    def cell(**narrow: float) -> Calibration:
        content = json.dumps(document(limits={"J6": narrow})).encode()
        return Calibration.read(content, description)

    model, _ = description.robot_model(cell(velocity=1.5))
    limits = next(j.limits for j in model.joints if j.name == "J6")
    assert (limits.lower, limits.upper, limits.velocity) == (None, None, 1.5)
    with pytest.raises(DescriptionError, match=r"limits\.J6\.velocity"):
        cell(velocity=math.nextafter(1.571, 2))
    with pytest.raises(DescriptionError, match=r"limits\.J6\.lower: .* no interval"):
        cell(lower=-1.0)


def test_crossed_bounds() -> None:
    """R25: a lower bound above the upper one leaves nothing."""
    assert read(limits={"J2": {"lower": 0.5, "upper": 0.5}})
    refused("limits.J2: lower 0.5 is above upper 0.4", limits={"J2": {"lower": 0.5, "upper": 0.4}})
    refused("lower 2.4 is above upper 2.3", limits={"J2": {"lower": 2.4}})
    refused("must be above 0", limits={"J2": {"velocity": 0}})


@pytest.mark.parametrize("value", [-3.1, 0.0, 3.1])
def test_holding_inside(value: float) -> None:
    """R26: anywhere in the limits, ends included."""
    assert read(held_joints={"J8": value}).document.held_joints == {"J8": value}


@pytest.mark.parametrize("value", [math.nextafter(-3.1, -4), math.nextafter(3.1, 4), 1e9])
def test_holding_outside(value: float) -> None:
    """R26: refused, by however little."""
    refused("held_joints.J8: held at", held_joints={"J8": value})


def test_holding_against_narrowed_limits() -> None:
    """R26: the narrowed limits count, for the config's own held value too."""
    assert read(limits={"J8": {"upper": 0.5}}, held_joints={"J8": 0.5})
    refused("held_joints.J8", limits={"J8": {"upper": 0.5}}, held_joints={"J8": 0.6})
    refused("held_joints.J8: held at 0.0", limits={"J8": {"lower": 0.5}})


def test_the_ceiling() -> None:
    """R27: as fast as the URDF's fastest joint, J6, and no faster."""
    assert read(speed_ceiling_rad_s=10.2)
    refused("speed_ceiling_rad_s", speed_ceiling_rad_s=math.nextafter(10.2, 11))
    refused("speed_ceiling_rad_s: must be above 0", speed_ceiling_rad_s=0)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("key", "number", "cap"),
    [
        ("xyz_m", 0, 0.01),
        ("xyz_m", 1, 0.012),
        ("xyz_m", 2, 0.014),
        ("rpy_rad", 0, 0.02),
        ("rpy_rad", 1, 0.022),
        ("rpy_rad", 2, 0.024),
    ],
)
def test_the_caps_of_corrections(key: str, number: int, cap: float, sign: int) -> None:
    """R28: each of six components, either way: the cap is allowed, the next number is not."""
    vector = [0.0, 0.0, 0.0]
    vector[number] = sign * cap
    assert read(kinematic_corrections={"J3": {key: vector}})
    vector[number] = sign * math.nextafter(cap, 1)
    where = f"kinematic_corrections.J3.{key}[{number}]"
    refused(where, kinematic_corrections={"J3": {key: vector}})


@pytest.mark.parametrize(
    ("parts", "match"),
    [
        ({"limits": {"J22": {"lower": 0}}}, "limits.J22: there is no such axis"),
        ({"limits": {"tool": {"lower": 0}}}, "limits.tool: there is no such axis"),
        ({"held_joints": {"J10": 0}}, "held_joints.J10"),
        ({"held_joints": {"flange": 0}}, "held_joints.flange"),
        ({"kinematic_corrections": {"link_1": {}}}, "kinematic_corrections.link_1"),
        ({"model_id": R1420}, "model_id: 'rosie_1420_v1', but the robot is"),
    ],
)
def test_names_that_the_urdf_does_not_have(parts: dict[str, Any], match: str) -> None:
    """R29: an unknown joint is an error that names its key."""
    refused(match, **parts)


def _maps(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        yield path
        for key, member in value.items():
            yield from _maps(member, (*path, key))


@pytest.mark.parametrize("path", list(_maps(document(**FULL))))
def test_a_key_added_at_any_depth(path: tuple[Any, ...]) -> None:
    """R29: every map of a full calibration refuses one more key."""
    changed = copy.deepcopy(document(**FULL))
    node = changed
    for key in path:
        node = node[key]
    node["surplus"] = 0.0
    with pytest.raises(DescriptionError) as caught:
        Calibration.read(json.dumps(changed).encode(), described())
    assert ".".join([*path, "surplus"]) in str(caught.value)


@pytest.mark.parametrize("path", list(_maps(document(**FULL))))
def test_a_key_doubled_at_any_depth(path: tuple[Any, ...]) -> None:
    """R29: two equal keys are an error even where the values agree."""
    node = document(**FULL)
    for key in path:
        node = node[key]
    key, value = next(iter(node.items()))
    text = json.dumps(document(**FULL))
    pair = f"{json.dumps(key)}: {json.dumps(value)}"
    whole = json.dumps(node)
    assert whole in text
    text = text.replace(whole, f"{{{pair}, {whole[1:]}", 1)
    with pytest.raises(DescriptionError, match="given twice"):
        Calibration.read(text.encode(), described())


def test_every_fault_at_once() -> None:
    """R29: widened, unknown, beyond a cap: one error with all of it."""
    with pytest.raises(DescriptionError) as caught:
        read(
            limits={"J2": {"lower": -9, "upper": 9}},
            held_joints={"J8": 9},
            kinematic_corrections={"J3": {"xyz_m": [1, 1, 1]}},
        )
    assert len(caught.value.faults) == 6


def test_the_empty_calibration() -> None:
    """R30: golden bytes, which a cell without a calibration serves."""
    found = Calibration.empty(R1400)
    assert found.content == (
        b'{"model_id":"rosie_1400_v3","schema":"rosie.machine-planning-calibration.v1"}\n'
    )
    assert found.identity == (
        "sha256:bba2346db8fc238a5fc2bb2f080057f7f76de26634131be54724d472c607ca9d"
    )
    assert Calibration.read(found.content, described()).identity == found.identity
    assert described().robot_cell() == described().robot_cell(found)


def test_the_identity_is_of_the_exact_bytes(tmp_path: Path) -> None:
    """R31: reformatting is another identity, whatever the meaning."""
    path = written(tmp_path, **FULL)
    one = Calibration.load(path, described())
    assert one.identity == f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    path.write_text(json.dumps(document(**FULL), indent=2), encoding="utf-8")
    two = Calibration.load(path, described())
    assert two.document == one.document
    assert two.identity != one.identity


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(written(tmp_path))
    names = {"gone.json": "no such file", "link.json": "symbolic link", "a\0b": "cannot be a path"}
    for name, match in names.items():
        with pytest.raises(DescriptionError, match=match):
            Calibration.load(tmp_path / name, described())


@pytest.mark.parametrize("name", BENCHES)
def test_a_bench_has_none(name: str) -> None:
    """R8: nothing plans for a bench."""
    bench = RobotDescription.load(FIXTURES / name)
    content = json.dumps({"schema": SCHEMA, "model_id": name}).encode()
    with pytest.raises(DescriptionError, match="has no URDF"):
        Calibration.read(content, bench)
