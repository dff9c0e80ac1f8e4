"""Everything of one kind that the plugins offer, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from attrs import field, frozen

from grid_core.errors import PluginConflict, PluginError, UnknownAlgorithm
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.plugins.records import PluginRecord, Provider

__all__ = ["Catalogue", "Offer", "failures_note"]

T = TypeVar("T")


@frozen
class Offer(Generic[T]):
    """One record and who offers it."""

    value: T
    provider: Provider


@frozen
class Catalogue(Generic[T]):
    """Offers of one kind; a name that two plugins claim stays in doubt until it is wanted."""

    kind: str
    """What they are: ``algorithm``, ``backend``."""
    hook: str
    """The hook that offers them."""
    claims: Mapping[str, tuple[Offer[T], ...]]
    """Every claim to every name."""
    records: tuple[PluginRecord, ...] = field(repr=False)
    """All plugins, failed ones too."""
    twins: Mapping[str, tuple[Provider, ...]] = field(factory=dict)
    """Plugins of one name from several distributions, by that name."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, sorted."""
        return tuple(sorted(self.claims))

    @property
    def conflicts(self) -> Mapping[str, tuple[Provider, ...]]:
        """Who claims each name that several plugins claim."""
        return {
            name: tuple(sorted(offer.provider for offer in offers))
            for name, offers in sorted(self.claims.items())
            if len(offers) > 1
        }

    def take(self, name: str) -> Offer[T]:
        """Return the one offer of a name.

        Raises:
            PluginConflict: several plugins claim the name, or its plugin's own name.
            PluginError: the plugin that offers it failed to load.
            UnknownAlgorithm: no plugin offers it.
        """
        offers = self.claims.get(name, ())
        if not offers:
            raise self.missing(name, self.names)
        if len(offers) > 1:
            who = listing(sorted(str(offer.provider) for offer in offers))
            raise PluginConflict(
                f"the {self.kind} {name!r} is claimed by {who}; uninstall all but one of them, "
                f"or have its author rename the {self.kind}"
            )
        (offer,) = offers
        if offer.provider.plugin in self.twins:
            twins = self.twins[offer.provider.plugin]
            raise PluginConflict(
                f"the {self.kind} {name!r} comes from a plugin called {offer.provider.plugin!r}, "
                f"and so are the plugins of {listing(twin.release for twin in twins)}; uninstall "
                "all but one of them, or have its author rename the entry point"
            )
        return offer

    def missing(self, name: str, known: tuple[str, ...]) -> PluginError | UnknownAlgorithm:
        """Make the error for a name without an offer; `known` are those to suggest."""
        for record in self.records:
            if record.failed and name in getattr(record, f"{self.kind}s".replace(" ", "_")):
                return PluginError(f"the {self.kind} {name!r} is not there: {record.failure()}")
        return UnknownAlgorithm(
            f"no {self.kind} is called {name!r}{near(name, known)}; there are "
            f"{listing(known)}{failures_note(self.records, self.hook)}"
        )


def failures_note(records: tuple[PluginRecord, ...], hook: str) -> str:
    """Say which plugins that may have offered something failed, or nothing."""
    failed = [record.failure() for record in records if record.failed and record.may_offer(hook)]
    return f". Left out: {'; '.join(failed)}" if failed else ""
