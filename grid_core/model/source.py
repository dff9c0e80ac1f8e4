"""What a model source is: the record that the hook ``grid_model_sources`` returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_core.model.types import RobotModel

__all__ = ["ModelSource"]


@frozen
class ModelSource:
    """A kind of robot description that Grid can load."""

    name: str
    """Unique, such as ``urdf-file``."""
    summary: str
    """One line for listings."""
    accepts: Callable[[object], bool]
    """Whether this source takes that description; must not raise, nor read it whole."""
    load: Callable[..., RobotModel]
    """``load(source, *, floating_base, strict)``; raises `grid_core.errors.ModelError`."""
    takes_calibration: bool = False
    """Whether `load` takes ``calibration`` as well: how one cell differs from its model."""
