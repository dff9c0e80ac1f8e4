"""What is known about one plugin."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

__all__ = ["PluginRecord", "Provider", "Stage"]

Stage = Literal["import", "register", "hook", "contract", "needs"]
"""Where a plugin failed.

import: its module could not be imported; register: it implements a hook that does not exist, or
none; hook: a hook of its raised; contract: a hook returned something that is not a record as
`grid_core.contract` wants it; needs: an algorithm of its needs one that no plugin offers.
"""


@frozen(order=True)
class Provider:
    """Who offers something: a plugin of an installed distribution."""

    distribution: str
    """Name of the distribution, as pip knows it."""
    plugin: str
    """Name of the entry point."""
    version: str
    """Version of the distribution."""

    @property
    def release(self) -> str:
        """Distribution and version, as they go into an artifact."""
        return f"{self.distribution} {self.version}"

    def __str__(self) -> str:
        return f"{self.release} (plugin {self.plugin!r})"


@frozen(kw_only=True)
class PluginRecord:
    """One entry point of the group ``grid.plugins`` and what became of it."""

    provider: Provider
    state: Literal["loaded", "failed"]
    stage: Stage | None = None
    """Where it failed; None when it did not."""
    error: str | None = None
    """Why it failed."""
    hooks: tuple[str, ...] | None = None
    """Hooks that it implements; None when it failed before that was known."""
    algorithms: tuple[str, ...] = ()
    """Names of the algorithms it offers; of a failed plugin, as far as it got."""
    families: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()
    model_sources: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the entry point."""
        return self.provider.plugin

    @property
    def distribution(self) -> str:
        """Name of the distribution."""
        return self.provider.distribution

    @property
    def version(self) -> str:
        """Version of the distribution."""
        return self.provider.version

    @property
    def failed(self) -> bool:
        """Whether it was left out."""
        return self.state == "failed"

    def may_offer(self, hook: str) -> bool:
        """Say whether it implements a hook, or failed before that was known."""
        return self.hooks is None or hook in self.hooks

    def failure(self) -> str:
        """Say in one line who failed, where and why."""
        return f"{self.provider} failed ({self.stage}): {self.error}"
