"""Which backend and which precision a load gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from grid_core.backends import choose_backend, choose_dtype
from grid_core.errors import BackendUnavailable, OptionError, UnknownAlgorithm
from tests.plugins.builders import FakeBackend, announce, failing, load_arm, manager, plugin

if TYPE_CHECKING:
    from grid_core.plugins import PluginManager


def backends(*made: Any) -> PluginManager:
    return manager(announce(plugin(backends=list(made))))


def test_auto_takes_the_available_one_of_the_highest_priority() -> None:
    plugins = backends(
        FakeBackend("slow", priority=1),
        FakeBackend("fast", priority=5),
        FakeBackend("gone", priority=9, missing="no driver"),
    )
    assert choose_backend(plugins).name == "fast"


def test_equal_priorities_are_told_apart_by_name() -> None:
    assert choose_backend(backends(FakeBackend("b"), FakeBackend("a"))).name == "a"


def test_auto_never_takes_a_negative_priority_and_says_what_is_missing() -> None:
    plugins = manager(
        announce(plugin(backends=[FakeBackend("gpu", missing="no driver; install one")])),
        failing(ImportError("no llvmlite")),
    )
    with pytest.raises(BackendUnavailable) as caught:
        choose_backend(plugins)
    text = str(caught.value)
    assert "gpu: no driver; install one" in text
    assert "no llvmlite" in text
    assert "there are gpu and reference" in text


def test_a_named_backend_that_cannot_run_says_why() -> None:
    with pytest.raises(BackendUnavailable, match="'gpu' cannot run here: no driver"):
        choose_backend(backends(FakeBackend("gpu", missing="no driver")), "gpu")


def test_a_backend_that_cannot_even_tell_is_unavailable() -> None:
    class Rude(FakeBackend):
        def unavailable(self) -> str | None:
            raise OSError("libcuda.so.1: cannot open")

    with pytest.raises(BackendUnavailable, match=r"grid-made-up 1\.2 .* OSError: libcuda"):
        choose_backend(backends(Rude("gpu")), "gpu")


def test_an_unknown_backend_is_answered_with_the_near_ones() -> None:
    with pytest.raises(UnknownAlgorithm, match="no backend is called 'refrence'") as caught:
        choose_backend(backends(), "refrence")
    assert "did you mean 'reference'?" in str(caught.value)


def test_the_default_dtype_is_float32_or_what_the_backend_has() -> None:
    both, double = FakeBackend(), FakeBackend(dtypes=("float64",))
    assert choose_dtype(both, None) == "float32"
    assert choose_dtype(double, None) == "float64"
    assert choose_dtype(both, "float64") == "float64"


def test_a_dtype_that_the_backend_lacks_is_an_error() -> None:
    with pytest.raises(OptionError, match="'fake' computes in float64; dtype='float32'"):
        choose_dtype(FakeBackend(dtypes=("float64",)), "float32")
    with pytest.raises(OptionError, match="'reference' computes in float64"):
        load_arm(backend="reference", dtype="float32")
