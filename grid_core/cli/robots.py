"""``grid robots``: robots kept by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from grid_core.bench.robot import BUNDLED, bundled_robot
from grid_core.cli.find_robot import find_robot
from grid_core.cli.options import (
    base_option,
    dtype_option,
    example,
    grid_command,
    json_flag,
    robot_argument,
    strict_option,
)
from grid_core.cli.output import print_json, print_table, say
from grid_core.errors import CacheError, GridError, OptionError, UnknownRobot
from grid_core.registry import data_dir, get_robot, list_registered, register_robot
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grid_core.handle import RobotHandle

__all__ = ["command"]


@click.group("robots", epilog=example("grid robots add arm arm.urdf", "grid robots list"))
def command() -> None:
    """Keep robots by name.

    Every command takes such a name, and so does grid_core.get_robot. They are in the folder that
    GRID_DATA_DIR names, or else in the user's own data folder.
    """


@grid_command("list", "grid robots list")
@json_flag
def list_robots(as_json: bool) -> None:
    """List the registered robots and those that come with Grid."""
    found = list(_describe())
    if as_json:
        print_json(found)
        return
    headers = ("name", "from", "base", "nq", "nv", "joints", "robot", "error")
    print_table(headers, [[row.get(h) for h in headers] for row in found], right=headers[3:6])


@grid_command("add", "grid robots add arm arm.urdf", "grid robots add dog dog.urdf --floating")
@click.argument("name")
@robot_argument
@base_option
@dtype_option
@click.option("--backend", help="Name of a backend. Left out: the best that runs, at each load.")
@click.option("--joint-dynamics", is_flag=True, help="Let damping and friction act.")
@strict_option
@click.option("--force", is_flag=True, help="Replace a robot that has the name already.")
def add(name: str, robot: str, floating: bool | None, force: bool, **options: Any) -> None:
    """Keep a copy of a robot's description under a name, with these options."""
    found = find_robot(robot, floating)
    if found.path is None:
        raise OptionError(f"{robot!r} is registered already; give a file")
    replaced = name in list_registered()
    if replaced and not force:
        raise OptionError(f"{name!r} is registered already; --force replaces it")
    register_robot(
        name,
        found.path,
        replace=force,
        floating_base=found.options["floating_base"],
        dtype=options["dtype"],
        backend=options["backend"],
        use_joint_dynamics=options["joint_dynamics"] or None,
        strict=options["strict"] or None,
    )
    say(f"{name}: {'replaced' if replaced else 'registered'} from {found.path}")


@grid_command("remove", "grid robots remove arm")
@click.argument("name")
def remove(name: str) -> None:
    """Forget a registered robot."""
    known = list_registered()
    if name not in known:
        if name in BUNDLED:
            raise UnknownRobot(f"{name!r} comes with Grid and is not registered")
        raise UnknownRobot(
            f"no robot is registered as {name!r}{near(name, known)}; there are {listing(known)}"
        )
    path = data_dir() / f"{name}.json"
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise CacheError(f"{name!r} cannot be removed: {error}") from error
    say(f"{name}: removed")


for _subcommand in (list_robots, add, remove):
    command.add_command(_subcommand)


def _describe() -> Iterator[dict[str, Any]]:
    reference = {"backend": "reference", "dtype": "float64", "algorithm_list": None}
    for name in list_registered():
        try:
            # No option of the registration is compiled, or asks for a machine that is not here.
            yield {"from": "registry", **_facts(name, get_robot(name, **reference))}
        except GridError as error:
            yield {"from": "registry", "name": name, "error": str(error)}
    for name in BUNDLED:
        yield {"from": "Grid", **_facts(name, bundled_robot(name).load(**reference))}


def _facts(name: str, handle: RobotHandle) -> dict[str, Any]:
    return {
        "name": name,
        "base": "floating" if handle.floating_base else "fixed",
        "nq": handle.nq,
        "nv": handle.nv,
        "joints": handle.nj,
        "robot": handle.name,
    }
