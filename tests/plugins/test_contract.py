"""Each field of an algorithm, a port and a backend is checked, and the message names it."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from attrs import evolve

from grid_core.algorithm import API_VERSION, Algorithm, BenchmarkCase, Port
from grid_core.contract import (
    HANDLE_ATTRIBUTES,
    check_algorithm,
    check_backend,
    check_model_source,
)
from grid_core.errors import ContractError, PluginError
from grid_core.handle import RobotHandle
from grid_core.model.source import ModelSource
from grid_core.plugins import plugin_manager
from tests.plugins.builders import FORCE, GRAVITY, QD, FakeBackend, P, Q, algorithm

MAJOR, MINOR = API_VERSION


def no_arguments() -> dict[str, Any]:
    return {}


def test_a_good_algorithm_passes() -> None:
    check_algorithm(algorithm())


def test_our_own_algorithms_pass() -> None:
    for offers in plugin_manager().algorithms.claims.values():
        for offer in offers:
            check_algorithm(offer.value)


def test_the_names_that_a_handle_has_are_all_reserved() -> None:
    own = {name for name, _ in inspect.getmembers(RobotHandle) if not name.startswith("_")}
    assert own == HANDLE_ATTRIBUTES


def fails(record: Any, message: str) -> None:
    with pytest.raises(ContractError) as caught:
        check_algorithm(record)
    assert message in str(caught.value)
    assert isinstance(caught.value, PluginError | ValueError)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "forward dynamics"}, "name must be a Python identifier"),
        ({"name": "class"}, "name must be a Python identifier"),
        ({"name": 3}, "name must be a Python identifier"),
        ({"name": "_hidden"}, "name must not start with an underscore"),
        ({"name": "nq"}, "name 'nq' is taken already"),
        ({"name": "close"}, "name 'close' is taken already"),
        ({"name": "all"}, "name 'all' is taken already"),
        ({"family": "all"}, "family 'all' is taken already"),
        ({"family": None}, "family must be a Python identifier"),
        ({"summary": ""}, "summary must be one line of text"),
        ({"summary": "two\nlines"}, "summary must be one line of text"),
        ({"source": None}, "source must be one line of text"),
        ({"inputs": [Q]}, "inputs must be a tuple of at least one Port"),
        ({"outputs": ()}, "outputs must be a tuple of at least one Port"),
        ({"inputs": (Q, "qd")}, "'qd' is a str, not a Port"),
        ({"inputs": (Q, Q)}, "two ports are called 'q'"),
        ({"outputs": (evolve(P, name="q"),)}, "two ports are called 'q'"),
        ({"inputs": (FORCE, GRAVITY)}, "at least one must be required and not uniform"),
        ({"inputs": (Q, FORCE, QD)}, "port 'qd' is required and must stand before"),
        ({"outputs": (evolve(P, optional=True),)}, "port 'p' cannot be optional"),
        (
            {"outputs": (evolve(GRAVITY, name="g"),)},
            "port 'g' cannot be uniform",
        ),
        ({"reference": None}, "reference must be callable"),
        ({"program": no_arguments}, "program must take 1 arguments"),
        ({"refuse": "never"}, "refuse must be callable"),
        ({"method": lambda: None}, "method must take the generated call as its first"),
        ({"needs": ["crba"]}, "needs must be a tuple of names"),
        ({"needs": ("crba", "crba")}, "needs names one thing twice"),
        ({"needs": ("product",)}, "needs: it names itself"),
        ({"template": 3}, "template must be one line of text"),
        ({"benchmarks": [1]}, "benchmarks must be a tuple of BenchmarkCase"),
        ({"benchmarks": (1,)}, "1 is not a BenchmarkCase"),
        (
            {"benchmarks": (BenchmarkCase(label="x", inputs=("qd",)),)},
            "'x': 'qd' is no optional input",
        ),
        (
            {"benchmarks": (BenchmarkCase(label="x", inputs=()),) * 2},
            "two cases have one label",
        ),
        (
            {
                "benchmarks": (
                    BenchmarkCase(label="x", inputs=(), shared=lambda model: {"q": model}),
                )
            },
            "'x': shared must take 3 arguments",
        ),
        ({"helpers": [len]}, "helpers must map names to functions"),
        ({"helpers": {"unpack": len}}, "helpers are for a method of the plugin's own"),
        ({"helpers": {"a b": len}, "method": len}, "helpers: name must be a Python identifier"),
        ({"helpers": {"unpack": 3}, "method": len}, "helpers: 'unpack' must be callable"),
        ({"constants": ["inertias"]}, "constants must be a tuple of names"),
        ({"constants": ("gravity",)}, "'gravity' is none of inertias or placements"),
        ({"default": 1}, "default must be True or False"),
        ({"api_version": "1.0"}, "api_version must be a pair of integers"),
        ({"api_version": (1, True)}, "api_version must be a pair of integers"),
        ({"api_version": (MAJOR + 1, 0)}, f"this Grid has {MAJOR}.{MINOR}; update Grid"),
        ({"api_version": (MAJOR, MINOR + 1)}, "update Grid"),
        ({"api_version": (MAJOR - 1, 9)}, "update the plugin"),
    ],
)
def test_a_field_that_breaks_the_contract_is_named(changes: dict[str, Any], message: str) -> None:
    fails(algorithm(**changes), message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "2nd"}, "port '2nd': name must be a Python identifier"),
        ({"name": "out"}, "name 'out' is taken already"),
        ({"shape": ["nq"]}, "shape must be a tuple"),
        ({"shape": ("nx",)}, "each width is a positive integer, one of nq, nv, nb and nee"),
        ({"shape": ("0*nq",)}, "got '0*nq'"),
        ({"shape": ("nq*6",)}, "got 'nq*6'"),
        ({"widths": [3]}, "widths must map names to functions"),
        ({"widths": {"nq": len}}, "widths: name 'nq' is taken already"),
        ({"widths": {"np": len}}, "widths: 'np' must take 2 arguments"),
        ({"shape": (0,)}, "got 0"),
        ({"shape": (True,)}, "got True"),
        ({"doc": ""}, "doc must be one line of text"),
        ({"unit": None}, "unit must be text"),
        ({"optional": 1}, "optional must be True or False"),
        ({"on_demand": True}, "on_demand is for optional inputs only"),
        ({"shared": True}, "shared is for optional inputs only"),
        ({"default": 1.0}, "default is for uniform inputs only"),
        ({"uniform": True}, "a uniform input needs a finite default"),
        ({"uniform": True, "shape": ()}, "a uniform input needs a finite default"),
        (
            {"uniform": True, "shape": (), "default": float("nan")},
            "a uniform input needs a finite default",
        ),
        (
            {"uniform": True, "shape": (), "default": 1.0, "optional": True},
            "a uniform input has a default and cannot be optional",
        ),
    ],
)
def test_a_port_that_breaks_the_contract_is_named(changes: dict[str, Any], message: str) -> None:
    port = Port(**{"name": "extra", "shape": ("nv",), "doc": "more", **changes})
    fails(algorithm(inputs=(Q, QD, port)), message)


def test_a_class_in_place_of_a_record_is_refused() -> None:
    fails(Algorithm, "not an Algorithm")
    with pytest.raises(ContractError, match="FakeBackend is a class; return an instance"):
        check_backend(FakeBackend)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "auto"}, "name 'auto' is taken already"),
        ({"name": "my gpu"}, "name must be a Python identifier"),
        ({"summary": ""}, "summary must be one line of text"),
        ({"priority": 1.5}, "priority must be an integer"),
        ({"dtypes": ()}, "dtypes must be some of float32 and float64"),
        ({"dtypes": ("float16",)}, "dtypes must be some of float32 and float64"),
        ({"dtypes": ["float32"]}, "dtypes must be a tuple of names"),
    ],
)
def test_a_backend_that_breaks_the_contract_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError) as caught:
        check_backend(evolve(FakeBackend(), **changes))
    assert message in str(caught.value)


def test_a_backend_without_a_method_is_refused() -> None:
    class NoBuild:
        name, summary, priority, dtypes = "no_build", "none", 0, ("float32",)

        def unavailable(self) -> None:
            return None

    with pytest.raises(ContractError, match="build must be callable"):
        check_backend(NoBuild())
    with pytest.raises(ContractError, match="is no backend: it has no 'name'"):
        check_backend(object())


class Preparing(FakeBackend):
    prepared_abi: object = 1

    def prepared_targets(self, wanted: object) -> object: ...
    def prepare(self, operation: object, targets: object, settings: object) -> object: ...
    def prepared_target(self, targets: object, settings: object) -> object: ...
    def load_prepared(
        self, operation: object, codes: object, target: object, settings: object
    ) -> object: ...


def test_a_backend_prepares_artifacts_wholly_or_not_at_all() -> None:
    check_backend(Preparing())
    for name, wrong, message in (
        ("prepare", lambda _self: None, "prepare must take 3 arguments"),
        ("load_prepared", None, "load_prepared must be callable"),
        ("prepared_abi", True, "prepared_abi must be an integer of at least 1; got True"),
        ("prepared_abi", 0, "at least 1; got 0"),
    ):
        with pytest.raises(ContractError, match=message):
            check_backend(type("Wrong", (Preparing,), {name: wrong})())
    half = type("Half", (FakeBackend,), {"prepared_abi": 1})()
    with pytest.raises(ContractError, match="prepared_targets must be callable; got None"):
        check_backend(half)


def test_a_model_source_that_breaks_the_contract_is_named() -> None:
    with pytest.raises(ContractError, match="'x': accepts must be callable"):
        check_model_source(ModelSource("x", "a source", None, print))  # type: ignore[arg-type]
