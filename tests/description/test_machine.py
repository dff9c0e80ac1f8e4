"""Compiling a machine: pins, axes, and a cell that needs no checkout."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from grid_core.cli.root import cli
from grid_core.description import Calibration, CompiledCell, compile_machine, description_identity
from grid_core.errors import DescriptionError
from tests.description.calibrations import FULL, document
from tests.description.directories import BENCHES, R1400, copied, edit
from tests.description.machines import checkout, flat_axis, write_machine

if TYPE_CHECKING:
    from pathlib import Path


def refused(path: Path, folder: Path, *matches: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        compile_machine(path, folder / "compiled")
    for match in matches:
        assert match in str(caught.value)
    assert not (folder / "compiled").exists()
    assert not list(folder.glob(".compiled*"))


def test_a_machine_compiles(tmp_path: Path) -> None:
    """R13, R15: the pins match; the cell lists id, identity and the hash of every file."""
    path = checkout(tmp_path, document(**FULL))
    pins = json.loads(path.read_text(encoding="utf-8"))["robot"]
    state = compile_machine(path, tmp_path / "compiled").describe()
    assert state.robot_cell is not None
    assert state.robot_cell.model_id == R1400
    assert state.robot_cell.robot_description_sha256 == pins["robot_description"]["identity"]
    pin = pins["machine_planning_calibration"]["sha256"]
    assert state.robot_cell.machine_planning_calibration_sha256 == pin
    assert state.calibration is not None
    assert state.calibration.sha256 == pin
    for resource in state.resources:
        content = (tmp_path / "robots" / R1400 / resource.path).read_bytes()
        assert resource.sha256 == f"sha256:{hashlib.sha256(content).hexdigest()}"
    assert len(state.resources) == 7


def test_a_description_that_is_not_the_pinned_one(tmp_path: Path) -> None:
    """R13: both identities are said, and nothing is written."""
    path = checkout(tmp_path)
    mesh = tmp_path / "robots" / R1400 / "meshes/link.stl"
    mesh.write_bytes(mesh.read_bytes() + b" ")
    refused(path, tmp_path, "robot.robot_description.identity: pinned sha256:acc86ba9")
    mesh.unlink()
    refused(path, tmp_path, "link.stl: no such file")
    shutil.rmtree(tmp_path / "robots")
    refused(path, tmp_path, "no such directory")


def test_a_calibration_that_is_not_the_pinned_one(tmp_path: Path) -> None:
    """R24: pinned by path and hash: reformatted, broken or gone, it is refused."""
    path = checkout(tmp_path, document(**FULL))
    cell = tmp_path / "machine_planning_calibration.json"
    cell.write_text(json.dumps(document(**FULL), indent=1), encoding="utf-8")
    refused(path, tmp_path, "robot.machine_planning_calibration.sha256: pinned sha256:")
    cell.write_text("{}", encoding="utf-8")
    refused(path, tmp_path, "schema: missing")
    cell.unlink()
    refused(path, tmp_path, "no such file")


def test_the_checkout_may_go(tmp_path: Path) -> None:
    """R14, R24: every registered file and the calibration, by its hash, without the checkout."""
    work = tmp_path / "checkout"
    work.mkdir()
    cell = compile_machine(checkout(work, document(**FULL)), tmp_path / "compiled")
    contents = {
        path.relative_to(work / "robots" / R1400).as_posix(): path.read_bytes()
        for path in (work / "robots" / R1400).rglob("*")
        if path.is_file()
    }
    calibration = (work / "machine_planning_calibration.json").read_bytes()
    shutil.rmtree(work)
    moved = tmp_path / "elsewhere"
    (tmp_path / "compiled").rename(moved)
    cell = CompiledCell(moved)
    state = cell.describe()
    found = {r.path: cell.resource(r.sha256.removeprefix("sha256:")) for r in state.resources}
    assert found == contents
    assert state.calibration is not None
    assert cell.resource(state.calibration.sha256.removeprefix("sha256:")) == calibration


def test_a_cell_without_a_calibration(tmp_path: Path) -> None:
    """R30: it keeps and serves the fixed empty document."""
    cell = compile_machine(checkout(tmp_path), tmp_path / "compiled")
    empty, state = Calibration.empty(R1400), cell.describe()
    assert state.robot_cell is not None
    assert state.robot_cell.machine_planning_calibration_sha256 == empty.identity
    assert cell.resource(empty.identity.removeprefix("sha256:")) == empty.content


@pytest.mark.parametrize(
    ("key", "whose"),
    [
        ("lower", "the URDF"),
        ("upper", "the URDF"),
        ("velocity", "the URDF"),
        ("acceleration", "config.json"),
    ],
)
def test_a_bound_axis_cannot_be_overridden(key: str, whose: str, tmp_path: Path) -> None:
    """R47: travel and velocity are the URDF's, acceleration the config's, whatever the value."""
    path = checkout(tmp_path)
    edit(path, "axes", 1, **{key: 0.1})
    refused(path, tmp_path, f"axes[1].{key}: a bound axis has it from {whose}")


@pytest.mark.parametrize(
    ("axis", "changes", "match"),
    [
        (0, {"joint": "J2"}, "axes[1].joint: 'J2' is bound twice"),
        (0, {"joint": "J2"}, "no axis is bound to the robot's joint 'J1'"),
        (0, {"joint": "tool"}, "axes[0].joint: 'tool' is not an axis of the robot"),
        (0, {"joint": None}, "axes[0].lower: missing: a flat axis has limits of its own"),
        (0, {"name": "A2"}, "axes[1].name: a second axis 'A2'"),
        (0, {"cpu": -1}, "axes[0].cpu: needs an integer of at least 0"),
        (0, {"cpus": 1}, "axes[0].cpus: unknown key (did you mean 'cpu'?)"),
    ],
)
def test_faults_of_axes(axis: int, changes: dict[str, Any], match: str, tmp_path: Path) -> None:
    """R13: a config that contradicts the robot is refused."""
    path = checkout(tmp_path)
    edit(path, "axes", axis, **changes)
    refused(path, tmp_path, match)


def test_flat_axes(tmp_path: Path) -> None:
    """R21: a machine without a robot compiles, and has nothing to compare."""
    machine = {"schema": "grid.machine.v1", "name": "table", "axes": [flat_axis("X")]}
    state = compile_machine(write_machine(tmp_path, machine), tmp_path / "compiled").describe()
    assert state.robot_cell is None
    assert (state.resources, state.calibration) == ((), None)
    machine["axes"] = [{"name": "X", "joint": "J1"}, {**flat_axis("Y"), "lower": 2}]
    path = write_machine(tmp_path, machine)
    with pytest.raises(DescriptionError) as caught:
        compile_machine(path, tmp_path / "second")
    assert "axes[0].joint: this machine has no robot to bind to" in str(caught.value)
    assert "axes[1]: lower 2.0 is above upper 1.0" in str(caught.value)


def test_a_bench_machine(tmp_path: Path) -> None:
    """R8: rt-core runs a bench, with flat axes."""
    root = copied(BENCHES[0], tmp_path / "robots")
    pin = {"directory": f"robots/{root.name}", "identity": description_identity(root)}
    machine = {
        "schema": "grid.machine.v1",
        "name": "bench",
        "robot": {"robot_description": pin},
        "axes": [flat_axis("M1")],
    }
    state = compile_machine(write_machine(tmp_path, machine), tmp_path / "compiled").describe()
    assert state.robot_cell is not None
    assert state.robot_cell.model_id == BENCHES[0]
    assert [r.path for r in state.resources] == ["manifest.json", "rtcore_definition.json"]


def test_the_configuration_hash_covers_everything(tmp_path: Path) -> None:
    """R22: a CPU number changes it, and compiling again does not."""
    path = checkout(tmp_path)
    one, two = (compile_machine(path, tmp_path / name).describe() for name in ("a", "b"))
    edit(path, "axes", 0, cpu=3)
    three = compile_machine(path, tmp_path / "c").describe()
    assert one == two
    assert one.robot_cell == three.robot_cell
    assert one.machine_configuration_sha256 != three.machine_configuration_sha256


def test_a_directory_that_is_there_is_left_alone(tmp_path: Path) -> None:
    path = checkout(tmp_path)
    (tmp_path / "empty").mkdir()
    compile_machine(path, tmp_path / "empty")
    before = sorted((tmp_path / "empty").rglob("*"))
    with pytest.raises(DescriptionError, match="is there already"):
        compile_machine(path, tmp_path / "empty")
    assert sorted((tmp_path / "empty").rglob("*")) == before


@pytest.mark.parametrize("name", ["", "..", "0" * 63, "A" * 64, "0" * 64, "../configuration.json"])
def test_names_that_no_resource_has(name: str, tmp_path: Path) -> None:
    """R16: only listed hashes, 64 digits in lower case, are ever opened."""
    cell = compile_machine(checkout(tmp_path), tmp_path / "compiled")
    (tmp_path / "compiled/resources" / ("0" * 64)).write_bytes(b"not listed")
    assert cell.resource(name) is None


def test_a_damaged_store(tmp_path: Path) -> None:
    """R16: never wrong bytes."""
    cell = compile_machine(checkout(tmp_path), tmp_path / "compiled")
    name = cell.describe().resources[0].sha256.removeprefix("sha256:")
    file = tmp_path / "compiled/resources" / name
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(DescriptionError, match=f"{name}: damaged"):
        cell.resource(name)
    file.unlink()
    file.symlink_to(tmp_path / "machine.json")
    with pytest.raises(DescriptionError, match="symbolic link"):
        cell.resource(name)


def test_the_command(tmp_path: Path) -> None:
    """R13: `grid machine compile` says the identities, or what is wrong."""
    path = checkout(tmp_path)
    arguments = ["machine", "compile", str(path), "-o", str(tmp_path / "compiled")]
    result = CliRunner().invoke(cli, arguments)
    state = CompiledCell(tmp_path / "compiled").describe()
    assert state.robot_cell is not None
    assert result.exit_code == 0
    assert f"model_id {R1400}\n" in result.stdout
    assert f"machine_configuration_sha256 {state.machine_configuration_sha256}\n" in result.stdout
    again = CliRunner().invoke(cli, arguments)
    assert (again.exit_code, again.stdout) == (2, "")
    assert "is there already" in again.stderr
