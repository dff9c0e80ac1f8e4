"""The config of one machine, and the configuration that is compiled from it."""

# ruff: noqa: RUF009 - `item` declares a field, as `attrs.field` does

from __future__ import annotations

from attrs import frozen

from grid_core.description.kinds import Choice, ListOf, Number, Record, Text, Whole, item
from grid_core.description.program_documents import RobotCellBlock, sha256_text

__all__ = [
    "COMPILED_SCHEMA",
    "MACHINE_SCHEMA",
    "REPLY_SCHEMA",
    "Axis",
    "CalibrationPin",
    "CellReply",
    "CompiledMachine",
    "DescriptionPin",
    "Machine",
    "MachineRobot",
    "ResourceEntry",
]

MACHINE_SCHEMA = "grid.machine.v1"
COMPILED_SCHEMA = "grid.compiled-machine.v1"
REPLY_SCHEMA = "grid.cell.v1"
_RATE = Number(above=0.0)


@frozen(kw_only=True)
class DescriptionPin:
    """Which description, to the byte."""

    directory: str = item(Text(), "Its path, relative to this file.")
    identity: str = item(sha256_text(), "What `grid description identity` prints for it.")


@frozen(kw_only=True)
class CalibrationPin:
    """Which calibration, to the byte."""

    path: str = item(Text(), "Its path, relative to this file.")
    sha256: str = item(sha256_text(), "Of its exact bytes.")


@frozen(kw_only=True)
class MachineRobot:
    """The robot that the machine is."""

    robot_description: DescriptionPin = item(Record(DescriptionPin), "Its description.")
    machine_planning_calibration: CalibrationPin | None = item(
        Record(CalibrationPin), "The cell's calibration, if it has one.", default=None
    )


@frozen(kw_only=True)
class Axis:
    """One axis of the bus; bound to a joint of the robot, or flat with limits of its own."""

    name: str = item(Text(), "Unique in the machine.")
    joint: str | None = item(Text(), "The robot's joint, whose limits hold.", default=None)
    cpu: int = item(Whole(0), "The processor that serves it.", default=0)
    bus_timeout_ms: float = item(_RATE, "After which it stops [ms].", default=10.0)
    lower: float | None = item(Number(), "Of a flat axis only.", default=None)
    upper: float | None = item(Number(), "Of a flat axis only.", default=None)
    velocity: float | None = item(_RATE, "Of a flat axis only.", default=None)
    acceleration: float | None = item(_RATE, "Of a flat axis only.", default=None)


@frozen(kw_only=True)
class Machine:
    """A machine's config."""

    schema: str = item(Choice((MACHINE_SCHEMA,)), "Name and version of this form.")
    name: str = item(Text(), "What people call the machine.")
    robot: MachineRobot | None = item(
        Record(MachineRobot), "The robot; absent where all axes are flat.", default=None
    )
    axes: tuple[Axis, ...] = item(ListOf(Record(Axis)), "In the order of the bus.")


@frozen(kw_only=True)
class ResourceEntry:
    """One file of the compiled machine, kept under its hash."""

    path: str = item(Text(), "What it was called.")
    size: int = item(Whole(0), "[bytes]")
    sha256: str = item(sha256_text(), "Of its bytes.")


@frozen(kw_only=True)
class CompiledMachine:
    """A compiled machine: all that a cell needs to describe itself."""

    schema: str = item(Choice((COMPILED_SCHEMA,)), "Name and version of this form.")
    machine: Machine = item(Record(Machine), "The config that was compiled.")
    robot_cell: RobotCellBlock | None = item(
        Record(RobotCellBlock), "What plans are compared with.", default=None
    )
    resources: tuple[ResourceEntry, ...] = item(
        ListOf(Record(ResourceEntry)), "The description's files, sorted by path."
    )
    calibration: ResourceEntry | None = item(
        Record(ResourceEntry), "The calibration's file.", default=None
    )


@frozen(kw_only=True)
class CellReply:
    """What a served cell answers when it is asked to describe itself."""

    schema: str = item(Choice((REPLY_SCHEMA,)), "Name and version of this form.")
    robot_cell: RobotCellBlock | None = item(
        Record(RobotCellBlock), "Absent for a machine of flat axes.", default=None
    )
    resources: tuple[ResourceEntry, ...] = item(
        ListOf(Record(ResourceEntry)), "The description's files, sorted by path."
    )
    calibration: ResourceEntry | None = item(
        Record(ResourceEntry), "The calibration's file.", default=None
    )
    machine_configuration_sha256: str = item(sha256_text(), "Of the whole configuration.")
