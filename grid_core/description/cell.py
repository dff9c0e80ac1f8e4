"""A cell as it describes itself, and the check before a program is sent to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from attrs import fields, frozen

from grid_core.description.calibration import CALIBRATION, Calibration
from grid_core.description.description import RobotDescription
from grid_core.description.snapshot import Resource
from grid_core.errors import LoadRefused
from grid_core.model.types import RobotCell

if TYPE_CHECKING:
    import os

    from grid_core.description.program_documents import ProgramHeader

__all__ = ["Cell", "CellState", "DirectoryCell", "check_load"]


@frozen
class CellState:
    """What a cell is at one moment."""

    robot_cell: RobotCell | None
    """None for a machine of flat axes, to which no robot is bound."""
    resources: tuple[Resource, ...] = ()
    """The description's files, with their hashes."""
    calibration: Resource | None = None
    """The calibration's, which the fixed empty document stands for where there is none."""
    machine_configuration_sha256: str | None = None
    """Of the machine's whole configuration."""


class Cell(Protocol):
    """Something that a program can be loaded into."""

    def describe(self) -> CellState:
        """Say what the cell is now; nothing may be remembered from before."""


@frozen
class DirectoryCell:
    """A cell whose description and calibration lie as files where the check runs."""

    directory: str | os.PathLike[str]
    calibration: str | os.PathLike[str] | None = None
    machine_configuration_sha256: str | None = None

    def describe(self) -> CellState:
        """Read the files again.

        Raises:
            DescriptionError: they are at fault.
        """
        description = RobotDescription.load(self.directory)
        cell = Calibration.empty(description.model_id)
        if self.calibration is not None:
            cell = Calibration.load(self.calibration, description)
        return CellState(
            robot_cell=description.robot_cell(cell),
            resources=description.resources,
            calibration=Resource(CALIBRATION, len(cell.content), cell.identity),
            machine_configuration_sha256=self.machine_configuration_sha256,
        )


def check_load(header: ProgramHeader, cell: Cell) -> tuple[str, ...]:
    """Compare what a program was planned for with what the cell is, described afresh.

    Exactly three fields decide: ``model_id``, ``robot_description_sha256`` and
    ``machine_planning_calibration_sha256``. A machine without a robot has nothing to compare.

    Returns:
        Notes: a machine configuration that differs is recorded, and no reason to refuse.

    Raises:
        LoadRefused: every field that differs, with both values.
    """
    state = cell.describe()
    if state.robot_cell is None:
        return ()
    pairs = [
        (field.name, getattr(header.robot_cell, field.name), getattr(state.robot_cell, field.name))
        for field in fields(RobotCell)
    ]
    mismatches = tuple(pair for pair in pairs if pair[1] != pair[2])
    if mismatches:
        raise LoadRefused(mismatches)
    planned, now = header.machine_configuration_sha256, state.machine_configuration_sha256
    if planned is None or now is None or planned == now:
        return ()
    return (f"machine_configuration_sha256: planned with {planned}, the cell has {now}",)
