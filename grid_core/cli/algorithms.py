"""``grid algorithms``: what can be computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from attrs import asdict

from grid_core.cli.options import grid_command, json_flag
from grid_core.cli.output import print_json, print_table
from grid_core.loading import list_algorithms
from grid_core.plugins import plugin_manager

if TYPE_CHECKING:
    from grid_core.cli.guard import Session

__all__ = ["command"]


@grid_command("algorithms", "grid algorithms", "grid algorithms --json | jq -r '.[].name'")
@json_flag
@click.pass_obj
def command(session: Session, as_json: bool) -> None:
    """List every operation that the installed plugins offer."""
    found = list_algorithms()
    if as_json:
        print_json([asdict(info) for info in found])
    else:
        print_table(
            ("name", "family", "plugin", "version", "needs", "summary"),
            [
                (
                    info.name,
                    info.family,
                    f"{info.distribution} ({info.plugin})",
                    info.version,
                    ", ".join(info.needs),
                    info.summary,
                )
                for info in found
            ],
        )
    for record in plugin_manager().failures:
        session.warn(record.failure())
