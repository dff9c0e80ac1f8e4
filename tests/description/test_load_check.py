"""Programs, and the check before one is loaded."""

from __future__ import annotations

import io
import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, evolve, fields

from grid_core.description import (
    CellState,
    DirectoryCell,
    Program,
    ProgramHeader,
    ProgramWriter,
    RobotCellBlock,
    check_load,
    planning_numbers,
    program_header,
)
from grid_core.errors import DescriptionError, InputError, LoadRefused
from grid_core.model import RobotCell
from tests.description.calibrations import FULL, described, written
from tests.description.directories import edit

if TYPE_CHECKING:
    from pathlib import Path

A, B = f"sha256:{64 * 'a'}", f"sha256:{64 * 'b'}"
CELL = RobotCell("m", A, A)


@define
class Fixed:
    """A cell that counts how often it is asked."""

    state: CellState
    asked: int = 0

    def describe(self) -> CellState:
        self.asked += 1
        return self.state


def test_a_plan_for_this_cell_passes() -> None:
    """R20: three equal fields, no note."""
    assert check_load(program_header(["J1"], CELL), Fixed(CellState(CELL))) == ()


@pytest.mark.parametrize("name", [f.name for f in fields(RobotCell)])
def test_each_field_alone_refuses(name: str) -> None:
    """R3, R20: any one of the three, with both values in the message."""
    other = evolve(CELL, **{name: B})
    with pytest.raises(LoadRefused) as caught:
        check_load(program_header(["J1"], CELL), Fixed(CellState(other)))
    assert caught.value.mismatches == ((name, getattr(CELL, name), B),)
    assert f"{name}: the plan has {getattr(CELL, name)}, the cell {B}" in str(caught.value)


def test_every_mismatch_at_once() -> None:
    """R20: a caller learns all three in one go, and nothing else decides."""
    with pytest.raises(LoadRefused) as caught:
        check_load(program_header(["J1"], CELL), Fixed(CellState(RobotCell("n", B, B))))
    assert [m[0] for m in caught.value.mismatches] == [f.name for f in fields(RobotCell)]
    assert len(fields(RobotCell)) == 3


def test_the_cell_is_asked_each_time() -> None:
    """R19: once a check, never remembered."""
    cell, header = Fixed(CellState(CELL)), program_header(["J1"], CELL)
    check_load(header, cell)
    check_load(header, cell)
    assert cell.asked == 2
    cell.state = CellState(evolve(CELL, robot_description_sha256=B))
    with pytest.raises(LoadRefused):
        check_load(header, cell)


def test_a_machine_of_flat_axes_is_not_checked() -> None:
    """R21: nothing to compare, whatever the header says."""
    assert check_load(program_header(["J1"], CELL, A), Fixed(CellState(None, (), None, B))) == ()


def test_another_configuration_is_a_note() -> None:
    """R22: said and passed; optional on either side."""
    state = CellState(CELL, machine_configuration_sha256=B)
    (note,) = check_load(program_header(["J1"], CELL, A), Fixed(state))
    assert A in note
    assert B in note
    assert check_load(program_header(["J1"], CELL, B), Fixed(state)) == ()
    assert check_load(program_header(["J1"], CELL), Fixed(state)) == ()
    assert check_load(program_header(["J1"], CELL, A), Fixed(CellState(CELL))) == ()


def test_what_happens_to_a_directory(r1400: Path, tmp_path: Path) -> None:
    """R3, R10, R19, R31: edits after planning refuse, but for those outside the identity."""
    calibration = written(tmp_path, **FULL)
    cell = DirectoryCell(r1400, calibration)
    state = cell.describe()
    assert state.robot_cell is not None
    header = program_header(["J1"], state.robot_cell)
    (r1400 / "report.txt").write_text("measured", encoding="utf-8")
    assert check_load(header, cell) == ()
    text = calibration.read_text(encoding="utf-8")
    calibration.write_text(json.dumps(json.loads(text), indent=1), encoding="utf-8")
    edit(r1400 / "spheres.json", "spheres", "link_1", 0, radius_m=0.2)
    with pytest.raises(LoadRefused) as caught:
        check_load(header, cell)
    assert [m[0] for m in caught.value.mismatches] == [
        "robot_description_sha256",
        "machine_planning_calibration_sha256",
    ]


def test_a_plan_against_the_empty_document_matches_it(r1400: Path) -> None:
    """R30: exactly."""
    header = program_header(["J1"], described().robot_cell())
    assert check_load(header, DirectoryCell(r1400)) == ()


@pytest.mark.parametrize("name", [f.name for f in fields(RobotCellBlock)])
def test_the_writer_cannot_omit_a_field(name: str) -> None:
    """R18: no header without all three, written or read."""
    values = {f.name: getattr(CELL, f.name) for f in fields(RobotCell)}
    del values[name]
    with pytest.raises(TypeError):
        RobotCellBlock(**values)
    with pytest.raises(TypeError):
        ProgramHeader(schema="grid.dense-trajectory.v1", joints=("J1",))  # type: ignore[call-arg]
    header = {"schema": "grid.dense-trajectory.v1", "joints": ["J1"], "robot_cell": values}
    with pytest.raises(DescriptionError, match=f"line 1: robot_cell.{name}: missing"):
        Program.open(io.BytesIO(json.dumps(header).encode()))


@pytest.mark.parametrize("bad", ["", "sha256:", 64 * "a", f"sha256:{64 * 'A'}", A + "\n", None])
def test_identities_have_one_form(bad: Any) -> None:
    """R9, R18: the writer refuses another, such as one with a quote or a line end in it."""
    header = program_header(["J1"], evolve(CELL, robot_description_sha256=bad))
    with pytest.raises(DescriptionError), ProgramWriter(io.StringIO(), header):
        pass


def program(rows: int = 3) -> bytes:
    stream = io.StringIO()
    with ProgramWriter(stream, program_header(["J1", "J2"], CELL, B)) as writer:
        for number in range(rows):
            writer.row(number / 10, [number / 3, -1e-17])
    return stream.getvalue().encode()


def test_programs_come_back_as_they_were() -> None:
    """R18: every bit of every number, a row at a time."""
    found = Program.open(io.BytesIO(program(200)))
    assert found.header == program_header(["J1", "J2"], CELL, B)
    rows = list(found.rows())
    assert rows == [(number / 10, number / 3, -1e-17) for number in range(200)]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda d: d[: d.rindex(b"{")], "cut short after 3 rows"),
        (lambda d: d + b"[9.0, 0, 0]\n", "something follows the end"),
        (lambda d: d.replace(b'{"rows": 3}', b'{"rows": 4}'), "the end must be {'rows': 3}"),
        (lambda d: d.replace(b"[0.1,", b"[0.0,"), "line 3: time 0.0 is not after 0.0"),
        (lambda d: d.replace(b"[0.1,", b"[NaN,"), "NaN is not a finite number"),
        (lambda d: d.replace(b"[0.1,", b"[true,"), "line 3: True is not a number"),
        (lambda d: d.replace(b"[0.1,", b"[0.1, 1,"), "needs a list of 3 numbers"),
        (lambda d: d.replace(b"[0.1,", b"0.1,"), "line 3: not JSON"),
        (lambda d: d.replace(b"[0.1,", b"[" + 2**20 * b" " + b"0.1,"), "line 3: longer than 1 MiB"),
        (lambda d: 2**20 * b" " + d, "line 1: longer than 1 MiB"),
        (lambda _: b"", "line 1: not JSON"),
        (lambda d: d.replace(b"joints", b"joint", 1), "unknown key (did you mean 'joints'?)"),
    ],
)
def test_damaged_programs(change: Any, match: str) -> None:
    """R18: with the line."""
    data = change(program())
    with pytest.raises(DescriptionError) as caught:
        list(Program.open(io.BytesIO(data)).rows())
    assert match in str(caught.value)


@pytest.mark.parametrize(
    ("time", "positions"), [(0.0, [0.0]), (math.nan, [0, 0]), (1.0, [math.inf, 0]), (-1.0, [0, 0])]
)
def test_rows_that_the_writer_refuses(time: float, positions: list[float]) -> None:
    stream = io.StringIO()
    writer = ProgramWriter(stream, program_header(["J1", "J2"], CELL))
    writer.__enter__()
    writer.row(0.0, [0.0, 0.0])
    with pytest.raises(InputError, match="row 1: "):
        writer.row(time, positions)
    writer.__exit__(InputError, InputError(), None)
    assert len(stream.getvalue().splitlines()) == 2  # no end: what was cut short shows it


def test_workers_get_numbers() -> None:
    """R17: nothing of what planning hands on is a path or can open one."""
    numbers = planning_numbers(described())
    for plan in numbers.driven:
        for name in fields(type(plan)):
            assert isinstance(getattr(plan, name.name), float | str)
    texts = [*(p.joint for p in numbers.driven), *numbers.held, numbers.robot_cell.model_id]
    assert not any("/" in text or "." in text for text in texts)
