"""``grid inspect``: the tree that Grid makes of a description."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import click

from grid_core.cli.find_robot import find_robot
from grid_core.cli.options import (
    base_option,
    grid_command,
    json_flag,
    robot_argument,
    strict_option,
)
from grid_core.cli.output import print_json, print_table, say
from grid_core.cli.robot_json import robot_document, total_mass
from grid_core.wording import printable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from grid_core.cli.guard import Session
    from grid_core.model.types import Joint, RobotModel

__all__ = ["command"]

DEEPEST = 16
"""Indentation stops there, or a long chain would fill the screen; the parents are named."""


@grid_command("inspect", "grid inspect robot.urdf --floating", "grid inspect iiwa14 --json")
@robot_argument
@base_option
@strict_option
@json_flag
@click.pass_obj
def command(
    session: Session, robot: str, floating: bool | None, strict: bool, as_json: bool
) -> None:
    """Show a robot's tree, limits and masses.

    The columns q and v are each joint's slots in those vectors; a joint that follows another has
    none. Warnings about the description come last, on stderr; notes are no fault of it.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = find_robot(robot, floating)
        model = found.load(backend="reference", dtype="float64", strict=strict).model
    warned = [str(warning.message) for warning in caught]
    notes = [text for text in model.warnings if text not in warned]
    if as_json:
        print_json(robot_document(model, notes))
    else:
        _print(model, notes)
    for text in warned:
        session.warn(text)


def _print(model: RobotModel, notes: list[str]) -> None:
    base = "floating base" if model.floating_base else "fixed base"
    name, root = printable(model.name), printable(model.root_link)
    say(f"{name}: {base}, root link {root}\n")
    if model.joints:
        _print_tree(model)
        say()
        _print_limits(model)
        say()
    leaves = ", ".join(printable(model.joints[leaf].name) for leaf in model.leaves)
    say(f"nq={model.nq}  nv={model.nv}  joints={model.nj}  bodies={model.nb}")
    say(f"links={len(model.links)}  named frames={len(model.frames)}")
    say(f"moving mass {total_mass(model):.6g} kg")
    say(f"end effectors: {leaves or 'none'}")
    for text in notes:
        say(f"note: {printable(text)}")


def _print_tree(model: RobotModel) -> None:
    depths: list[int] = []
    for joint in model.joints:
        depths.append(0 if joint.parent < 0 else depths[joint.parent] + 1)
    print_table(
        ("id", "joint", "kind", "parent", "body", "q", "v", "axis", "follows"),
        [
            (
                joint.id,
                "  " * min(depths[joint.id], DEEPEST) + joint.name,
                joint.kind.value,
                joint.parent,
                model.bodies[joint.id].name,
                _slots(joint.q_start, joint.nq),
                _slots(joint.v_start, joint.nv),
                _axis(joint.axis) + (f" pitch {joint.pitch:.6g} m/rad" if joint.pitch else ""),
                _follows(model, joint),
            )
            for joint in model.joints
        ],
        right=("id", "parent"),
    )


def _print_limits(model: RobotModel) -> None:
    bounds = ("lower", "upper", "velocity", "effort")
    # Few robots have these, and a terminal is only so wide.
    losses = [
        name for name in ("damping", "friction") if any(getattr(j, name) for j in model.joints)
    ]
    print_table(
        ("id", "joint", *bounds, *losses, "mass [kg]"),
        [
            (
                joint.id,
                joint.name,
                *(_number(getattr(joint.limits, name)) for name in bounds),
                *(_number(getattr(joint, name) or None) for name in losses),
                f"{model.bodies[joint.id].inertia.mass:.6g}",
            )
            for joint in model.joints
        ],
        right=("id", *bounds, *losses, "mass [kg]"),
    )


def _slots(start: int | None, width: int) -> str:
    if start is None:
        return "-"
    return str(start) if width == 1 else f"{start}:{start + width}"


def _axis(axis: NDArray[np.float64] | None) -> str:
    if axis is None:
        return "-"
    for k, letter in enumerate("xyz"):
        if abs(axis[k]) == 1.0:
            return letter if axis[k] > 0 else f"-{letter}"
    return " ".join(f"{entry:.6g}" for entry in axis)


def _follows(model: RobotModel, joint: Joint) -> str | None:
    mimic = joint.mimic
    if mimic is None:
        return None
    if mimic.leader is None:
        return f"constant {mimic.offset:.6g}"
    sign = "-" if mimic.offset < 0 else "+"
    offset = f" {sign} {abs(mimic.offset):.6g}" if mimic.offset else ""
    return f"{mimic.multiplier:.6g} * {model.joints[mimic.leader].name}{offset}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"
