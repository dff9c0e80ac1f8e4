"""Plugins of this process: offered to every load from then on, without being installed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import grid_core
from grid_core.algorithm import Algorithm, Port
from grid_core.assets import asset_path
from grid_core.errors import PluginError, UnknownAlgorithm
from grid_core.hookspecs import hookimpl
from grid_core.ports import CONFIGURATION
from tests.support.registered import taken_back

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def undone() -> Iterator[None]:
    with taken_back():
        yield


def plugin(factor: float, **changes: Any) -> SimpleNamespace:
    algorithm = {
        "name": "scaled",
        "family": "made_up",
        "summary": "The configuration, times a number.",
        "source": "none",
        "inputs": (CONFIGURATION,),
        "outputs": (Port(name="y", shape=("nq",), unit="rad", doc="scaled"),),
        "reference": lambda ctx: {"y": factor * ctx["q"]},
        "program": lambda ctx: {"y": [factor * x for x in ctx["q"]]},
        **changes,
    }

    @hookimpl
    def grid_algorithms() -> list[Algorithm]:
        return [Algorithm(**algorithm)]

    return SimpleNamespace(grid_algorithms=grid_algorithms)


def scaled(q: float) -> float:
    with grid_core.load_robot(asset_path("iiwa14"), algorithm_list=["scaled"]) as robot:
        return float(robot.scaled(np.full(7, q))[0])


def test_it_is_offered_from_then_on() -> None:
    with pytest.raises(UnknownAlgorithm, match="scaled"):
        scaled(1.0)
    grid_core.register_plugin(plugin(3.0), "mine")
    assert scaled(2.0) == 6.0
    assert "scaled" in {one.name for one in grid_core.list_algorithms()}


def test_again_under_the_same_name_replaces_it() -> None:
    """As when a notebook's cell runs again."""
    grid_core.register_plugin(plugin(3.0), "mine")
    grid_core.register_plugin(plugin(-1.0), "mine")
    assert scaled(2.0) == -2.0


def test_hooks_that_make_their_programs_anew_are_built_anew_too() -> None:
    """Whichever collection of the plugin the program came from."""

    def made(factor: float) -> SimpleNamespace:
        @hookimpl
        def grid_algorithms() -> list[Algorithm]:
            return plugin(
                factor, program=lambda ctx: {"y": [factor * x for x in ctx["q"]]}
            ).grid_algorithms()

        return SimpleNamespace(grid_algorithms=grid_algorithms)

    grid_core.register_plugin(made(3.0), "mine")
    assert scaled(2.0) == 6.0
    grid_core.register_plugin(made(-1.0), "mine")
    grid_core.register_plugin(plugin(1.0, name="other"), "another")
    assert scaled(2.0) == -2.0


def test_one_that_fails_is_not_registered() -> None:
    with pytest.raises(PluginError, match=r"mine.*needs 'nothing_such', which no plugin offers"):
        grid_core.register_plugin(plugin(1.0, needs=("nothing_such",)), "mine")
    with pytest.raises(PluginError, match=r"SimpleNamespace"):
        grid_core.register_plugin(SimpleNamespace(grid_algorithms=3))
    with pytest.raises(UnknownAlgorithm, match="scaled"):
        scaled(1.0)
