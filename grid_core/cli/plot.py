"""``grid plot``: a picture of the tree, to see whether the model is the one meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from grid_core.bench.plot import check_plot
from grid_core.cli.find_robot import find_robot
from grid_core.cli.options import FilePath, base_option, grid_command, robot_argument
from grid_core.cli.output import say
from grid_core.cli.sources import check_not_source
from grid_core.errors import InputError, OptionError
from grid_core.model.configuration import neutral_configuration
from grid_core.model.types import JointKind
from grid_core.reference.kinematics import forward_kinematics

if TYPE_CHECKING:
    from pathlib import Path

    from grid_core.model.types import Array, RobotModel

__all__ = ["command", "draw"]

COLOURS = {
    JointKind.REVOLUTE: "tab:orange",
    JointKind.CONTINUOUS: "tab:olive",
    JointKind.PRISMATIC: "tab:cyan",
    JointKind.HELICAL: "tab:pink",
    JointKind.SPHERICAL: "tab:purple",
    JointKind.FLOATING: "tab:gray",
}
AXES = ("red", "green", "blue")
MOST_NAMES = 40
"""Joints above which names would hide the picture."""


@grid_command(
    "plot",
    "grid plot robot.urdf -o robot.svg",
    "grid plot iiwa14 --q 0,0.5,0,-1,0,0.5,0 -o arm.png",
)
@robot_argument
@click.option(
    "--q", "text", help="Numbers with commas between. Left out: the neutral configuration."
)
@base_option
@click.option(
    "-o",
    "--output",
    type=FilePath(dir_okay=False),
    required=True,
    help="A .svg, .png or .pdf to write.",
)
def command(robot: str, text: str | None, floating: bool | None, output: Path) -> None:
    """Draw a robot's joints, bodies and frames in 3-D.

    A line is a body's way from one joint to the next, a dot a joint, in the colour of its kind;
    three short strokes are a frame's axes x, y and z in red, green and blue.
    """
    check_plot(output)
    found = find_robot(robot, floating)
    check_not_source("--output", output, [found.path])
    model = found.load(backend="reference", dtype="float64").model
    draw(model, _configuration(model, text), output)
    say(f"written to {output}")


def _configuration(model: RobotModel, text: str | None) -> Array:
    if text is None:
        return neutral_configuration(model)
    try:
        q = np.array([float(part) for part in text.replace(",", " ").split()])
    except ValueError as error:
        raise InputError(f"--q must be numbers with commas between; got {text!r}") from error
    if q.shape != (model.nq,) or not np.isfinite(q).all():
        raise InputError(f"--q must be nq={model.nq} finite numbers; got {text!r}")
    return q


def draw(model: RobotModel, q: Array, path: Path) -> None:
    """Draw a robot into a file; its suffix says which kind.

    Args:
        model: the robot.
        q: configuration, shape (nq,).
        path: the file.

    Raises:
        OptionError: matplotlib is missing, or the file cannot be written.
    """
    check_plot(path)
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    T = np.concatenate([np.eye(4)[None], forward_kinematics(model, q[None])[0]])  # root first
    frames = [(f, T[f.body + 1] @ f.placement) for f in model.frames]
    figure = Figure(figsize=(8.0, 8.0), layout="constrained")
    axes: Any = figure.add_subplot(projection="3d")
    points = np.array([placement[:3, 3] for _, placement in frames])
    middle, half = _box(points)
    for frame, placement in frames:
        _draw_axes(axes, placement, half * (0.12 if frame.kind.value != "fixed" else 0.06))
        if frame.kind.value == "fixed":
            _line(axes, T[frame.body + 1][:3, 3], placement[:3, 3], "lightgray")
    for joint in model.joints:
        origin = T[joint.id + 1][:3, 3]
        _line(axes, T[joint.parent + 1][:3, 3], origin, "black")
        axes.scatter(*origin, color=COLOURS[joint.kind], s=30, depthshade=False)
        if model.nj <= MOST_NAMES:
            axes.text(*origin, f" {joint.name}", fontsize=7, parse_math=False)
    for axis, centre, letter in zip("xyz", middle, ("x [m]", "y [m]", "z [m]"), strict=True):
        getattr(axes, f"set_{axis}lim")(centre - half, centre + half)
        getattr(axes, f"set_{axis}label")(letter)
    axes.set_box_aspect((1.0, 1.0, 1.0))
    axes.set_title(f"{model.name}: {_legend(model)}", fontsize=9, parse_math=False)
    try:
        figure.savefig(path)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror or error}") from error


def _box(points: Array) -> tuple[Array, float]:
    """Middle and half width of a cube around all."""
    low, high = points.min(axis=0), points.max(axis=0)
    return (low + high) / 2.0, max(float((high - low).max()) / 2.0, 0.05)


def _draw_axes(axes: Any, placement: Array, length: float) -> None:
    for k, colour in enumerate(AXES):
        tip = placement[:3, 3] + length * placement[:3, k]
        axes.plot(*zip(placement[:3, 3], tip, strict=True), color=colour, linewidth=1.0)


def _line(axes: Any, start: Array, end: Array, colour: str) -> None:
    axes.plot(*zip(start, end, strict=True), color=colour, linewidth=1.5)


def _legend(model: RobotModel) -> str:
    kinds = dict.fromkeys(joint.kind for joint in model.joints)
    return ", ".join(f"{kind.value} {COLOURS[kind].removeprefix('tab:')}" for kind in kinds)
