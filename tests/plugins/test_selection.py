"""Choosing algorithms: names, families, ``all``, and what they need."""

from __future__ import annotations

import itertools

import pytest

from grid_core.errors import OptionError, PluginConflict, PluginError, UnknownAlgorithm
from tests.plugins.builders import algorithm, announce, manager, offering, plugin

CHAIN = [
    algorithm("bias", family="inverse"),
    algorithm("mass", family="inverse"),
    algorithm("inverse_mass", needs=("mass",)),
    algorithm("acceleration", needs=("inverse_mass", "bias")),
    algorithm("rare", family="inverse", default=False),
]


def test_what_is_needed_is_available_but_not_chosen() -> None:
    selection = manager(announce(plugin(algorithms=CHAIN))).select(["acceleration"])
    assert selection.chosen == ("acceleration",)
    assert set(selection.available) == {"bias", "mass", "inverse_mass", "acceleration"}
    assert selection.providers["mass"] == "grid-made-up 1.2"


def test_the_order_is_topological_and_does_not_depend_on_the_order_of_loading() -> None:
    orders = set()
    for shuffled in itertools.permutations(CHAIN):
        selection = manager(announce(plugin(algorithms=list(shuffled)))).select("all")
        order = list(selection.available)
        for name in order:
            needs = selection.available[name].needs
            assert all(order.index(need) < order.index(name) for need in needs)
        orders.add(tuple(order))
    assert len(orders) == 1


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        (None, {"bias", "mass", "inverse_mass", "acceleration"}),
        ("all", {"bias", "mass", "inverse_mass", "acceleration"}),
        ("inverse", {"bias", "mass", "rare"}),
        (["inverse", "acceleration"], {"bias", "mass", "rare", "acceleration"}),
        (("rare", "rare"), {"rare"}),
        (["all", "rare"], {"bias", "mass", "inverse_mass", "acceleration", "rare"}),
        ([], set()),
        ((name for name in ["mass"]), {"mass"}),
    ],
)
def test_names_families_and_all(wanted: object, chosen: set[str]) -> None:
    plugins = manager(announce(plugin(algorithms=CHAIN)))
    assert set(plugins.select(wanted).chosen) == chosen  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "near"),
    [("accelration", "'acceleration'"), ("invers", "'inverse'"), ("Mass", "'mass'")],
)
def test_an_unknown_name_is_answered_with_the_near_ones(wanted: str, near: str) -> None:
    plugins = manager(announce(plugin(algorithms=CHAIN)))
    with pytest.raises(UnknownAlgorithm) as caught:
        plugins.select([wanted])
    text = str(caught.value)
    assert text.startswith(f"no algorithm is called {wanted!r} (did you mean {near}")
    assert "there are acceleration, all, bias, inverse, inverse_mass, made_up" in text
    assert isinstance(caught.value, KeyError)


@pytest.mark.parametrize("wanted", [3, ["mass", 3], [None]])
def test_what_is_no_name_is_refused(wanted: object) -> None:
    with pytest.raises(OptionError, match="algorithm_list takes names, families or 'all'"):
        manager(announce(plugin(algorithms=CHAIN))).select(wanted)  # type: ignore[arg-type]


def test_a_plugin_with_an_unmet_need_is_left_out_and_those_that_need_it_too() -> None:
    first = announce(plugin(algorithms=[algorithm("one", needs=("gone",))]), "first")
    second = announce(plugin(algorithms=[algorithm("two", needs=("one",))]), "second")
    plugins = manager(first, second, offering("three", plugin_name="third"))
    assert [(r.name, r.stage) for r in plugins.failures] == [
        ("first", "needs"),
        ("second", "needs"),
    ]
    with pytest.raises(PluginError, match="one needs 'gone', which no plugin offers"):
        plugins.select("one")
    assert plugins.select("three").chosen == ("three",)


def test_needs_that_go_in_a_circle_are_found() -> None:
    circle = [algorithm("one", needs=("two",)), algorithm("two", needs=("one",))]
    (record,) = manager(announce(plugin(algorithms=circle))).failures
    assert record.stage == "needs"
    assert "needs itself: " in str(record.error)
    assert " -> " in str(record.error)


def test_a_need_that_two_plugins_claim_is_a_conflict() -> None:
    needy = announce(plugin(algorithms=[algorithm("two", needs=("one",))]), "needy")
    claims = [offering("one", plugin_name=name, distribution=f"grid-{name}") for name in "ab"]
    with pytest.raises(PluginConflict, match=r"'one' is claimed by grid-a 1\.2"):
        manager(needy, *claims).select("two")
