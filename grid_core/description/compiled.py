"""A compiled machine on disk: a cell that needs nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import asdict, frozen

from grid_core.description.cell import CellState
from grid_core.description.documents import read_document
from grid_core.description.faults import Faults
from grid_core.description.files import read_file
from grid_core.description.identity import prefixed
from grid_core.description.machine_documents import (
    REPLY_SCHEMA,
    CellReply,
    CompiledMachine,
    ResourceEntry,
)
from grid_core.description.program_documents import RobotCellBlock
from grid_core.description.snapshot import Resource
from grid_core.errors import DescriptionError
from grid_core.model.types import RobotCell

if TYPE_CHECKING:
    import os

__all__ = ["CONFIGURATION", "RESOURCES", "CompiledCell", "cell_state", "entry", "reply"]

CONFIGURATION = "configuration.json"
RESOURCES = "resources"
_HEX = re.compile(r"[0-9a-f]{64}")


@frozen
class CompiledCell:
    """A cell from the directory that `compile_machine` wrote."""

    directory: str | os.PathLike[str]

    def describe(self) -> CellState:
        """Read the configuration again.

        Raises:
            DescriptionError: it is not there, or damaged.
        """
        compiled, digest = self._read()
        return CellState(
            robot_cell=_robot_cell(compiled.robot_cell),
            resources=tuple(map(_resource, compiled.resources)),
            calibration=None if compiled.calibration is None else _resource(compiled.calibration),
            machine_configuration_sha256=digest,
        )

    def resource(self, name: str) -> bytes | None:
        """Return the bytes with a SHA-256, of 64 hex digits in lower case; None: there are none.

        Raises:
            DescriptionError: what is kept under the name has another hash, or cannot be read.
        """
        if _HEX.fullmatch(name) is None:
            return None
        state = self.describe()
        known = [*state.resources, *([state.calibration] if state.calibration else [])]
        if f"sha256:{name}" not in {resource.sha256 for resource in known}:
            return None
        faults = Faults()
        root = Path(self.directory) / RESOURCES
        content = read_file(root, name, faults.at(f"{root}/{name}"), most=None)
        faults.raise_any()
        assert content is not None
        if content.digest.hex() != name:
            raise DescriptionError(f"{root}/{name}: damaged: its SHA-256 is another")
        return content.data

    def _read(self) -> tuple[CompiledMachine, str]:
        faults = Faults()
        at = faults.at(str(Path(self.directory) / CONFIGURATION))
        content = read_file(Path(self.directory), CONFIGURATION, at)
        compiled = None
        if content is not None and content.data is not None:
            compiled = read_document(CompiledMachine, content.data, at)
        faults.raise_any()
        assert content is not None
        assert compiled is not None
        return compiled, prefixed(content.digest)


def entry(resource: Resource) -> ResourceEntry:
    """Return a resource as documents hold it."""
    return ResourceEntry(path=resource.path, size=resource.size, sha256=resource.sha256)


def reply(state: CellState) -> CellReply:
    """Return a cell's state as it is sent.

    Raises:
        DescriptionError: a state without the hash of its configuration.
    """
    if state.machine_configuration_sha256 is None:
        raise DescriptionError("a cell that is served has a machine configuration")
    block = None if state.robot_cell is None else RobotCellBlock(**asdict(state.robot_cell))
    return CellReply(
        schema=REPLY_SCHEMA,
        robot_cell=block,
        resources=tuple(map(entry, state.resources)),
        calibration=None if state.calibration is None else entry(state.calibration),
        machine_configuration_sha256=state.machine_configuration_sha256,
    )


def cell_state(sent: CellReply) -> CellState:
    """Return a cell's state from what was sent."""
    return CellState(
        robot_cell=_robot_cell(sent.robot_cell),
        resources=tuple(map(_resource, sent.resources)),
        calibration=None if sent.calibration is None else _resource(sent.calibration),
        machine_configuration_sha256=sent.machine_configuration_sha256,
    )


def _resource(found: ResourceEntry) -> Resource:
    return Resource(found.path, found.size, found.sha256)


def _robot_cell(block: RobotCellBlock | None) -> RobotCell | None:
    return None if block is None else RobotCell(**asdict(block))
