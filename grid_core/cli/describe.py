"""``grid describe``: what a robot's numbers mean, and what differs between two robots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from grid_core.cli.find_robot import find_robot
from grid_core.cli.options import FilePath, base_option, expanded, grid_command, strict_option
from grid_core.cli.output import say
from grid_core.cli.sources import check_not_source
from grid_core.description.plugin import is_description
from grid_core.descriptor import describe_model, differences, load_descriptor, to_json
from grid_core.descriptor.read import is_descriptor_text
from grid_core.errors import GridError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@grid_command(
    "describe",
    "grid describe robot.urdf --floating -o model_descriptor.json",
    "grid describe --diff before.urdf after.urdf",
    "grid describe --diff model_descriptor.json robot.urdf --floating",
)
@click.argument("robots", nargs=-1, required=True, metavar="ROBOT [ROBOT]")
@base_option
@strict_option
@click.option(
    "--calibration",
    type=FilePath(exists=True, dir_okay=False),
    help="Of a robot-description directory: how a cell differs from it.",
)
@click.option("-o", "--output", type=FilePath(dir_okay=False), help="Write to a file instead.")
@click.option("--diff", is_flag=True, help="Say what differs from one robot to another.")
def command(
    robots: tuple[str, ...],
    *,
    floating: bool | None,
    strict: bool,
    calibration: Path | None,
    output: Path | None,
    diff: bool,
) -> int:
    """Print what a robot's numbers mean, as JSON.

    That is the model descriptor of ROBOT: its coordinates, joints, limits and frames.
    A descriptor that was saved may stand for a robot; it is checked. With --diff, the exit code
    is 1 if the two differ.
    """
    wanted = 2 if diff else 1
    if len(robots) != wanted:
        robot_s = "two robots" if diff else "one robot (--diff compares two)"
        raise click.UsageError(f"describe needs {robot_s}; got {len(robots)}")
    sources = [expanded(text, "ROBOT") for text in robots]
    check_not_source("--output", output, [*sources, calibration])
    found = [_descriptor(text, floating, strict, calibration) for text in robots]
    if diff:
        lines = differences(*found)
        _write("\n".join(lines) or "no difference", output)
        return 1 if lines else 0
    _write(to_json(found[0]), output)
    return 0


def _descriptor(
    text: str, floating: bool | None, strict: bool, calibration: Path | None
) -> dict[str, Any]:
    path = expanded(text, "ROBOT")
    if calibration is not None or is_description(path):
        return describe_model(
            path, floating_base=bool(floating), strict=strict, calibration=calibration
        )
    if not path.is_file():
        options = {"strict": True} if strict else {}
        return find_robot(text, floating).load(**options).model_descriptor
    with path.open("rb") as stream:
        start = stream.read(4096)
    if is_descriptor_text(start):
        return load_descriptor(path)
    return describe_model(path, floating_base=bool(floating), strict=strict)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        say(text)
        return
    try:
        output.write_text(f"{text}\n", encoding="utf-8")
    except BrokenPipeError:
        raise
    except OSError as error:
        raise GridError(f"{output} cannot be written: {error.strerror}") from error
