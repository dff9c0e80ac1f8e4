"""The group behind ``grid``: Grid's own commands, the plugins', and readable failures."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import TYPE_CHECKING, Any

import click

from grid_core.cli.guard import Session, guarded, telling_closed_pipes
from grid_core.errors import GridError
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["GridGroup"]


class GridGroup(click.Group):
    """Imports a command when it is wanted, and asks plugins for those that it lacks."""

    def __init__(self, *args: Any, modules: Mapping[str, str], **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every name, sorted."""
        del ctx
        return sorted({*self.modules, *_plugin_commands()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return Grid's own command of a name, or else a plugin's."""
        del ctx
        if cmd_name in self.modules:
            command: click.Command = importlib.import_module(self.modules[cmd_name]).command
            return command
        if cmd_name not in _plugin_commands():
            return None
        from grid_core.plugins import plugin_manager  # noqa: PLC0415 - as in _plugin_commands

        try:
            return plugin_manager().commands.take(cmd_name).value
        except GridError as error:
            return _failing(cmd_name, str(error))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown one is answered with near names."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            known = self.list_commands(ctx)
            raise click.UsageError(
                f"there is no command {name!r}{near(name, known)}; there are {listing(known)}"
                f"{_left_out()}",
                ctx,
            )
        session = ctx.find_object(Session)
        if session is not None and name not in self.modules:
            session.provider = _provider(name)
        return super().resolve_command(ctx, args)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Read the command line, which prints where help or the version is wanted."""
        with telling_closed_pipes():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with telling_closed_pipes():
            return super().invoke(ctx)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run; unless told otherwise, exit, with errors and warnings as lines on stderr."""
        plain = functools.partial(
            super().main, args, prog_name, complete_var, standalone_mode=False, **extra
        )
        if not standalone_mode:
            return plain()
        session = Session()
        sys.exit(guarded(functools.partial(plain, obj=session), session))


def _plugin_commands() -> tuple[str, ...]:
    # Plugins are imported for --help and for unknown commands, not for the others' sake.
    from grid_core.plugins import plugin_manager  # noqa: PLC0415

    return plugin_manager().commands.names


def _provider(name: str) -> str | None:
    from grid_core.plugins import plugin_manager  # noqa: PLC0415 - as in _plugin_commands

    offers = plugin_manager().commands.claims.get(name, ())
    return str(offers[0].provider) if len(offers) == 1 else None


def _left_out() -> str:
    from grid_core.plugins import plugin_manager  # noqa: PLC0415 - as in _plugin_commands

    failed = [r.failure() for r in plugin_manager().failures if r.may_offer("grid_commands")]
    return f". Left out: {'; '.join(failed)}" if failed else ""


def _failing(name: str, reason: str) -> click.Command:
    """Return a command that says why it cannot be; listing the others still works."""

    def fail() -> None:
        raise GridError(reason)

    return click.Command(
        name,
        callback=fail,
        help=f"Not available: {reason}",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
