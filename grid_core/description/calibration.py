"""A cell's calibration: what narrows, holds and corrects the model that it was made for."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from grid_core.description.check_calibration import check_calibration
from grid_core.description.documents import (
    CALIBRATION_SCHEMA,
    CalibrationDocument,
    read_document,
)
from grid_core.description.faults import Faults
from grid_core.description.files import read_file
from grid_core.description.identity import prefixed
from grid_core.model.spatial import pose, rpy_matrix
from grid_core.model.urdf.adjust import Adjustments

if TYPE_CHECKING:
    import os

    from grid_core.description.description import RobotDescription
    from grid_core.description.faults import Place
    from grid_core.description.shared import Shared
    from grid_core.model.types import Limits

__all__ = ["CALIBRATION", "Calibration", "adjustments"]

CALIBRATION = "machine_planning_calibration.json"
"""What a cell's calibration is called."""


@frozen
class Calibration:
    """A checked calibration and the bytes that it was read from."""

    document: CalibrationDocument
    content: bytes = field(repr=False)
    """The exact bytes: what the identity is of."""
    file: str = "the calibration"
    """What messages call it."""

    @property
    def model_id(self) -> str:
        """The model that it is for."""
        return self.document.model_id

    @property
    def identity(self) -> str:
        """``sha256:`` and 64 hex digits, over the exact bytes."""
        return prefixed(hashlib.sha256(self.content).digest())

    @classmethod
    def load(cls, path: str | os.PathLike[str], description: RobotDescription) -> Calibration:
        """Read a cell's calibration of a robot.

        Raises:
            DescriptionError: every fault of the file, each with its key path.
        """
        faults, file = Faults(), Path(path)
        content = read_file(file.parent, file.name, faults.at(str(path)))
        if content is None or content.data is None:
            faults.raise_any()
            return cls.empty(description.model_id)  # pragma: no cover - a fault was noted
        return cls.read(content.data, description, file=str(path))

    @classmethod
    def read(
        cls, content: bytes, description: RobotDescription, *, file: str = "the calibration"
    ) -> Calibration:
        """Read a calibration from its bytes; see `load`."""
        faults = Faults()
        document = read_document(CalibrationDocument, content, faults.at(file))
        faults.raise_any()
        assert document is not None
        found = cls(document, content, file)
        found.check(description)
        return found

    @classmethod
    def empty(cls, model_id: str) -> Calibration:
        """Return the fixed document of a cell that has no calibration."""
        document = CalibrationDocument(schema=CALIBRATION_SCHEMA, model_id=model_id)
        keys = {"model_id": model_id, "schema": CALIBRATION_SCHEMA}
        content = json.dumps(keys, separators=(",", ":")).encode() + b"\n"
        return cls(document, content, "the empty calibration")

    def check(self, description: RobotDescription) -> None:
        """Raise `DescriptionError` unless the robot can have this calibration."""
        faults = Faults()
        self._check(description, faults.at(self.file))
        faults.raise_any()

    def _check(self, description: RobotDescription, at: Place) -> None:
        if self.model_id != description.model_id:
            at.key("model_id").fault(
                f"{self.model_id!r}, but the robot is {description.model_id!r}"
            )
        elif description.shared is None:
            at.fault(f"{description.model_id} is a bench: it has no URDF")
        else:
            check_calibration(self.document, description.shared, at)


def adjustments(shared: Shared, calibration: Calibration) -> Adjustments:
    """Return what the reader of the URDF has to change, for a calibration that was checked."""
    document = calibration.document
    return Adjustments(
        offsets={
            name: pose(change.xyz_m, rpy_matrix(*change.rpy_rad))
            for name, change in document.kinematic_corrections.items()
        },
        limits=_limits(shared, document),
        held={**shared.config.held_joints, **document.held_joints},
    )


def _limits(shared: Shared, document: CalibrationDocument) -> dict[str, Limits]:
    result = {}
    for name, narrow in document.limits.items():
        given = {"lower": narrow.lower, "upper": narrow.upper, "velocity": narrow.velocity}
        changes = {key: value for key, value in given.items() if value is not None}
        result[name] = evolve(shared.axes[name].limits, **changes)
    return result
