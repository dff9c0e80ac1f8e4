"""Ports and widths that the family shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.algorithm import Options, Port
from grid_core.model.parameters import num_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grid_core.model.types import RobotModel

__all__ = ["JOINT_FORCES", "PARAMETERS", "PER_MOTION", "PER_PARAMETER", "QDD", "SLOPES"]


def parameter_count(model: RobotModel, options: Options) -> int:
    """Width of π, called np in shapes."""
    return num_parameters(model, options.regressor_terms)


PARAMETERS: Mapping[str, Callable[[RobotModel, Options], int]] = {"np": parameter_count}
PER_PARAMETER = "a kg, kg m or kg m², and what each term has"
QDD = Port(
    name="qdd",
    shape=("nv",),
    unit="rad/s², m/s²",
    frame="as qd",
    doc="acceleration",
    role="acceleration",
)
JOINT_FORCES = Port(
    name="u", shape=("nv",), unit="N m, N", frame="as qd", doc="joint forces", role="tangent"
)

SLOPES = "columns as qd: floating and spherical joints move in the body's own frame"
PER_MOTION = "per rad, m, rad/s, m/s"
