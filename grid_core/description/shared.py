"""What the planner and rt-core both read: the URDF and ``config.json``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.description.documents import Config, read_document
from grid_core.description.snapshot import CONFIG
from grid_core.errors import ModelError
from grid_core.model.loading import read_urdf
from grid_core.model.types import FrameKind, JointKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grid_core.description.faults import Place
    from grid_core.description.snapshot import Snapshot
    from grid_core.model.types import Joint, Limits, RobotModel

__all__ = ["Shared", "check_model_id", "inside", "read_shared"]

_UNIT = 1e-9
"""How far from 1 the length of a unit vector may be."""


@frozen(eq=False)
class Shared:
    """The URDF as it is written, and the config."""

    urdf_path: str
    urdf: bytes
    model: RobotModel
    """Of the URDF alone: nothing is held."""
    config: Config

    @property
    def axes(self) -> dict[str, Joint]:
        """The joints that move by themselves, by name, in the order of the tree."""
        return _axes(self.model)

    @property
    def joint_names(self) -> frozenset[str]:
        """Every joint of the URDF, fixed ones included."""
        fixed = {f.name for f in self.model.frames if f.kind is FrameKind.FIXED}
        return frozenset(fixed | {joint.source for joint in self.model.joints})


def read_shared(snapshot: Snapshot) -> Shared | None:
    """Read both and note where one contradicts the other; None where one cannot be read."""
    config_at, config_data = snapshot.at(CONFIG), snapshot.document(CONFIG)
    config = None if config_data is None else read_document(Config, config_data, config_at)
    if config is not None:
        check_model_id(config.model_id, snapshot, config_at)
    path = snapshot.only(".urdf", required=True)
    urdf = None if path is None else snapshot.document(path)
    if path is None or urdf is None:
        return None
    model = _read_model(urdf, snapshot, snapshot.at(path))
    if model is None or config is None:
        return None
    _check_joints(config, model, config_at)
    _check_frames(config, model, config_at)
    return Shared(path, urdf, model, config)


def check_model_id(model_id: str, snapshot: Snapshot, at: Place) -> None:
    """Note a fault unless a file states the directory's model id."""
    if model_id != snapshot.model_id:
        at.key("model_id").fault(f"{model_id!r}, but the manifest says {snapshot.model_id!r}")


def inside(value: float, limits: Limits) -> bool:
    """Whether a position is within limits, the ends included."""
    above = limits.lower is None or value >= limits.lower
    return above and (limits.upper is None or value <= limits.upper)


def _read_model(urdf: bytes, snapshot: Snapshot, at: Place) -> RobotModel | None:
    try:
        model, _ = read_urdf(urdf, at.file)
    except ModelError as error:
        snapshot.faults.found.append(str(error))
        return None
    if model.name != snapshot.model_id:
        at.fault(
            f"<robot> attribute 'name': {model.name!r}, but the manifest says {snapshot.model_id!r}"
        )
    return model


def _axes(model: RobotModel) -> dict[str, Joint]:
    return {j.name: j for j in model.joints if j.q_start is not None}


def _check_joints(config: Config, model: RobotModel, at: Place) -> None:
    axes = _axes(model)
    for name, joint in axes.items():
        _check_axis(name, joint, at)
    both = [name for name in config.driven_joints if name in config.held_joints]
    for name in both:
        at.key("held_joints").key(name).fault("driven as well")
    if not config.driven_joints:
        at.key("driven_joints").fault("needs at least one joint")
    ways = {*config.driven_joints, *config.held_joints}
    _same_names(ways, axes, at, "driven or held", "an axis of the URDF")
    held_at, reset_at = at.key("held_joints"), at.key("reset_pose")
    for place, values in ((held_at, config.held_joints), (reset_at, config.reset_pose)):
        for name, value in values.items():
            if name in axes and not inside(value, axes[name].limits):
                place.key(name).fault(f"{value!r} is outside the URDF's limits")
    planning, rt = at.key("planning"), at.key("rt")
    tables: list[tuple[Place, Mapping[str, float], Iterable[str]]] = [
        (reset_at, config.reset_pose, config.driven_joints),
        (planning.key("velocity"), config.planning.velocity, config.driven_joints),
        (planning.key("acceleration"), config.planning.acceleration, config.driven_joints),
        (rt.key("trajectory_acceleration"), config.rt.trajectory_acceleration, axes),
        (rt.key("jog_acceleration"), config.rt.jog_acceleration, axes),
    ]
    for place, values, wanted in tables:
        _same_names(values, wanted, place, "given", "asked for here")
    for name, value in config.planning.velocity.items():
        rating = axes[name].limits.velocity if name in axes else None
        if rating is not None and value > rating:
            planning.key("velocity").key(name).fault(f"{value!r} is above the URDF's {rating!r}")


def _check_axis(name: str, joint: Joint, at: Place) -> None:
    limits = joint.limits
    if joint.name != joint.source or joint.nq != 1:
        at.fault(f"joint {name!r} of the URDF is no axis: it has several coordinates")
    elif limits.velocity is None or limits.velocity == 0.0:
        at.fault(f"joint {name!r} has no velocity in the URDF")
    elif joint.kind is not JointKind.CONTINUOUS and None in {limits.lower, limits.upper}:
        at.fault(f"joint {name!r} has no lower and upper limit in the URDF")


def _same_names(
    given: Iterable[str], wanted: Iterable[str], at: Place, missing: str, known: str
) -> None:
    given, wanted = dict.fromkeys(given), dict.fromkeys(wanted)
    for name in wanted:
        if name not in given:
            at.fault(f"joint {name!r} is not {missing}")
    for name in given:
        if name not in wanted:
            at.fault(f"joint {name!r} is not {known}")


def _check_frames(config: Config, model: RobotModel, at: Place) -> None:
    links = {link.name for link in model.links}
    for name, surface in config.surfaces.items():
        place = at.key("surfaces").key(name)
        if name in links:
            place.fault("a link of the URDF has this name")
        if surface.link not in links:
            place.key("link").fault(f"there is no link {surface.link!r}")
    frames = config.frames
    for key, name in (("base", frames.base), ("tool", frames.tool), ("work", frames.work)):
        if name not in links and name not in config.surfaces:
            at.key("frames").key(key).fault(f"there is no link or surface {name!r}")
    axis = config.torch.electrode_axis
    if abs(math.hypot(*axis) - 1.0) > _UNIT:
        at.key("torch").key("electrode_axis").fault(f"not a unit vector: {list(axis)}")
