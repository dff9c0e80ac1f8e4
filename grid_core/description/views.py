"""What each consumer sees of a description: the planner never rt-core's file, nor the reverse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.description.documents import (
    Motor,
    RtcoreDefinition,
    Sphere,
    Spheres,
    read_document,
)
from grid_core.description.shared import Shared, check_model_id
from grid_core.description.snapshot import RTCORE, SPHERES
from grid_core.description.srdf import read_named_poses

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.description.documents import Config
    from grid_core.description.snapshot import Snapshot
    from grid_core.model.types import RobotModel

__all__ = ["PlannerView", "RtAxis", "RtView", "read_planner_view", "read_rt_view"]


@frozen(eq=False)
class PlannerView:
    """URDF, SRDF, config and spheres."""

    model: RobotModel
    """Of the URDF alone: nothing is held."""
    config: Config
    spheres: Mapping[str, tuple[Sphere, ...]]
    """Of each link that has some, in its frame."""
    named_poses: Mapping[str, Mapping[str, float]]
    """The SRDF's states: positions by joint [rad or m]."""


@frozen
class RtAxis:
    """What rt-core holds an axis to; a machine's config cannot say otherwise."""

    joint: str
    lower: float | None
    """The URDF's least position [rad or m]; None for a continuous joint."""
    upper: float | None
    velocity: float
    """The URDF's rating [rad/s or m/s], which may be above the planner's."""
    trajectory_acceleration: float
    jog_acceleration: float


@frozen(eq=False)
class RtView:
    """URDF, config and the definition of motors; a bench has motors only."""

    axes: tuple[RtAxis, ...]
    motors: tuple[Motor, ...]

    def violations(
        self, positions: Mapping[str, float], velocities: Mapping[str, float]
    ) -> list[str]:
        """Say which axes are outside their travel or above their rating.

        Args:
            positions: by joint [rad or m].
            velocities: by joint, either sign [rad/s or m/s].
        """
        found = []
        for axis in self.axes:
            q, v = positions.get(axis.joint, 0.0), velocities.get(axis.joint, 0.0)
            low = axis.lower is not None and not q >= axis.lower
            if low or (axis.upper is not None and not q <= axis.upper):
                found.append(f"{axis.joint}: {q!r} is outside [{axis.lower!r}, {axis.upper!r}]")
            if not abs(v) <= axis.velocity:
                found.append(f"{axis.joint}: the speed {v!r} is above {axis.velocity!r}")
        return found


def read_planner_view(snapshot: Snapshot, shared: Shared | None) -> PlannerView | None:
    """Read spheres and SRDF, checked against the URDF where there is one."""
    at, data = snapshot.at(SPHERES), snapshot.document(SPHERES)
    spheres = None if data is None else read_document(Spheres, data, at)
    if spheres is not None:
        check_model_id(spheres.model_id, snapshot, at)
    if spheres is not None and shared is not None:
        links = {link.name for link in shared.model.links}
        for name in spheres.spheres:
            if name not in links:
                at.key("spheres").key(name).fault("there is no link of this name")
    path = snapshot.only(".srdf", required=False)
    srdf = None if path is None else snapshot.document(path)
    poses: dict[str, dict[str, float]] = {}
    if path is not None and srdf is not None and shared is not None:
        poses = read_named_poses(srdf, snapshot.model_id, shared.axes, snapshot.at(path))
    if spheres is None or shared is None:
        return None
    return PlannerView(shared.model, shared.config, spheres.spheres, poses)


def read_rt_view(snapshot: Snapshot, shared: Shared | None) -> RtView | None:
    """Read the motors, checked against the axes where there is a URDF."""
    at, data = snapshot.at(RTCORE), snapshot.document(RTCORE)
    rtcore = None if data is None else read_document(RtcoreDefinition, data, at)
    if rtcore is None:
        return None
    check_model_id(rtcore.model_id, snapshot, at)
    names = [motor.name for motor in rtcore.motors]
    bound = [motor.joint for motor in rtcore.motors]
    axes = () if shared is None else _axes(shared)
    known = {axis.joint for axis in axes}
    for number, motor in enumerate(rtcore.motors):
        place = at.key("motors").item(number)
        if motor.name in names[:number]:
            place.key("name").fault(f"a second motor {motor.name!r}")
        if snapshot.is_bench and motor.joint is not None:
            place.key("joint").fault("a bench has no joints")
        if shared is not None and motor.joint not in known:
            place.key("joint").fault(f"{motor.joint!r} is not an axis of the URDF")
    for axis in axes:
        if axis.joint not in bound:
            at.key("motors").fault(f"no motor turns joint {axis.joint!r}")
    return RtView(axes, rtcore.motors)


def _axes(shared: Shared) -> tuple[RtAxis, ...]:
    rates = shared.config.rt
    return tuple(
        RtAxis(
            joint=name,
            lower=joint.limits.lower,
            upper=joint.limits.upper,
            velocity=joint.limits.velocity or 0.0,
            trajectory_acceleration=rates.trajectory_acceleration.get(name, 0.0),
            jog_acceleration=rates.jog_acceleration.get(name, 0.0),
        )
        for name, joint in shared.axes.items()
    )
