"""A plugin that fails becomes a record, and an error only where what it offers is wanted."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

import pytest

from grid_core.errors import PluginError, PluginWarning, UnknownAlgorithm
from grid_core.hookspecs import hookimpl
from tests.plugins.builders import algorithm, announce, failing, fresh, manager, offering, plugin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grid_core.plugins import PluginRecord


def nothing() -> list[Any]:
    return []


def record_of(module: object) -> PluginRecord:
    plugins = manager(announce(module))
    (record,) = [r for r in plugins.records if r.name == "made-up"]
    return record


def test_a_good_plugin_is_recorded_with_what_it_offers() -> None:
    record = record_of(plugin(algorithms=[algorithm("one"), algorithm("two")]))
    assert (record.state, record.error, record.hooks) == ("loaded", None, ("grid_algorithms",))
    assert record.algorithms == ("one", "two")
    assert record.families == ("made_up",)
    assert (record.distribution, record.version) == ("grid-made-up", "1.2")


@pytest.mark.parametrize(
    "error", [ModuleNotFoundError("No module named 'gone'"), SystemExit(3), ZeroDivisionError()]
)
def test_a_plugin_that_cannot_be_imported_is_recorded(error: BaseException) -> None:
    plugins = manager(failing(error), offering("one"))
    (record,) = plugins.failures
    assert record.stage == "import"
    assert type(error).__name__ in str(record.error)
    assert plugins.select("one").chosen == ("one",)


def test_an_unknown_name_mentions_plugins_that_failed_and_why() -> None:
    plugins = manager(failing(ImportError("libfoo.so.3 is missing")), offering("one"))
    with pytest.raises(UnknownAlgorithm) as caught:
        plugins.select(["coriolis"])
    text = str(caught.value)
    assert "no algorithm is called 'coriolis'" in text
    assert "grid-broken 0.3 (plugin 'broken') failed (import)" in text
    assert "libfoo.so.3 is missing" in text


def test_everything_warns_once_of_what_was_left_out() -> None:
    plugins = manager(failing(ImportError("no luck")), offering("one"))
    with pytest.warns(PluginWarning, match=r"grid-broken 0.3 .* no luck"):
        assert plugins.select(None).chosen == ("one",)
    assert plugins.select("all").chosen == ("one",)


def test_a_failed_plugin_without_algorithms_does_not_warn() -> None:
    plugins = manager(announce(plugin(backends=[object()])), offering("one", plugin_name="b"))
    assert [r.stage for r in plugins.failures] == ["contract"]
    assert plugins.select(None).chosen == ("one",)


def test_a_misspelt_hook_is_found() -> None:
    module = types.ModuleType("misspelt")
    module.grid_algorythms = hookimpl(fresh(nothing))  # type: ignore[attr-defined]
    record = record_of(module)
    assert record.stage == "register"
    assert "grid_algorythms" in str(record.error)


def test_a_hook_without_its_marker_is_found() -> None:
    module = types.ModuleType("unmarked")
    module.grid_algorithms = nothing  # type: ignore[attr-defined]
    record = record_of(module)
    assert record.stage == "register"
    assert "grid_algorithms is not marked with @hookimpl" in str(record.error)


def test_a_plugin_without_hooks_is_found() -> None:
    record = record_of(types.ModuleType("empty"))
    assert record.stage == "register"
    assert "implements no hook; there are grid_algorithms" in str(record.error)


def raises() -> Any:
    raise RuntimeError("not today")


def midway() -> Iterator[Any]:
    yield algorithm("one")
    raise RuntimeError("not today")


@pytest.mark.parametrize("hook", [raises, midway])
def test_a_hook_that_raises_is_recorded_also_midway_through_a_generator(hook: Any) -> None:
    record = record_of(plugin(algorithms=hook))
    assert record.stage == "hook"
    assert record.error == "grid_algorithms: RuntimeError: not today"


def test_a_generator_may_offer() -> None:
    record = record_of(plugin(algorithms=lambda: (algorithm(n) for n in ("one", "two"))))
    assert record.algorithms == ("one", "two")


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda: None, "grid_algorithms returned None; return a list"),
        (algorithm, "grid_algorithms returned an object of type Algorithm, not a list"),
        (lambda: 3, "grid_algorithms returned an object of type int, not a list"),
        (lambda: ["aba"], "grid_algorithms: 'aba' is a str, not an Algorithm"),
        (lambda: [algorithm(), algorithm()], "grid_algorithms returned 'product' twice"),
    ],
)
def test_what_is_no_list_of_records_is_recorded(returned: Any, message: str) -> None:
    record = record_of(plugin(algorithms=returned))
    assert record.stage == "contract"
    assert message in str(record.error)


def test_asking_for_what_a_failed_plugin_offers_says_why_it_is_not_there() -> None:
    broken = plugin(algorithms=[algorithm("good"), algorithm("bad", summary="")])
    plugins = manager(announce(broken), offering("one", plugin_name="other"))
    for name in ("good", "bad"):
        with pytest.raises(PluginError) as caught:
            plugins.select(name)
        text = str(caught.value)
        assert f"{name!r} is not there: grid-made-up 1.2 (plugin 'made-up') failed" in text
        assert "algorithm 'bad': summary must be one line of text" in text


def test_a_plugin_cannot_change_what_another_does() -> None:
    module = plugin(algorithms=[algorithm("one")])
    module.grid_backends = hookimpl(wrapper=True)(_swallow)  # type: ignore[attr-defined]
    plugins = manager(announce(module))
    assert plugins.backends.names == ("reference",)


def _swallow() -> Any:
    yield
    return []


def test_commands_are_checked() -> None:
    record = record_of(plugin(commands=[print]))
    assert record.stage == "contract"
    assert "not a click.Command" in str(record.error)


def test_model_sources_are_checked() -> None:
    record = record_of(plugin(model_sources=[object()]))
    assert record.stage == "contract"
    assert "not a ModelSource" in str(record.error)
