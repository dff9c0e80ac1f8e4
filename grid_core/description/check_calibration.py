"""The rules of a calibration: it narrows and never widens, and corrects within the caps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from grid_core.description.shared import inside
from grid_core.model.types import JointKind, Limits
from grid_core.wording import near

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grid_core.description.documents import CalibrationDocument, Narrowing
    from grid_core.description.faults import Place
    from grid_core.description.shared import Shared
    from grid_core.model.types import Joint

__all__ = ["check_calibration"]

_COMPONENTS = {"xyz_m": ("x", "y", "z"), "rpy_rad": ("roll", "pitch", "yaw")}


def check_calibration(document: CalibrationDocument, shared: Shared, at: Place) -> None:
    """Note every fault of a calibration of this robot."""
    axes = shared.axes
    limits = {name: joint.limits for name, joint in axes.items()}
    for name, narrow in document.limits.items():
        place = at.key("limits").key(name)
        if _known(name, axes, "axis of the URDF", place):
            planned = shared.config.planning.velocity.get(name)
            limits[name] = _narrowed(narrow, axes[name], planned, place)
    held_at = at.key("held_joints")
    for name in document.held_joints:
        _known(name, axes, "axis of the URDF", held_at.key(name))
    for name, value in {**shared.config.held_joints, **document.held_joints}.items():
        if name in limits and not inside(value, limits[name]):
            bounds = limits[name]
            held_at.key(name).fault(
                f"held at {value!r}, outside [{bounds.lower!r}, {bounds.upper!r}]"
            )
    _check_ceiling(document, axes.values(), at)
    _check_corrections(document, shared, at)


def _known(name: str, names: Iterable[str], noun: str, at: Place) -> bool:
    names = list(names)
    if name not in names:
        at.fault(f"there is no such {noun}{near(name, names)}")
    return name in names


def _narrowed(narrow: Narrowing, joint: Joint, planned: float | None, at: Place) -> Limits:
    own = joint.limits
    stricter = own.velocity if planned is None else planned
    if narrow.velocity is not None and stricter is not None and narrow.velocity > stricter:
        at.key("velocity").fault(f"{narrow.velocity!r} is above the model's {stricter!r}")
    if joint.kind is JointKind.CONTINUOUS:
        for key, value in (("lower", narrow.lower), ("upper", narrow.upper)):
            if value is not None:
                at.key(key).fault("a continuous joint has no interval to narrow")
        return own
    lower = own.lower if narrow.lower is None else narrow.lower
    upper = own.upper if narrow.upper is None else narrow.upper
    if lower is not None and own.lower is not None and lower < own.lower:
        at.key("lower").fault(f"{lower!r} is wider than the URDF's {own.lower!r}")
    if upper is not None and own.upper is not None and upper > own.upper:
        at.key("upper").fault(f"{upper!r} is wider than the URDF's {own.upper!r}")
    if lower is not None and upper is not None and lower > upper:
        at.fault(f"lower {lower!r} is above upper {upper!r}")
    return evolve(own, lower=lower, upper=upper)


def _check_ceiling(document: CalibrationDocument, axes: Iterable[Joint], at: Place) -> None:
    ceiling = document.speed_ceiling_rad_s
    fastest = max((joint.limits.velocity or 0.0 for joint in axes), default=0.0)
    if ceiling is not None and ceiling > fastest:
        at.key("speed_ceiling_rad_s").fault(
            f"{ceiling!r} is above the URDF's fastest joint, {fastest!r}"
        )


def _check_corrections(document: CalibrationDocument, shared: Shared, at: Place) -> None:
    caps = shared.config.kinematic_correction_caps
    for name, change in document.kinematic_corrections.items():
        place = at.key("kinematic_corrections").key(name)
        _known(name, sorted(shared.joint_names), "joint in the URDF", place)
        pairs = (("xyz_m", change.xyz_m, caps.xyz_m), ("rpy_rad", change.rpy_rad, caps.rpy_rad))
        for key, values, most in pairs:
            for number, (value, cap) in enumerate(zip(values, most, strict=True)):
                if abs(value) > cap:
                    component = _COMPONENTS[key][number]
                    place.key(key).item(number).fault(
                        f"{component} {value!r} is beyond the cap {cap!r}"
                    )
