"""A robot's model and options from what an artifact saves of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import fields_dict

from grid_core.algorithm import Options
from grid_core.artifact.prepared_manifest import (
    MANIFEST,
    BodyRecord,
    JointRecord,
    LinkRecord,
    ModelRecord,
)
from grid_core.errors import ArtifactCorrupt, ArtifactIncompatible
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
from grid_core.wording import listing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.artifact.prepared_check import Prepared
    from grid_core.model.types import Array

__all__ = ["model_from", "model_record", "options_from"]


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
        links=tuple(Link(x.name, x.body, _array(x.placement, (4, 4))) for x in rest.links),
        root_link=rest.root_link,
        floating_base=descriptor["floating_base"],
    )


def options_from(prepared: Prepared) -> Options:
    """Return the options of the handle that an artifact was built for.

    Raises:
        ArtifactIncompatible: this Grid does not have such options.
        ArtifactCorrupt: they have values that options cannot have.
    """
    saved = prepared.manifest.options
    known = fields_dict(Options)
    unknown = sorted(set(saved) - set(known))
    if unknown:
        raise ArtifactIncompatible(
            f"it was built with options that this Grid does not have ({listing(unknown)}); build "
            "it again",
            directory=prepared.directory,
        )
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in saved.items()}
    wrong = [name for name, value in values.items() if type(value) is not type(known[name].default)]
    frames = range(len(prepared.model.frames))
    if not wrong and not all(type(k) is int and k in frames for k in values.get("targets", ())):
        wrong = ["targets"]
    if wrong:
        raise ArtifactCorrupt(
            f"options.{wrong[0]}: {saved[wrong[0]]!r} cannot be",
            directory=prepared.directory,
            file=MANIFEST,
        )
    return Options(**values)


def _array(rows: object, shape: tuple[int, ...]) -> Array:
    array = np.array(rows, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"an array of shape {array.shape}, where {shape} is needed")
    return array


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
    inertia = Inertia(rest.mass, _array(rest.com, (3,)), _array(rest.rotational, (3, 3)))
    return Body(saved["id"], saved["name"], inertia)


def _frame(saved: Mapping[str, Any]) -> Frame:
    return Frame(
        id=saved["id"],
        name=saved["name"],
        kind=FrameKind(saved["kind"]),
        body=saved["body"],
        placement=saved["T_body_frame"],
    )
