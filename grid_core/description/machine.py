"""A machine's config → a directory that a cell can be served from, without the checkout."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import asdict, frozen

from grid_core.description.calibration import CALIBRATION, Calibration
from grid_core.description.check_machine import check_axes
from grid_core.description.compiled import CONFIGURATION, RESOURCES, CompiledCell, entry
from grid_core.description.description import RobotDescription, check_description
from grid_core.description.documents import read_document
from grid_core.description.faults import Faults
from grid_core.description.files import read_file
from grid_core.description.machine_documents import COMPILED_SCHEMA, CompiledMachine, Machine
from grid_core.description.program_documents import RobotCellBlock
from grid_core.description.snapshot import Resource
from grid_core.errors import DescriptionError

if TYPE_CHECKING:
    import os

    from grid_core.description.faults import Place
    from grid_core.description.machine_documents import MachineRobot, ResourceEntry

__all__ = ["compile_machine"]


@frozen(eq=False)
class _Bound:
    """The robot of a machine, checked against its pins."""

    directory: Path
    description: RobotDescription
    calibration: Calibration


def compile_machine(path: str | os.PathLike[str], output: str | os.PathLike[str]) -> CompiledCell:
    """Check a machine's config and its pins, and keep all that the cell needs under its hashes.

    Args:
        path: the config.
        output: a directory that does not exist, or is empty.

    Raises:
        DescriptionError: every fault; among them pins that do not match. Nothing is written.
    """
    file, faults = Path(path), Faults()
    at = faults.at(str(path))
    content = read_file(file.parent, file.name, at)
    machine = None
    if content is not None and content.data is not None:
        machine = read_document(Machine, content.data, at)
    faults.raise_any()
    assert machine is not None
    bound = None if machine.robot is None else _bind(machine.robot, file.parent, at)
    check_axes(machine, None if bound is None else bound.description, at)
    faults.raise_any()
    _write(Path(output), machine, bound)
    return CompiledCell(output)


def _bind(robot: MachineRobot, folder: Path, at: Place) -> _Bound | None:
    """Read description and calibration; a pin that does not match is a fault."""
    pin, place = robot.robot_description, at.key("robot").key("robot_description")
    directory = folder / pin.directory
    found = check_description(directory)
    at.faults.found.extend(found)
    if found:
        return None
    description = RobotDescription.load(directory)
    _ = description.rt_view  # the bytes that are kept are the ones that were checked
    if not description.is_bench:
        _ = description.planner_view
    if description.identity != pin.identity:
        place.key("identity").fault(
            f"pinned {pin.identity}, but {directory} is {description.identity}"
        )
    calibration = Calibration.empty(description.model_id)
    cell = robot.machine_planning_calibration
    if cell is not None:
        place = at.key("robot").key("machine_planning_calibration")
        try:
            calibration = Calibration.load(folder / cell.path, description)
        except DescriptionError as error:
            at.faults.found.extend(error.faults)
            return None
        if calibration.identity != cell.sha256:
            place.key("sha256").fault(
                f"pinned {cell.sha256}, but {folder / cell.path} is {calibration.identity}"
            )
    return _Bound(directory, description, calibration)


def _write(output: Path, machine: Machine, bound: _Bound | None) -> None:
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise DescriptionError(f"{output}: is there already; compile into a new directory")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
    except OSError as error:
        raise DescriptionError(f"{output}: cannot be written: {error.strerror}") from error
    try:
        _fill(work, machine, bound)
        work.chmod(0o755)
        work.replace(output)  # all of it or nothing
    except OSError as error:
        raise DescriptionError(f"{output}: cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _fill(work: Path, machine: Machine, bound: _Bound | None) -> None:
    store = work / RESOURCES
    store.mkdir()
    block, calibration = None, None
    entries: tuple[ResourceEntry, ...] = ()
    if bound is not None:
        cell = bound.description.robot_cell(bound.calibration)
        block = RobotCellBlock(**asdict(cell))
        for resource in bound.description.resources:
            _keep(store, resource, _read_again(bound.directory, resource))
        content = bound.calibration.content
        kept = Resource(CALIBRATION, len(content), bound.calibration.identity)
        _keep(store, kept, content)
        entries, calibration = tuple(map(entry, bound.description.resources)), entry(kept)
    compiled = CompiledMachine(
        schema=COMPILED_SCHEMA,
        machine=machine,
        robot_cell=block,
        resources=entries,
        calibration=calibration,
    )
    values = asdict(compiled, filter=lambda _, value: value is not None)
    text = json.dumps(values, indent=1, sort_keys=True) + "\n"
    (work / CONFIGURATION).write_text(text, encoding="utf-8")


def _read_again(directory: Path, resource: Resource) -> bytes:
    """Return a file's bytes; refuse it if it is no longer what was checked."""
    faults = Faults()
    at = faults.at(str(directory / resource.path))
    content = read_file(directory, resource.path, at, most=None)
    if content is not None and f"sha256:{content.digest.hex()}" != resource.sha256:
        at.fault("changed while it was compiled; compile again")
    faults.raise_any()
    assert content is not None
    assert content.data is not None
    return content.data


def _keep(store: Path, resource: Resource, content: bytes) -> None:
    assert f"sha256:{hashlib.sha256(content).hexdigest()}" == resource.sha256
    (store / resource.sha256.removeprefix("sha256:")).write_bytes(content)
