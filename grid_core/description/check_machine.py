"""The axes of a machine: bound to the robot's joints, or flat with limits of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grid_core.description.description import RobotDescription
    from grid_core.description.faults import Place
    from grid_core.description.machine_documents import Axis, Machine

__all__ = ["check_axes"]

_OWN = ("lower", "upper", "velocity", "acceleration")


def check_axes(machine: Machine, description: RobotDescription | None, at: Place) -> None:
    """Note every fault of a machine's axes.

    Args:
        machine: the config.
        description: of its robot; None where none is bound, or where it could not be read.
        at: the top of the config.
    """
    names = [axis.name for axis in machine.axes]
    bound = [axis.joint for axis in machine.axes]
    shared = None if description is None else description.shared
    for number, axis in enumerate(machine.axes):
        place = at.key("axes").item(number)
        if axis.name in names[:number]:
            place.key("name").fault(f"a second axis {axis.name!r}")
        _check_limits(axis, place)
        if axis.joint is None:
            continue
        if axis.joint in bound[:number]:
            place.key("joint").fault(f"{axis.joint!r} is bound twice")
        if machine.robot is None:
            place.key("joint").fault("this machine has no robot to bind to")
        elif description is not None and (shared is None or axis.joint not in shared.axes):
            place.key("joint").fault(f"{axis.joint!r} is not an axis of the robot")
    for name in () if shared is None else shared.axes:
        if name not in bound:
            at.key("axes").fault(f"no axis is bound to the robot's joint {name!r}")


def _check_limits(axis: Axis, at: Place) -> None:
    for key in _OWN:
        value = getattr(axis, key)
        if axis.joint is not None and value is not None:
            whose = "config.json" if key == "acceleration" else "the URDF"
            at.key(key).fault(f"a bound axis has it from {whose}; a machine cannot override it")
        if axis.joint is None and value is None:
            at.key(key).fault("missing: a flat axis has limits of its own")
    if axis.lower is not None and axis.upper is not None and axis.lower > axis.upper:
        at.fault(f"lower {axis.lower!r} is above upper {axis.upper!r}")
