"""``grid excite``: a motion from which a robot's parameters can be told well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from grid_core.cli.find_robot import find_robot
from grid_core.cli.options import COUNT, SEED, FilePath, grid_command, json_flag, robot_argument
from grid_core.cli.output import error_console, print_json, print_table, say
from grid_core.cli.states_file import check_folder, check_npz
from grid_core.errors import OptionError
from grid_core.identification.excitation import excite
from grid_core.identification.excitation_payload import with_payload
from grid_core.identification.extra import require
from grid_core.loading import load_robot
from grid_core.model.parameters import TERMS

if TYPE_CHECKING:
    from pathlib import Path

    from grid_core.handle import RobotHandle
    from grid_core.identification.excitation import Excitation

__all__ = ["command"]

OPERATIONS = ["inverse_dynamics_regressor", "inverse_dynamics_regressor_packed"]


@grid_command(
    "excite",
    "grid excite iiwa14 -o trajectory.npz",
    "grid excite robot.urdf -o trajectory.npz --period 20 --harmonics 8 --payload 2.5,0,0,0.1",
)
@robot_argument
@click.option(
    "-o",
    "--output",
    type=FilePath(dir_okay=False),
    required=True,
    help="An .npz to write: t, q, qd, qdd, joint_names and the series.",
)
@click.option("--period", type=float, default=10.0, show_default=True, help="[s]")
@click.option("--harmonics", type=COUNT, default=10, show_default=True, help="Of each joint.")
@click.option(
    "--rate", type=float, default=1000.0, show_default=True, help="Samples a second [Hz]."
)
@click.option(
    "--margin",
    type=float,
    default=0.05,
    show_default=True,
    help="Part of each limit of position, velocity and effort that is left free.",
)
@click.option("--acceleration", type=float, help="Largest of any joint [rad/s² or m/s²].")
@click.option(
    "--payload",
    metavar="KG[,X,Y,Z]",
    help="A mass that the robot holds, and where in the frame [m]: its efforts count.",
)
@click.option(
    "--payload-frame", metavar="NAME", help="Left out: the only joint that carries no other."
)
@click.option(
    "--friction", is_flag=True, help="Let the joints' friction, offsets and rotors count as well."
)
@click.option(
    "--gravity", type=float, default=-9.81, show_default=True, help="Along the world's z [m/s²]."
)
@click.option(
    "--starts", type=COUNT, default=2, show_default=True, help="Random motions to improve."
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the random motions.")
@json_flag
def command(robot: str, output: Path, as_json: bool, **o: Any) -> None:
    """Find an exciting trajectory within a robot's limits.

    Each joint moves by a Fourier series that starts and ends at rest. The motion keeps to the
    limits of position, velocity and effort, and makes the condition number of the base regressor
    small. The base is fixed: what floats cannot be moved at will.
    """
    check_npz(output)
    check_folder(output)
    require("scipy.optimize")
    handle = _load(robot, o)
    found = _search(handle, o)
    found.save(output)
    if as_json:
        print_json(found.to_dict())
        return
    _print(handle, found)
    say(f"written to {output}")


def _load(robot: str, o: dict[str, Any]) -> RobotHandle:
    terms = TERMS if o["friction"] else ()
    options: dict[str, Any] = {
        "algorithm_list": OPERATIONS,
        "regressor_terms": terms,
        "dtype": "float64",
    }
    handle = find_robot(robot, floating=False).load(**options)
    if o["payload"] is None:
        if o["payload_frame"] is not None:
            raise OptionError("--payload-frame is where --payload is held; give that as well")
        return handle
    mass, *com = _numbers(o["payload"])
    loaded = with_payload(handle.model, mass, com=com or (0.0, 0.0, 0.0), frame=o["payload_frame"])
    return load_robot(loaded, **options)


def _numbers(text: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 4):
        raise OptionError(f"--payload is a mass, or a mass and a place: KG or KG,X,Y,Z; got {text}")
    return numbers


def _search(handle: RobotHandle, o: dict[str, Any]) -> Excitation:
    from rich.progress import Progress  # noqa: PLC0415 - slow to import

    console = error_console()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("looking for motions", total=1.0)
        return excite(
            handle,
            period=o["period"],
            harmonics=o["harmonics"],
            rate=o["rate"],
            margin=o["margin"],
            acceleration=o["acceleration"],
            gravity=o["gravity"],
            starts=o["starts"],
            seed=o["seed"],
            progress=lambda part: progress.update(task, completed=part),
        )


def _print(handle: RobotHandle, found: Excitation) -> None:
    series = found.series
    say(
        f"{found.robot}: {series.period:g} s, {len(series.sines)} harmonics, "
        f"{len(found.time)} samples"
    )
    say(f"condition number of the {found.rank} base parameters' regressor: {found.condition:.4g}")
    say(
        f"best of 100 random ones: {found.random_condition:.4g}, and stretched to the limits "
        f"{found.stretched_condition:.4g}\n"
    )
    joints = [joint for joint in handle.model.joints if joint.v_start is not None]
    rows = []
    for k, joint in enumerate(joints):
        lim = joint.limits
        rows.append(
            (
                joint.name,
                f"{found.q[:, k].min():.3f} to {found.q[:, k].max():.3f}",
                _of(found.qd[:, k], lim.velocity),
                f"{abs(found.qdd[:, k]).max():.3f}",
                _of(found.tau[:, k], lim.effort),
            )
        )
    headers = ("joint", "position", "velocity", "acceleration", "effort")
    print_table(headers, rows, right=headers[1:])


def _of(x: Any, limit: float | None) -> str:
    most = f"{abs(x).max():.3f}"
    return most if not limit else f"{most} of {limit:.6g}"
