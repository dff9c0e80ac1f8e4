"""``grid cache``: the compiled operations kept on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grid_core.artifact import BuildStore
from grid_core.cli.options import example, grid_command, json_flag
from grid_core.cli.output import print_json, print_table, say
from grid_core.errors import CacheError
from grid_core.load_options import default_cache_dir

if TYPE_CHECKING:
    from grid_core.cli.guard import Session

__all__ = ["command"]


@click.group("cache", epilog=example("grid cache info", "grid cache clear"))
def command() -> None:
    """Show or clear the build cache.

    It is in the folder that GRID_CACHE_DIR names, or else in the user's own cache folder.
    """


@grid_command("info", "grid cache info", "GRID_CACHE_DIR=/tmp/builds grid cache info --json")
@json_flag
@click.pass_obj
def info(session: Session, as_json: bool) -> None:
    """List what is kept."""
    store = BuildStore(default_cache_dir())
    entries = list(store.entries())
    size = sum(entry.size for entry in entries)
    if as_json:
        builds = [
            {"path": str(e.path), "what": dict(e.what), "size": e.size, "sound": e.sound}
            for e in entries
        ]
        print_json({"folder": str(store.root), "size": size, "builds": builds})
        return
    if entries:
        words = ("operation", "robot", "backend", "dtype", "optional inputs")
        print_table(
            (*words, "bytes"),
            [(*(str(e.what.get(word, "")) for word in words), e.size) for e in entries],
            right=("bytes",),
        )
        say()
    say(f"{store.root}: {len(entries)} builds, {size / 2**20:.1f} MiB")
    damaged = sum(not entry.sound for entry in entries)
    if damaged:
        session.warn(f"{damaged} of them damaged; they are rebuilt when they are wanted")


@grid_command("clear", "grid cache clear")
def clear() -> None:
    """Delete every build; the next load compiles again."""
    store = BuildStore(default_cache_dir())
    try:
        count = store.clear()
    except OSError as error:
        raise CacheError(f"build cache {store.root} cannot be cleared: {error}") from error
    say(f"{store.root}: {count} builds deleted")


command.add_command(info)
command.add_command(clear)
