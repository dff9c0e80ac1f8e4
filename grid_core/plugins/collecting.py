"""Importing one plugin, calling its hooks and checking what they return."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pluggy
from attrs import field, frozen

from grid_core import hookspecs
from grid_core.contract import (
    check_algorithm,
    check_backend,
    check_command,
    check_header_writer,
    check_model_source,
)
from grid_core.errors import ContractError
from grid_core.plugins.records import PluginRecord, Stage

if TYPE_CHECKING:
    from grid_core.plugins.discovery import Announcement

__all__ = ["Contribution", "collect"]

_CHECKS: Mapping[str, Callable[[object], None]] = {
    "grid_algorithms": check_algorithm,
    "grid_backends": check_backend,
    "grid_model_sources": check_model_source,
    "grid_commands": check_command,
    "grid_headers": check_header_writer,
}


@frozen
class Contribution:
    """A plugin's record and, when it loaded, the records it offers by hook."""

    record: PluginRecord
    offered: Mapping[str, tuple[Any, ...]] = field(factory=dict)


class _Failure(Exception):
    """Carries the stage at which a plugin failed."""

    def __init__(self, stage: Stage, reason: str) -> None:
        super().__init__(reason)
        self.stage = stage


def collect(announcement: Announcement) -> Contribution:
    """Load a plugin; whatever goes wrong becomes a failed record."""
    hooks: tuple[str, ...] | None = None
    offered: dict[str, tuple[Any, ...]] = {}
    stage: Stage | None = None
    error = None
    try:
        manager = _register(_load(announcement))
        hooks = tuple(h for h in _CHECKS if getattr(manager.hook, h).get_hookimpls())
        for hook in hooks:
            offered[hook] = _call(manager, hook)
        for hook in hooks:
            _check(hook, offered[hook])
    except _Failure as failure:
        stage, error = failure.stage, str(failure)
    record = PluginRecord(
        provider=announcement.provider,
        state="loaded" if error is None else "failed",
        stage=stage,
        error=error,
        hooks=hooks,
        algorithms=_names(offered.get("grid_algorithms", ())),
        families=_names(offered.get("grid_algorithms", ()), "family"),
        backends=_names(offered.get("grid_backends", ())),
        model_sources=_names(offered.get("grid_model_sources", ())),
        commands=_names(offered.get("grid_commands", ())),
        headers=_names(offered.get("grid_headers", ())),
    )
    return Contribution(record, offered if error is None else {})


def _load(announcement: Announcement) -> object:
    try:
        return announcement.load()
    except (Exception, SystemExit) as error:
        raise _Failure("import", _say(error)) from error


def _register(plugin: object) -> pluggy.PluginManager:
    # A manager for each plugin: what one does to its manager cannot reach another's hooks.
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(plugin)
        manager.check_pending()
    except (Exception, SystemExit) as error:
        raise _Failure("register", _say(error)) from error
    unmarked = [
        hook
        for hook in _CHECKS
        if hasattr(plugin, hook) and not getattr(manager.hook, hook).get_hookimpls()
    ]
    if unmarked:
        raise _Failure("register", f"{unmarked[0]} is not marked with @hookimpl")
    if not any(getattr(manager.hook, hook).get_hookimpls() for hook in _CHECKS):
        raise _Failure("register", f"it implements no hook; there are {', '.join(_CHECKS)}")
    return manager


def _call(manager: pluggy.PluginManager, hook: str) -> tuple[Any, ...]:
    try:
        results: list[Any] = getattr(manager.hook, hook)()
    except (Exception, SystemExit) as error:
        raise _Failure("hook", f"{hook}: {_say(error)}") from error
    if not results:
        raise _Failure("contract", f"{hook} returned None; return a list, if need be an empty one")
    if not isinstance(results[0], Iterable):
        kind = type(results[0]).__name__
        raise _Failure("contract", f"{hook} returned an object of type {kind}, not a list")
    try:
        # A generator's error appears only here.
        return tuple(results[0])
    except (Exception, SystemExit) as error:
        raise _Failure("hook", f"{hook}: {_say(error)}") from error


def _check(hook: str, records: tuple[Any, ...]) -> None:
    for record in records:
        try:
            _CHECKS[hook](record)
        except ContractError as error:
            raise _Failure("contract", f"{hook}: {error}") from error
    names = _names(records)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise _Failure("contract", f"{hook} returned {twice[0]!r} twice")


def _names(records: tuple[Any, ...], attribute: str = "name") -> tuple[str, ...]:
    names = [getattr(record, attribute, None) for record in records]
    found = [name for name in names if isinstance(name, str)]
    return tuple(found) if attribute == "name" else tuple(dict.fromkeys(found))


def _say(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
