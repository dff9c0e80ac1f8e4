"""``grid generate``: a robot's operations as a header for CUDA C++."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from grid_core.cli.options import (
    NAMES,
    FilePath,
    convention_option,
    grid_command,
    robot_argument,
    strict_option,
    targets_option,
)
from grid_core.cli.output import say

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]

_FLAGS = ("strict", "use_joint_dynamics", "runtime_inertia", "runtime_transform")
"""Options of `load_robot` that are on or as they are."""
_VALUES = ("ee_joint_names", "output_convention", "regressor_terms", "calibration")
"""Options of `load_robot` that are given or as they are."""


@grid_command(
    "generate",
    "grid generate robot.urdf -o grid.cuh",
    "grid generate robot.urdf -f -t left_wrist,right_wrist --algorithm-list fd,end_effector_pose",
)
@robot_argument
@targets_option
@click.option(
    "-f/ ",
    "--floating/--fixed",
    "floating",
    default=None,
    help="Whether the root link moves freely. Left out: as registered; go2 floats; else fixed.",
)
@click.option(
    "--algorithm-list",
    multiple=True,
    callback=NAMES,
    help="Operations by name, family or `all`.  [default: all]",
)
@click.option(
    "--given",
    multiple=True,
    callback=NAMES,
    help="Optional inputs, such as f_ext: operations that take them are there with them as well.",
)
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float64"]),
    default="float32",
    show_default=True,
    help="Type of all arrays.",
)
@click.option("--namespace", default="grid", show_default=True, help="C++ namespace of it all.")
@convention_option
@click.option("--use-joint-dynamics", is_flag=True, help="Joints' damping and friction act.")
@click.option(
    "--regressor-terms",
    multiple=True,
    callback=NAMES,
    help="What regressors have columns for after the bodies': viscous, coulomb, ...",
)
@click.option(
    "--runtime-inertia", is_flag=True, help="Operations that take inertias are there as well."
)
@click.option(
    "--runtime-transform",
    is_flag=True,
    help="Operations that take placements are there as well; the composer of frames refuses.",
)
@click.option(
    "--calibration",
    type=FilePath(exists=True, dir_okay=False),
    help="Of a robot-description directory: how a cell differs from it.",
)
@strict_option
@click.option("-o", "--output", type=FilePath(dir_okay=False), help="Write to a file instead.")
def command(robot: str, **o: Any) -> None:
    """Write a robot's operations as a CUDA header, grid.cuh.

    It holds the input block's constants, the model descriptor, and of each operation a function
    for one thread, a kernel, and host entries. It needs no GPU and no compiler to write, and
    nothing of Grid to compile.
    """
    from grid_core.cli.find_robot import find_robot  # noqa: PLC0415 - not for --help
    from grid_core.cli.sources import check_not_source  # noqa: PLC0415
    from grid_core.cli.states_file import check_folder  # noqa: PLC0415
    from grid_core.header import header_text  # noqa: PLC0415
    from grid_core.plugins import plugin_manager  # noqa: PLC0415

    check_folder(o["output"])
    options: dict[str, Any] = {"backend": "reference", "dtype": "float64"}
    options |= {name: True for name in _FLAGS if o[name]}
    options |= {name: o[name] for name in _VALUES if o[name]}
    algorithms = o["algorithm_list"] or None
    selection = plugin_manager().select(algorithms)
    found = find_robot(robot, o["floating"])
    check_not_source("--output", o["output"], [found.path, o["calibration"]])
    handle = found.load(**options)
    text = header_text(
        handle.model,
        handle.options,
        selection,
        dtype=o["dtype"],
        namespace=o["namespace"],
        optional_inputs=o["given"],
        required=algorithms or (),
    )
    _put(text, o["output"])


def _put(text: str, path: Path | None) -> None:
    from grid_core.errors import OptionError  # noqa: PLC0415 - not for --help

    if path is None:
        click.echo(text, nl=False)
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror or error}") from error
    say(f"written to {path}")
