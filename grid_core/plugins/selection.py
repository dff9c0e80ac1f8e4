"""Choosing algorithms by name, with everything they need."""

from __future__ import annotations

import graphlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from attrs import field, frozen

from grid_core.errors import OptionError, PluginConflict
from grid_core.wording import listing

if TYPE_CHECKING:
    from grid_core.algorithm import Algorithm
    from grid_core.plugins.catalogue import Catalogue
    from grid_core.plugins.records import Provider

__all__ = ["ALL", "Selection", "as_names", "family_clash", "select"]

ALL = "all"
"""Stands for every algorithm that is loaded by default."""


@frozen
class Selection:
    """Algorithms asked for and those that they need."""

    chosen: tuple[str, ...]
    """Names asked for, by family; they become operations of the handle."""
    available: Mapping[str, Algorithm] = field(repr=False)
    """The chosen and all they need, in topological order: what is needed comes first."""
    providers: Mapping[str, str] = field(repr=False)
    """Distribution and version behind each, by name."""


def select(catalogue: Catalogue[Algorithm], names: Iterable[str]) -> Selection:
    """Choose by names, families or ``all``.

    Raises:
        UnknownAlgorithm: no algorithm or family has such a name.
        PluginConflict: two plugins claim a name chosen or needed, or one's algorithm is called as
            another's family.
        PluginError: a name's plugin failed to load.
    """
    wanted = {found for name in names for found in _expand(catalogue, name)}
    offers = {}
    queue = sorted(wanted)
    while queue:
        name = queue.pop()
        if name not in offers:
            offers[name] = catalogue.take(name)
            queue.extend(offers[name].value.needs)
    sorter = graphlib.TopologicalSorter(
        {name: sorted(offers[name].value.needs) for name in sorted(offers)}
    )
    order = tuple(sorter.static_order())
    return Selection(
        chosen=tuple(sorted(wanted, key=lambda name: (offers[name].value.family, name))),
        available={name: offers[name].value for name in order},
        providers={name: offers[name].provider.release for name in order},
    )


def as_names(names: object) -> tuple[str, ...]:
    """Return names as a tuple; None is ``all``.

    Raises:
        OptionError: `names` is neither a name nor a list of names.
    """
    if names is None:
        return (ALL,)
    if isinstance(names, str):
        return (names,)
    wanted = tuple(names) if isinstance(names, Iterable) else (names,)
    for name in wanted:
        if not isinstance(name, str):
            raise OptionError(
                f"algorithm_list takes names, families or {ALL!r}; got {name!r} in it, "
                f"a {type(name).__name__}"
            )
    return wanted


def _expand(catalogue: Catalogue[Algorithm], name: str) -> tuple[str, ...]:
    """Return the algorithms that a name, a family or ``all`` stands for."""
    if name in catalogue.claims:
        clash = family_clash(catalogue, name)
        if clash:
            algorithm, family = clash
            raise PluginConflict(
                f"{name!r} is both an algorithm of {algorithm} and a family of {listing(family)}; "
                "uninstall one of them, or have its author rename the algorithm or the family"
            )
        return (name,)
    every = [(n, offer.value) for n, offers in catalogue.claims.items() for offer in offers]
    if name == ALL:
        return tuple(n for n, algorithm in every if algorithm.default)
    found = tuple(n for n, algorithm in every if algorithm.family == name)
    if not found:
        raise catalogue.missing(name, tuple(sorted({*catalogue.names, *_families(every), ALL})))
    return found


def family_clash(
    catalogue: Catalogue[Algorithm], name: str
) -> tuple[Provider, tuple[Provider, ...]] | None:
    """Say who offers an algorithm and who a family of one name, where these are two things.

    An algorithm that is in the family of its own name stands for itself, whoever joins the family.
    """
    offers = catalogue.claims.get(name, ())
    if not offers or any(offer.value.family == name for offer in offers):
        return None
    own = offers[0].provider
    families = {
        offer.provider
        for others in catalogue.claims.values()
        for offer in others
        if offer.value.family == name and offer.provider != own
    }
    return (own, tuple(sorted(families))) if families else None


def _families(every: Iterable[tuple[str, Algorithm]]) -> set[str]:
    return {algorithm.family for _, algorithm in every}
