"""The JSON documents of a description, each an attrs class.

Positions are in rad or m, velocities in rad/s or m/s, accelerations in rad/s² or m/s², by the
joint's kind. Names of joints and links are the URDF's.
"""

# ruff: noqa: RUF009 - `item` declares a field, as `attrs.field` does

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from attrs import Factory, frozen

from grid_core.description.kinds import (
    Choice,
    ListOf,
    MapOf,
    Number,
    Record,
    Text,
    Vector,
    Whole,
    item,
)
from grid_core.description.strict_json import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.description.faults import Place

__all__ = [
    "CALIBRATION_SCHEMA",
    "CONFIG_SCHEMA",
    "MANIFEST_SCHEMA",
    "RTCORE_SCHEMA",
    "SPHERES_SCHEMA",
    "CalibrationDocument",
    "Caps",
    "Config",
    "Correction",
    "Frames",
    "Manifest",
    "Motor",
    "Narrowing",
    "PlanningRates",
    "RtRates",
    "RtcoreDefinition",
    "Sphere",
    "Spheres",
    "Surface",
    "Torch",
    "read_document",
]

T = TypeVar("T")

MANIFEST_SCHEMA = "grid.robot-description.v1"
CONFIG_SCHEMA = "grid.robot-config.v1"
SPHERES_SCHEMA = "grid.collision-spheres.v1"
RTCORE_SCHEMA = "grid.rtcore-definition.v1"
CALIBRATION_SCHEMA = "rosie.machine-planning-calibration.v1"

_MODEL_ID = Text(r"[A-Za-z0-9][A-Za-z0-9._-]*", "a model id of letters, digits, '.', '_' and '-'")
_NAME = Text()
_RATE = Number(above=0.0)
_ZERO = (0.0, 0.0, 0.0)


def _model_id() -> Any:
    return item(_MODEL_ID, "The model's id: the name of the directory.")


@frozen(kw_only=True)
class Manifest:
    """``manifest.json``: which files make the description."""

    schema: str = item(Choice((MANIFEST_SCHEMA,)), "Name and version of this form.")
    model_id: str = _model_id()
    files: tuple[str, ...] = item(ListOf(Text(meaning="a path")), "Every registered file.")


@frozen(kw_only=True)
class Surface:
    """A named place on a link."""

    link: str = item(_NAME, "The link that carries it.")
    xyz_m: tuple[float, ...] = item(Vector(), "Its origin in the link's frame [m].")
    rpy_rad: tuple[float, ...] = item(Vector(), "Its turn, Rz·Ry·Rx [rad].", default=_ZERO)


@frozen(kw_only=True)
class Frames:
    """The frames that programs are written in: names of links or of surfaces."""

    base: str = item(_NAME, "Where the robot stands.")
    tool: str = item(_NAME, "What the arm carries.")
    work: str = item(_NAME, "What is worked on.")


@frozen(kw_only=True)
class Torch:
    """The welding torch."""

    electrode_axis: tuple[float, ...] = item(Vector(), "Unit vector in the tool frame.")


@frozen(kw_only=True)
class PlanningRates:
    """Rates of the planner, of each driven joint."""

    velocity: Mapping[str, float] = item(MapOf(_RATE), "At most the URDF's.")
    acceleration: Mapping[str, float] = item(MapOf(_RATE), "Greatest acceleration.")


@frozen(kw_only=True)
class RtRates:
    """Rates of rt-core, of each axis."""

    trajectory_acceleration: Mapping[str, float] = item(MapOf(_RATE), "On a trajectory.")
    jog_acceleration: Mapping[str, float] = item(MapOf(_RATE), "When jogged by hand.")


@frozen(kw_only=True)
class Caps:
    """The largest component, either way, of a cell's kinematic correction."""

    xyz_m: tuple[float, ...] = item(Vector(Number(low=0.0)), "Of x, y and z [m].")
    rpy_rad: tuple[float, ...] = item(Vector(Number(low=0.0)), "Of roll, pitch and yaw [rad].")


@frozen(kw_only=True)
class Config:
    """``config.json``: what planner and rt-core share beside the URDF."""

    schema: str = item(Choice((CONFIG_SCHEMA,)), "Name and version of this form.")
    model_id: str = _model_id()
    surfaces: Mapping[str, Surface] = item(
        MapOf(Record(Surface)), "Frames that the URDF does not have.", default=Factory(dict)
    )
    frames: Frames = item(Record(Frames), "Which frame is which.")
    torch: Torch = item(Record(Torch), "The torch.")
    driven_joints: tuple[str, ...] = item(
        ListOf(_NAME, unique=True), "Joints that a plan moves, in the plan's order."
    )
    held_joints: Mapping[str, float] = item(
        MapOf(Number()), "Joints that no plan moves, and where they are.", default=Factory(dict)
    )
    speed_ceiling_rad_s: float = item(_RATE, "No planned joint is faster [rad/s].")
    reset_pose: Mapping[str, float] = item(MapOf(Number()), "Of each driven joint.")
    planning: PlanningRates = item(Record(PlanningRates), "The planner's rates.")
    rt: RtRates = item(Record(RtRates), "rt-core's rates.")
    kinematic_correction_caps: Caps = item(Record(Caps), "What a calibration may correct.")


@frozen(kw_only=True)
class Sphere:
    """A ball that covers part of a link."""

    center_m: tuple[float, ...] = item(Vector(), "In the link's frame [m].")
    radius_m: float = item(_RATE, "Its radius [m].")


@frozen(kw_only=True)
class Spheres:
    """``spheres.json``: what the planner keeps apart."""

    schema: str = item(Choice((SPHERES_SCHEMA,)), "Name and version of this form.")
    model_id: str = _model_id()
    spheres: Mapping[str, tuple[Sphere, ...]] = item(
        MapOf(ListOf(Record(Sphere))), "The spheres of each link."
    )


@frozen(kw_only=True)
class Motor:
    """One motor that rt-core drives."""

    name: str = item(_NAME, "Unique in the file.")
    joint: str | None = item(_NAME, "The axis it turns; absent on a bench.", default=None)
    gear_ratio: float = item(_RATE, "Turns of the motor a turn of the axis.")
    encoder_counts_per_rev: int = item(Whole(1), "Counts a turn of the motor.")


@frozen(kw_only=True)
class RtcoreDefinition:
    """``rtcore_definition.json``: what rt-core drives."""

    schema: str = item(Choice((RTCORE_SCHEMA,)), "Name and version of this form.")
    model_id: str = _model_id()
    motors: tuple[Motor, ...] = item(ListOf(Record(Motor)), "In the order of the bus.")


@frozen(kw_only=True)
class Narrowing:
    """Limits of one joint, none wider than the description's."""

    lower: float | None = item(Number(), "At least the URDF's.", default=None)
    upper: float | None = item(Number(), "At most the URDF's.", default=None)
    velocity: float | None = item(_RATE, "At most the planning velocity.", default=None)


@frozen(kw_only=True)
class Correction:
    """A change of a joint's origin: T' = T_origin · Trans(xyz_m) · R(rpy_rad)."""

    xyz_m: tuple[float, ...] = item(Vector(), "In the joint's frame [m].", default=_ZERO)
    rpy_rad: tuple[float, ...] = item(Vector(), "Rz·Ry·Rx [rad].", default=_ZERO)


@frozen(kw_only=True)
class CalibrationDocument:
    """``machine_planning_calibration.json``: how one cell differs from its model."""

    schema: str = item(Choice((CALIBRATION_SCHEMA,)), "Name and version of this form.")
    model_id: str = _model_id()
    limits: Mapping[str, Narrowing] = item(
        MapOf(Record(Narrowing)), "Narrower limits of axes.", default=Factory(dict)
    )
    held_joints: Mapping[str, float] = item(
        MapOf(Number()), "Axes that stay where this says.", default=Factory(dict)
    )
    speed_ceiling_rad_s: float | None = item(
        _RATE, "In place of the model's; at most the URDF's fastest joint.", default=None
    )
    kinematic_corrections: Mapping[str, Correction] = item(
        MapOf(Record(Correction)), "Corrections of joints' origins.", default=Factory(dict)
    )


def read_document(kind: type[T], data: bytes, at: Place) -> T | None:
    """Read a document; None, with faults noted, where it is not one."""
    before = len(at.faults.found)
    value = parse(data, at)
    if len(at.faults.found) > before:
        return None
    found: T | None = Record(kind).read(value, at)
    return found
