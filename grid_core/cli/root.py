"""The command ``grid`` and what is below it."""

from __future__ import annotations

import importlib.metadata
import platform

import click

from grid_core.cli.group import GridGroup
from grid_core.cli.options import debug_option

__all__ = ["COMMANDS", "cli"]

COMMANDS = {
    "algorithms": "grid_core.cli.algorithms",
    "artifact": "grid_core.cli.artifact",
    "bench": "grid_core.cli.bench",
    "cache": "grid_core.cli.cache",
    "check-load": "grid_core.cli.check_load",
    "demo": "grid_core.cli.demo",
    "describe": "grid_core.cli.describe",
    "description": "grid_core.cli.description",
    "generate": "grid_core.cli.generate",
    "excite": "grid_core.cli.excite",
    "identify": "grid_core.cli.identify",
    "inspect": "grid_core.cli.inspect_robot",
    "plot": "grid_core.cli.plot",
    "machine": "grid_core.cli.machine",
    "plugins": "grid_core.cli.plugins",
    "resources": "grid_core.cli.resources",
    "robots": "grid_core.cli.robots",
    "run": "grid_core.cli.run",
    "serve": "grid_core.cli.serve",
}
"""Where each command is; a module is imported when its command is wanted."""


def _print_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    try:
        version = importlib.metadata.version("grid-robotics")
    except importlib.metadata.PackageNotFoundError:
        version = "(not installed)"
    click.echo(f"grid {version} (Python {platform.python_version()})")
    ctx.exit()


@click.group(
    cls=GridGroup,
    modules=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Example:
  grid inspect go2
  grid run forward_dynamics iiwa14 --batch 100000
""",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@debug_option
def cli() -> None:
    """Batched robot dynamics and kinematics, compiled for one robot from its URDF.

    ROBOT is, wherever a command takes one: a path of a robot description, if there is such a
    file; else the name of a registered robot (`grid robots list`); else the name of one that
    comes with Grid: iiwa14, an arm, or go2, a quadruped.
    """
