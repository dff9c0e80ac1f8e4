"""Two plugins that claim one name: an error that names both, whatever the order of loading."""

from __future__ import annotations

import pytest

from grid_core.backends import choose_backend
from grid_core.errors import PluginConflict
from tests.plugins.builders import FakeBackend, algorithm, announce, manager, offering, plugin

FIRST = {"plugin_name": "a", "distribution": "grid-a", "version": "1.0"}
SECOND = {"plugin_name": "b", "distribution": "grid-b", "version": "2.0"}


def names_both(error: pytest.ExceptionInfo[PluginConflict]) -> bool:
    text = str(error.value)
    return "grid-a 1.0" in text and "grid-b 2.0" in text and "uninstall all but one" in text


@pytest.mark.parametrize("wanted", ["aba", "made_up", "all", None, ["aba", "other"]])
@pytest.mark.parametrize("swap", [False, True])
def test_two_plugins_with_one_algorithm_name_are_named(wanted: object, *, swap: bool) -> None:
    claims = [offering("aba", "other", **FIRST), offering("aba", **SECOND)]
    plugins = manager(*(reversed(claims) if swap else claims))
    with pytest.raises(PluginConflict, match="the algorithm 'aba' is claimed by") as caught:
        plugins.select(wanted)  # type: ignore[arg-type]
    assert names_both(caught)


def test_a_clash_is_no_error_for_whoever_wants_something_else() -> None:
    plugins = manager(offering("aba", "other", **FIRST), offering("aba", **SECOND))
    assert plugins.select("other").chosen == ("other",)
    (providers,) = plugins.algorithms.conflicts.values()
    assert [p.distribution for p in providers] == ["grid-a", "grid-b"]


@pytest.mark.parametrize("wanted", ["one", "two", "all"])
def test_two_plugins_of_one_name_are_named(wanted: str) -> None:
    """importlib.metadata keeps both; pluggy's own loader would drop one in silence."""
    plugins = manager(
        offering("one", **{**FIRST, "plugin_name": "same"}),
        offering("two", **{**SECOND, "plugin_name": "same"}),
        offering("three", plugin_name="other"),
    )
    with pytest.raises(PluginConflict, match="a plugin called 'same'") as caught:
        plugins.select(wanted)
    assert names_both(caught)
    assert plugins.select("three").chosen == ("three",)


@pytest.mark.parametrize("wanted", ["fake", "auto"])
def test_two_plugins_with_one_backend_name_are_named(wanted: str) -> None:
    module = plugin(backends=[FakeBackend()])
    plugins = manager(
        announce(module, "a", "grid-a", "1.0"), announce(module, "b", "grid-b", "2.0")
    )
    with pytest.raises(PluginConflict, match="the backend 'fake' is claimed by") as caught:
        choose_backend(plugins, wanted)
    assert names_both(caught)
    assert choose_backend(plugins, "reference").name == "reference"


def test_every_conflict_can_be_listed() -> None:
    same = {"plugin_name": "same"}
    plugins = manager(offering("aba", **{**FIRST, **same}), offering("aba", **{**SECOND, **same}))
    assert plugins.conflicts == (
        "algorithm 'aba': grid-a 1.0 (plugin 'same') and grid-b 2.0 (plugin 'same')",
        "plugin 'same': grid-a 1.0 (plugin 'same') and grid-b 2.0 (plugin 'same')",
    )
    assert manager(offering("aba")).conflicts == ()


@pytest.mark.parametrize("swap", [False, True])
def test_an_algorithm_called_as_another_plugins_family_is_named(*, swap: bool) -> None:
    """Neither the algorithm nor the family is taken in silence."""
    family = announce(plugin(algorithms=[algorithm("aba", family="fd")]), "a", "grid-a", "1.0")
    single = announce(plugin(algorithms=[algorithm("fd", family="fam")]), "b", "grid-b", "2.0")
    plugins = manager(*([single, family] if swap else [family, single]))
    with pytest.raises(PluginConflict, match="'fd' is both an algorithm of grid-b") as caught:
        plugins.select(["fd"])
    assert "a family of grid-a 1.0 (plugin 'a')" in str(caught.value)
    assert plugins.select(["fam", "aba"]).chosen == ("fd", "aba")
    assert plugins.conflicts == (
        "algorithm and family 'fd': grid-b 2.0 (plugin 'b') and grid-a 1.0 (plugin 'a')",
    )


def test_who_joins_the_family_that_an_algorithm_is_named_for_is_no_clash() -> None:
    own = announce(plugin(algorithms=[algorithm("fd", family="fd")]), "a", "grid-a", "1.0")
    joins = announce(plugin(algorithms=[algorithm("mine", family="fd")]), "b", "grid-b", "2.0")
    assert manager(own, joins).select("fd").chosen == ("fd",)
    assert manager(own, joins).conflicts == ()
