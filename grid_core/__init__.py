"""Batched robot dynamics and kinematics, compiled for one robot from its URDF.

>>> import grid_core
>>> robot = grid_core.load_robot("iiwa14.urdf")
>>> tau = robot.inverse_dynamics(q, qd, qdd)
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grid_core.artifact.consumer import ConsumerArtifact
    from grid_core.artifact.prepared_build import build_artifact
    from grid_core.artifact.prepared_load import load_artifact
    from grid_core.descriptor.describing import describe_model
    from grid_core.handle import RobotHandle
    from grid_core.header import generate_header
    from grid_core.loading import AlgorithmInfo, list_algorithms, load_robot
    from grid_core.plugins import register_plugin
    from grid_core.registry import get_robot, list_registered, register_robot

__all__ = [
    "AlgorithmInfo",
    "ConsumerArtifact",
    "RobotHandle",
    "build_artifact",
    "describe_model",
    "generate_header",
    "get_robot",
    "list_algorithms",
    "list_registered",
    "load_artifact",
    "load_robot",
    "register_plugin",
    "register_robot",
]

_HOMES = {
    "AlgorithmInfo": "loading",
    "ConsumerArtifact": "artifact.consumer",
    "RobotHandle": "handle",
    "build_artifact": "artifact.prepared_build",
    "describe_model": "descriptor.describing",
    "generate_header": "header",
    "get_robot": "registry",
    "list_algorithms": "loading",
    "list_registered": "registry",
    "load_artifact": "artifact.prepared_load",
    "load_robot": "loading",
    "register_plugin": "plugins",
    "register_robot": "registry",
}
"""Which module has each name: all are imported at first use, so that ``grid`` starts at once."""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"grid_core.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    if not name.startswith("_"):
        # grid_core.errors and the like need no import of their own.
        full = f"grid_core.{name}"
        try:
            return importlib.import_module(full)
        except ModuleNotFoundError as error:
            if error.name != full:
                raise
    raise AttributeError(f"module 'grid_core' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
