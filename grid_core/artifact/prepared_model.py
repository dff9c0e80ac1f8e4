"""A robot's model from what an artifact saves: its descriptor, and what that does not say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grid_core.artifact.prepared_manifest import BodyRecord, JointRecord, LinkRecord, ModelRecord
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
    RobotModel,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.model.types import Array

__all__ = ["model_from", "model_record"]


def model_record(model: RobotModel) -> ModelRecord:
    """Return what a model's descriptor does not say of it."""
    return ModelRecord(
        name=model.name,
        root_link=model.root_link,
        bodies=tuple(
            BodyRecord(
                mass=float(body.inertia.mass),
                com=tuple(body.inertia.com.tolist()),
                rotational=_rows(body.inertia.rotational),
            )
            for body in model.bodies
        ),
        joints=tuple(
            JointRecord(
                damping=float(joint.damping), friction=float(joint.friction), source=joint.source
            )
            for joint in model.joints
        ),
        links=tuple(LinkRecord(x.name, x.body, _rows(x.placement)) for x in model.links),
    )


def model_from(descriptor: Mapping[str, Any], rest: ModelRecord) -> RobotModel:
    """Return the model again; `descriptor` is valid.

    Raises:
        ValueError: the two are not of one robot.
    """
    pairs = zip(descriptor["joints"], rest.joints, strict=True)
    masses = zip(descriptor["bodies"], rest.bodies, strict=True)
    return RobotModel(
        name=rest.name,
        joints=tuple(_joint(joint, more) for joint, more in pairs),
        bodies=tuple(_body(body, more) for body, more in masses),
        frames=tuple(_frame(frame) for frame in descriptor["frames"]),
        links=tuple(Link(x.name, x.body, x.placement) for x in rest.links),
        root_link=rest.root_link,
        floating_base=descriptor["floating_base"],
    )


def _rows(matrix: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def _joint(saved: Mapping[str, Any], rest: JointRecord) -> Joint:
    mimic = saved["mimic"]
    return Joint(
        id=saved["id"],
        name=saved["name"],
        kind=JointKind(saved["kind"]),
        parent=saved["parent_body"],
        placement=saved["T_parent_joint_zero"],
        axis=saved["axis"],
        pitch=saved["pitch"] or 0.0,
        q_start=saved["q_start"],
        v_start=saved["v_start"],
        mimic=None if mimic is None else Mimic(**mimic),
        limits=Limits(**saved["limits"]),
        damping=rest.damping,
        friction=rest.friction,
        source=rest.source,
    )


def _body(saved: Mapping[str, Any], rest: BodyRecord) -> Body:
    inertia = Inertia(rest.mass, rest.com, rest.rotational)
    return Body(saved["id"], saved["name"], inertia)


def _frame(saved: Mapping[str, Any]) -> Frame:
    return Frame(
        id=saved["id"],
        name=saved["name"],
        kind=FrameKind(saved["kind"]),
        body=saved["body"],
        placement=saved["T_body_frame"],
    )
