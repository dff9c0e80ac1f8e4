"""``grid plugins``: who offers what, and who failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from attrs import asdict

from grid_core.cli.options import example, grid_command, json_flag
from grid_core.cli.output import print_json, print_table
from grid_core.cli.root import COMMANDS
from grid_core.plugins import plugin_manager
from grid_core.wording import listing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grid_core.cli.guard import Session
    from grid_core.plugins import PluginRecord

__all__ = ["command"]

KINDS = {
    "algorithms": "algorithms",
    "backends": "backends",
    "model_sources": "model sources",
    "commands": "commands",
    "headers": "headers",
}
"""What a plugin may offer: the record's attribute and the word for it."""


@click.group("plugins", epilog=example("grid plugins list"))
def command() -> None:
    """Show the installed plugins."""


@grid_command("list", "grid plugins list", "grid plugins list --json")
@json_flag
@click.pass_obj
def list_plugins(session: Session, as_json: bool) -> None:
    """List every plugin, with what it offers, or where it failed and why."""
    records = plugin_manager().records
    conflicts = tuple(_conflicts())
    if as_json:
        plugins = [asdict(record) for record in records]
        print_json({"plugins": plugins, "conflicts": conflicts})
        return
    print_table(
        ("plugin", "distribution", "version", "state", "offers", "failed at", "why"),
        [
            (r.name, r.distribution, r.version, r.state, _offers(r), r.stage, r.error)
            for r in records
        ],
    )
    for conflict in conflicts:
        session.warn(conflict)


command.add_command(list_plugins)


def _offers(record: PluginRecord) -> str:
    offered = [(word, getattr(record, kind)) for kind, word in KINDS.items()]
    return "; ".join(f"{word}: {', '.join(names)}" for word, names in offered if names)


def _conflicts() -> Iterator[str]:
    """Say which names several plugins claim, none of which can then be used."""
    manager = plugin_manager()
    for kind, word in KINDS.items():
        for name, providers in getattr(manager, kind).conflicts.items():
            yield f"{word}: {name!r} is claimed by {listing(providers)}"
    for name in manager.commands.names:
        if name in COMMANDS:
            who = listing(offer.provider for offer in manager.commands.claims[name])
            yield f"commands: {name!r} of {who} is hidden by Grid's own"
