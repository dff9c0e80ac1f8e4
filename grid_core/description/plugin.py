"""The plugin that offers robot-description directories."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from grid_core.description.files import MANIFEST
from grid_core.errors import ModelWarning
from grid_core.hookspecs import hookimpl
from grid_core.model.source import ModelSource

if TYPE_CHECKING:
    from grid_core.description.calibration import Calibration
    from grid_core.model.types import RobotModel

__all__ = ["grid_model_sources"]


def is_description(source: object) -> bool:
    """Whether the source is the path of a directory with a manifest."""
    if not isinstance(source, str | os.PathLike):
        return False
    try:
        return source != "" and (Path(source) / MANIFEST).is_file()
    except (OSError, TypeError, ValueError):
        return False


def load_description(
    source: str | os.PathLike[str],
    *,
    floating_base: bool = False,
    strict: bool = False,
    calibration: str | os.PathLike[str] | Calibration | None = None,
) -> RobotModel:
    """Read the model of a cell from a directory and the cell's calibration."""
    from grid_core.description.calibration import Calibration  # noqa: PLC0415 - with its first use
    from grid_core.description.description import RobotDescription  # noqa: PLC0415

    description = RobotDescription.load(source)
    if calibration is not None and not isinstance(calibration, Calibration):
        calibration = Calibration.load(calibration, description)
    model, suspicions = description.robot_model(
        calibration, floating_base=floating_base, strict=strict
    )
    for message in suspicions:
        warnings.warn(message, ModelWarning, stacklevel=2)
    return model


@hookimpl
def grid_model_sources() -> list[ModelSource]:
    """Offer description directories."""
    return [
        ModelSource(
            "description",
            "a robot-description directory, by its path",
            is_description,
            load_description,
            takes_calibration=True,
        )
    ]
