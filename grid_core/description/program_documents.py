"""The header of a program: a dense trajectory, and the robot and cell that it was planned for."""

# ruff: noqa: RUF009 - `item` declares a field, as `attrs.field` does

from __future__ import annotations

from attrs import frozen

from grid_core.description.kinds import Choice, ListOf, Record, Text, item

__all__ = ["PROGRAM_SCHEMA", "ProgramHeader", "RobotCellBlock", "sha256_text"]

PROGRAM_SCHEMA = "grid.dense-trajectory.v1"


def sha256_text() -> Text:
    """Return the kind of every identity: ``sha256:`` and 64 hex digits."""
    return Text(r"sha256:[0-9a-f]{64}", "'sha256:' and 64 hex digits in lower case")


@frozen(kw_only=True)
class RobotCellBlock:
    """``robot_cell``: the three fields that a load compares."""

    model_id: str = item(Text(), "The robot model.")
    robot_description_sha256: str = item(sha256_text(), "The description's identity.")
    machine_planning_calibration_sha256: str = item(sha256_text(), "The calibration's identity.")


@frozen(kw_only=True)
class ProgramHeader:
    """The first line of a program."""

    schema: str = item(Choice((PROGRAM_SCHEMA,)), "Name and version of this form.")
    joints: tuple[str, ...] = item(ListOf(Text(), unique=True), "What each column moves.")
    robot_cell: RobotCellBlock = item(Record(RobotCellBlock), "What the plan is valid for.")
    machine_configuration_sha256: str | None = item(
        sha256_text(), "The machine's whole configuration: recorded, not checked.", default=None
    )
