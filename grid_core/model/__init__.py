"""Robot models: URDF in, a frozen `RobotModel` out, and configurations on its manifold."""

from grid_core.model.configuration import (
    difference,
    integrate,
    neutral_configuration,
    random_configuration,
)
from grid_core.model.loading import load_urdf, load_urdf_string
from grid_core.model.types import (
    Body,
    Frame,
    FrameKind,
    Inertia,
    Joint,
    JointKind,
    Limits,
    Link,
    Mimic,
    RobotCell,
    RobotModel,
)

__all__ = [
    "Body",
    "Frame",
    "FrameKind",
    "Inertia",
    "Joint",
    "JointKind",
    "Limits",
    "Link",
    "Mimic",
    "RobotCell",
    "RobotModel",
    "difference",
    "integrate",
    "load_urdf",
    "load_urdf_string",
    "neutral_configuration",
    "random_configuration",
]
