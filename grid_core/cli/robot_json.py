"""A robot model as JSON has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import asdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.model.types import Body, Joint, RobotModel

__all__ = ["robot_document", "total_mass"]


def total_mass(model: RobotModel) -> float:
    """Return the mass of all bodies that move [kg]."""
    return float(sum(body.inertia.mass for body in model.bodies))


def robot_document(model: RobotModel, notes: Sequence[str]) -> dict[str, Any]:
    """Return the model in SI units and radians; `notes` are those of its warnings that are none."""
    return {
        "name": model.name,
        "root_link": model.root_link,
        "floating_base": model.floating_base,
        "nq": model.nq,
        "nv": model.nv,
        "nj": model.nj,
        "nb": model.nb,
        "mass": total_mass(model),
        "joints": [_joint(joint) for joint in model.joints],
        "bodies": [_body(body) for body in model.bodies],
        "frames": [
            {
                "id": frame.id,
                "name": frame.name,
                "kind": frame.kind.value,
                "body": frame.body,
                "placement": frame.placement.tolist(),
            }
            for frame in model.frames
        ],
        "links": [
            {"name": link.name, "body": link.body, "placement": link.placement.tolist()}
            for link in model.links
        ],
        "end_effectors": [model.joints[leaf].name for leaf in model.leaves],
        "warnings": [text for text in model.warnings if text not in notes],
        "notes": list(notes),
    }


def _joint(joint: Joint) -> dict[str, Any]:
    return {
        "id": joint.id,
        "name": joint.name,
        "kind": joint.kind.value,
        "parent": joint.parent,
        "q_start": joint.q_start,
        "nq": joint.nq,
        "v_start": joint.v_start,
        "nv": joint.nv,
        "axis": None if joint.axis is None else joint.axis.tolist(),
        "pitch": joint.pitch,
        "placement": joint.placement.tolist(),
        "limits": asdict(joint.limits),
        "mimic": None if joint.mimic is None else asdict(joint.mimic),
        "damping": joint.damping,
        "friction": joint.friction,
        "source": joint.source,
    }


def _body(body: Body) -> dict[str, Any]:
    return {
        "id": body.id,
        "name": body.name,
        "mass": body.inertia.mass,
        "com": body.inertia.com.tolist(),
        "rotational": body.inertia.rotational.tolist(),
    }
