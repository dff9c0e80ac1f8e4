"""Finding the plugins that installed distributions announce."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.plugins.records import Provider

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["GROUP", "Announcement", "announcements"]

GROUP = "grid.plugins"
"""Group of the entry points."""


@frozen
class Announcement:
    """A plugin not yet imported."""

    provider: Provider
    load: Callable[[], object]
    """Import it: returns the module, or object, that implements the hooks."""

    @classmethod
    def of(
        cls, plugin: object, name: str, *, distribution: str = "in-process", version: str = "0"
    ) -> Announcement:
        """Announce a module or object that is at hand, without an entry point."""
        return cls(Provider(distribution, name, version), lambda: plugin)


def announcements() -> tuple[Announcement, ...]:
    """Return every installed plugin, sorted by distribution and name."""
    found = {}
    for point in importlib.metadata.entry_points(group=GROUP):
        distribution = point.dist.name if point.dist is not None else "unknown distribution"
        version = point.dist.version if point.dist is not None else "unknown"
        provider = Provider(distribution, point.name, version)
        found[provider, point.value] = Announcement(provider, point.load)
    return tuple(found[key] for key in sorted(found))
