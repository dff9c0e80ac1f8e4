"""From a served cell to a plan of 200 poses, and back to the cell: what may be loaded."""

from __future__ import annotations

import io
import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

from grid_core import load_robot
from grid_core.cli.root import cli
from grid_core.description import (
    Calibration,
    Program,
    ProgramWriter,
    RemoteCell,
    RobotDescription,
    check_load,
    compile_machine,
    description_identity,
    fetch_resources,
    frame_poses,
    planning_numbers,
    program_header,
)
from grid_core.errors import LoadRefused
from tests.description.calibrations import FULL, document
from tests.description.directories import R1400, edit
from tests.description.machines import checkout, config
from tests.description.serving import served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TARGETS = 200


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "checkout").mkdir()
    checkout(tmp_path / "checkout", document(**FULL))
    return tmp_path


def compiled(work: Path) -> None:
    """Compile the checkout as it is now, with pins that match, in place of what is served."""
    folder = work / "checkout"
    machine = config(folder, calibrated=True)
    machine["axes"][0]["cpu"] = json.loads((folder / "machine.json").read_text())["axes"][0]["cpu"]
    (folder / "machine.json").write_text(json.dumps(machine), encoding="utf-8")
    shutil.rmtree(work / "compiled", ignore_errors=True)
    compile_machine(folder / "machine.json", work / "compiled")


@pytest.fixture
def url(work: Path) -> Iterator[str]:
    compiled(work)
    with served(work / "compiled") as port:
        yield f"http://127.0.0.1:{port}"


def plan(url: str, folder: Path) -> tuple[bytes, Any]:
    """Fetch the cell, plan 200 poses of the tool relative to the work, and write them down."""
    remote = RemoteCell(url)
    root = fetch_resources(remote, folder)
    cell_file = folder / "machine_planning_calibration.json"
    description = RobotDescription.load(root)
    calibration = Calibration.load(cell_file, description)
    numbers = planning_numbers(description, calibration)
    settings = {"backend": "reference", "calibration": cell_file, "ee_joint_names": ["tool"]}
    with load_robot(root, **settings) as robot:
        model, frames = robot.model, description.planner_view.config
        q0 = np.array([0.2, 0.3, -0.4, 0.1, 0.6, 0.0, 0.0])
        order = [j.name for j in model.joints if j.q_start is not None]
        phase = np.linspace(0, 1, TARGETS)[:, None]
        q = q0 + 0.2 * np.sin(2 * np.pi * phase * np.arange(1, 8) / 7)
        T_work = frame_poses(model, frames, frames.frames.work, q)
        T_tool = frame_poses(model, frames, frames.frames.tool, q)
        # The library's own kinematics, of the corrected cell, agree with the frames.
        np.testing.assert_allclose(robot.end_effector_pose(q)[:, :3], T_tool[:, :3, 3], atol=1e-12)
        relative = np.linalg.inv(T_work) @ T_tool
        assert np.ptp(relative[:, :3, 3]) > 0.1
        assert robot.robot_cell is not None
        state = remote.describe()
        header = program_header(order, robot.robot_cell, state.machine_configuration_sha256)
    limits = {p.joint: p for p in numbers.driven}
    assert order == [p.joint for p in numbers.driven]
    for column, name in enumerate(order):
        assert limits[name].lower <= q[:, column].min()
        assert q[:, column].max() <= limits[name].upper
    stream = io.StringIO()
    with ProgramWriter(stream, header) as writer:
        for number, row in enumerate(q):
            writer.row(number * 0.05, row)
    return stream.getvalue().encode(), q


def test_plan_and_load(url: str, work: Path) -> None:
    """R3, R18, R20: what was planned with the cell's own files may be loaded, and comes back."""
    data, q = plan(url, work / "planner")
    program = Program.open(io.BytesIO(data))
    assert check_load(program.header, RemoteCell(url)) == ()
    rows = np.array(list(program.rows()))
    np.testing.assert_array_equal(rows[:, 1:], q)
    assert program.header.joints == ("J1", "J2", "J3", "J4", "J5", "J6", "J7")


def test_a_changed_description(url: str, work: Path) -> None:
    """R3, R13, R19: the cell is compiled anew with another mesh: refused, with both values."""
    data, _ = plan(url, work / "planner")
    mesh = work / "checkout/robots" / R1400 / "meshes/link.stl"
    mesh.write_bytes(mesh.read_bytes().replace(b"0.1", b"0.2"))
    compiled(work)
    header = Program.open(io.BytesIO(data)).header
    with pytest.raises(LoadRefused) as caught:
        check_load(header, RemoteCell(url))
    now = description_identity(work / "checkout/robots" / R1400)
    then = description_identity(work / "planner" / R1400)
    assert caught.value.mismatches == (("robot_description_sha256", then, now),)


def test_a_changed_calibration(url: str, work: Path) -> None:
    """R3, R31: the same calibration, reformatted."""
    data, _ = plan(url, work / "planner")
    path = work / "checkout/machine_planning_calibration.json"
    path.write_text(json.dumps(document(**FULL), indent=2), encoding="utf-8")
    compiled(work)
    with pytest.raises(LoadRefused) as caught:
        check_load(Program.open(io.BytesIO(data)).header, RemoteCell(url))
    assert [m[0] for m in caught.value.mismatches] == ["machine_planning_calibration_sha256"]


def test_a_changed_model(url: str, work: Path) -> None:
    """R3, R20: a program that states another model."""
    data, _ = plan(url, work / "planner")
    data = data.replace(f'"model_id": "{R1400}"'.encode(), b'"model_id": "rosie_1420_v1"', 1)
    with pytest.raises(LoadRefused) as caught:
        check_load(Program.open(io.BytesIO(data)).header, RemoteCell(url))
    assert caught.value.mismatches == (("model_id", "rosie_1420_v1", R1400),)


def test_a_changed_processor(url: str, work: Path) -> None:
    """R22: by the command: a note, and the load goes on; a mismatch is exit code 1."""
    data, _ = plan(url, work / "planner")
    (work / "weld.program").write_bytes(data)
    arguments = ["check-load", str(work / "weld.program"), url]
    assert CliRunner().invoke(cli, arguments).stdout == "may be loaded\n"
    edit(work / "checkout/machine.json", "axes", 0, cpu=5)
    compiled(work)
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0
    assert result.stdout.startswith("note: machine_configuration_sha256: planned with sha256:")
    assert result.stdout.endswith("may be loaded\n")
    edit(work / "checkout/machine_planning_calibration.json", speed_ceiling_rad_s=1.3)
    compiled(work)
    result = CliRunner().invoke(cli, [*arguments[:2], str(work / "compiled")])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "machine_planning_calibration_sha256: the plan has sha256:" in result.stderr
