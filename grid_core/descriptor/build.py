"""`RobotModel` → descriptor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grid_core.descriptor.canonical import ID_KEY, compute_descriptor_id
from grid_core.descriptor.form import SCHEMA_VERSION
from grid_core.model.types import JointKind

if TYPE_CHECKING:
    from grid_core.model.types import Array, Frame, Joint, Limits, Mimic, RobotModel

__all__ = ["describe"]


def describe(model: RobotModel) -> dict[str, Any]:
    """Return the descriptor of a model: new plain JSON data at each call."""
    fields: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "floating_base": model.floating_base,
        "nq": model.nq,
        "nv": model.nv,
        "nj": model.nj,
        "nb": model.nb,
        "joints": [_joint(joint) for joint in model.joints],
        "bodies": [{"id": body.id, "name": body.name} for body in model.bodies],
        "frames": [_frame(frame) for frame in model.frames],
    }
    return {ID_KEY: compute_descriptor_id(fields), **fields}


def _joint(joint: Joint) -> dict[str, Any]:
    return {
        "id": joint.id,
        "name": joint.name,
        "kind": joint.kind.value,
        "parent_body": joint.parent,
        "child_body": joint.id,
        "q_start": joint.q_start,
        "v_start": joint.v_start,
        "local_nq": joint.nq,
        "local_nv": joint.nv,
        "T_parent_joint_zero": _matrix(joint.placement),
        "axis": None if joint.axis is None else [_number(value) for value in joint.axis],
        "pitch": _number(joint.pitch) if joint.kind is JointKind.HELICAL else None,
        "mimic": None if joint.mimic is None else _mimic(joint.mimic),
        "limits": _limits(joint.limits),
    }


def _mimic(mimic: Mimic) -> dict[str, Any]:
    return {
        "leader": mimic.leader,
        "multiplier": _number(mimic.multiplier),
        "offset": _number(mimic.offset),
    }


def _limits(limits: Limits) -> dict[str, Any]:
    bounds = {
        "lower": limits.lower,
        "upper": limits.upper,
        "velocity": limits.velocity,
        "effort": limits.effort,
    }
    return {key: None if bound is None else _number(bound) for key, bound in bounds.items()}


def _frame(frame: Frame) -> dict[str, Any]:
    return {
        "id": frame.id,
        "name": frame.name,
        "kind": frame.kind.value,
        "body": frame.body,
        "T_body_frame": _matrix(frame.placement),
    }


def _matrix(array: Array) -> list[list[float]]:
    return [[_number(value) for value in row] for row in array]


def _number(value: float) -> float:
    return float(value) + 0.0  # prints no -0.0
