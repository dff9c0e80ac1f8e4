"""The plugin manager: loads every plugin once, keeps the records, hands out what is asked for."""

from __future__ import annotations

import functools
import graphlib
import threading
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any

from attrs import evolve

from grid_core.errors import PluginError, PluginWarning
from grid_core.plugins.catalogue import Catalogue, Offer
from grid_core.plugins.collecting import Contribution, collect
from grid_core.plugins.discovery import Announcement, announcements
from grid_core.plugins.selection import ALL, Selection, as_names, family_clash, select
from grid_core.wording import listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import click

    from grid_core.algorithm import Algorithm
    from grid_core.backend import Backend
    from grid_core.header import HeaderWriter
    from grid_core.model.source import ModelSource
    from grid_core.plugins.records import PluginRecord, Provider

__all__ = ["PluginManager", "plugin_manager", "register_plugin"]


class PluginManager:
    """Every plugin that is installed, or those that are given.

    Attributes:
        records: one for each plugin, sorted by distribution and name, failed ones too.
        algorithms: what the plugins that loaded offer.
        backends: the same.
        model_sources: the same.
        commands: the same.
        headers: the same.
    """

    def __init__(self, plugins: Iterable[Announcement] | None = None) -> None:
        """Load the plugins given, or all that are installed. A plugin's failure never raises."""
        announced = announcements() if plugins is None else tuple(plugins)
        announced = tuple(sorted(announced, key=lambda a: a.provider))
        contributions = _drop_unmet_needs([collect(a) for a in announced])
        self.records: tuple[PluginRecord, ...] = tuple(c.record for c in contributions)
        twins = _twins(self.records)

        def catalogue(kind: str, hook: str) -> Catalogue[Any]:
            return Catalogue(kind, hook, _claims(contributions, hook), self.records, twins)

        self.algorithms: Catalogue[Algorithm] = catalogue("algorithm", "grid_algorithms")
        self.backends: Catalogue[Backend] = catalogue("backend", "grid_backends")
        self.model_sources: Catalogue[ModelSource] = catalogue("model source", "grid_model_sources")
        self.commands: Catalogue[click.Command] = catalogue("command", "grid_commands")
        self.headers: Catalogue[HeaderWriter] = catalogue("header", "grid_headers")
        self._warned = False

    @property
    def failures(self) -> tuple[PluginRecord, ...]:
        """Records of the plugins that were left out."""
        return tuple(record for record in self.records if record.failed)

    @property
    def conflicts(self) -> tuple[str, ...]:
        """Say of each name that is claimed twice who claims it; an error for whoever wants it."""
        catalogues = (
            self.algorithms,
            self.backends,
            self.model_sources,
            self.commands,
            self.headers,
        )
        found = [
            f"{catalogue.kind} {name!r}: {listing(providers)}"
            for catalogue in catalogues
            for name, providers in catalogue.conflicts.items()
        ]
        for name in self.algorithms.names:
            clash = family_clash(self.algorithms, name)
            if clash:
                found.append(f"algorithm and family {name!r}: {clash[0]} and {listing(clash[1])}")
        twins = self.algorithms.twins.items()
        return (*found, *(f"plugin {name!r}: {listing(who)}" for name, who in sorted(twins)))

    def select(self, names: str | Iterable[str] | None = None) -> Selection:
        """Choose algorithms by names, families or ``all``; None is ``all``.

        Raises:
            OptionError: `names` is neither a name nor a list of names.
            UnknownAlgorithm: no algorithm or family has such a name.
            PluginConflict: two plugins claim a name chosen or needed.
            PluginError: a name's plugin failed to load.

        Warns:
            PluginWarning: everything is asked for and a plugin was left out; once.
        """
        wanted = as_names(names)
        if ALL in wanted and not self._warned:
            self._warned = True
            for record in self.failures:
                if record.may_offer("grid_algorithms"):
                    warnings.warn(record.failure(), PluginWarning, stacklevel=5)
        return select(self.algorithms, wanted)


_registered: dict[str, Announcement] = {}
_REGISTERING = threading.Lock()


@functools.cache
def plugin_manager() -> PluginManager:
    """Return the process's plugin manager; the first call loads the installed plugins."""
    return _made(_registered)


def _made(registered: Mapping[str, Announcement]) -> PluginManager:
    """Load what is installed and registered.

    What an object computes may hang on what it was made with, so its builds are not kept.
    """
    made = PluginManager([*announcements(), *registered.values()])
    objects = {a.provider for a in registered.values() if not isinstance(a.load(), ModuleType)}
    if objects:
        from grid_core.artifact.identity import keep_no_builds  # noqa: PLC0415 - rarely needed

        for offers in made.algorithms.claims.values():
            for offer in offers:
                if offer.provider in objects:
                    keep_no_builds(offer.value)
    return made


def register_plugin(plugin: object, name: str | None = None) -> None:
    """Offer a plugin to every robot that this process loads from now on, without installing it.

    Args:
        plugin: a module, or an object, that implements hooks of `grid_core.hookspecs`.
        name: what messages call it; its own name if None. One registered before under that name
            is replaced, so that a notebook's cell may run again.

    Raises:
        PluginError: it cannot be loaded, and why; nothing is registered then.
    """
    name = name or str(getattr(plugin, "__name__", type(plugin).__name__))
    with _REGISTERING:
        kept = {**_registered, name: Announcement.of(plugin, name)}
        for record in _made(kept).failures:
            if record.provider == kept[name].provider:
                raise PluginError(record.failure())
        _registered[name] = kept[name]
        plugin_manager.cache_clear()


def _claims(contributions: list[Contribution], hook: str) -> Mapping[str, tuple[Offer[Any], ...]]:
    claims: dict[str, tuple[Offer[Any], ...]] = {}
    for contribution in contributions:
        for value in contribution.offered.get(hook, ()):
            offer = Offer(value, contribution.record.provider)
            claims[value.name] = (*claims.get(value.name, ()), offer)
    return claims


def _twins(records: Iterable[PluginRecord]) -> Mapping[str, tuple[Provider, ...]]:
    by_name: dict[str, tuple[Provider, ...]] = {}
    for record in records:
        by_name[record.name] = (*by_name.get(record.name, ()), record.provider)
    return {name: providers for name, providers in by_name.items() if len(providers) > 1}


def _drop_unmet_needs(contributions: list[Contribution]) -> list[Contribution]:
    """Fail every plugin with an algorithm whose needs are not there, or go in a circle."""
    while True:
        algorithms = [
            algorithm
            for contribution in contributions
            for algorithm in contribution.offered.get("grid_algorithms", ())
        ]
        names = {algorithm.name for algorithm in algorithms}
        circle = _circle(algorithms)
        checked = [_check_needs(contribution, names, circle) for contribution in contributions]
        if all(new is old for new, old in zip(checked, contributions, strict=True)):
            return checked
        contributions = checked


def _check_needs(contribution: Contribution, names: set[str], circle: list[str]) -> Contribution:
    for algorithm in contribution.offered.get("grid_algorithms", ()):
        missing = sorted(set(algorithm.needs) - names)
        if missing:
            error = f"{algorithm.name} needs {missing[0]!r}, which no plugin offers"
        elif algorithm.name in circle:
            error = f"{algorithm.name} needs itself: {' -> '.join(circle)}"
        else:
            continue
        record = evolve(contribution.record, state="failed", stage="needs", error=error)
        return Contribution(record)
    return contribution


def _circle(algorithms: list[Algorithm]) -> list[str]:
    try:
        graphlib.TopologicalSorter({a.name: sorted(a.needs) for a in algorithms}).prepare()
    except graphlib.CycleError as error:
        return list(reversed(error.args[1]))
    return []
