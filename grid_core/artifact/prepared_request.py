"""What an artifact is made from, once every option was checked and the robot was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from grid_core.algorithm import Options
    from grid_core.artifact.prepared_options import Targets
    from grid_core.artifact.prepared_plan import Plan
    from grid_core.backend import BuildSettings
    from grid_core.model.types import RobotModel
    from grid_core.plugins import Selection

__all__ = ["Request"]


@frozen(kw_only=True)
class Request:
    """All that decides what an artifact holds."""

    model: RobotModel = field(repr=False)
    descriptor: Mapping[str, Any] = field(repr=False)
    options: Options
    dtype: np.dtype[Any]
    selection: Selection = field(repr=False)
    plan: Plan = field(repr=False)
    backends: Targets
    """Each with its targets."""
    header: Callable[[], str] = field(repr=False)
    """Writes the text of ``grid.cuh``."""
    given: Mapping[str, Any]
    """The options as plain data, for the record."""
    settings: BuildSettings
