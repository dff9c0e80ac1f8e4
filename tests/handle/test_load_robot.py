"""The whole path with what is installed: a URDF in, numbers out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

import numpy as np
import pytest

import grid_core
from grid_core.errors import InputError
from tests.plugins.builders import ARM

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRID_CACHE_DIR", str(tmp_path))


@pytest.fixture
def go2() -> Iterator[Path]:
    with as_file(files("grid_core.assets") / "go2.urdf") as path:
        yield path


def test_a_urdf_in_and_numbers_out(go2: Path) -> None:
    with grid_core.load_robot(go2, floating_base=True) as robot:
        assert robot.dtype == np.float32
        q = robot.random_configuration(0, batch=5)
        qd = np.random.default_rng(0).standard_normal((5, robot.nv))
        tau = robot.inverse_dynamics(q, qd, qd)
        assert (tau.shape, tau.dtype) == ((5, 18), np.float32)
        M, h = robot.crba(q), robot.nonlinear_effects(q, qd)
        expected = np.einsum("bij,bj->bi", M, qd) + h
        np.testing.assert_allclose(tau, expected, atol=2e-3)


def test_the_reference_backend_is_float64_by_default(go2: Path) -> None:
    reference = grid_core.load_robot(str(go2), floating_base=True, backend="reference")
    compiled = grid_core.load_robot(go2, floating_base=True, dtype="float64")
    assert reference.dtype == np.float64
    assert compiled.backend != "reference"
    q = reference.random_configuration(1, batch=3)
    qd = np.random.default_rng(1).standard_normal((3, reference.nv))
    for robot in (reference, compiled):
        assert robot.forward_dynamics(q, qd, qd).dtype == np.float64
    np.testing.assert_allclose(
        compiled.forward_dynamics(q, qd, qd), reference.forward_dynamics(q, qd, qd), rtol=1e-8
    )


def test_text_works_as_well_as_a_file() -> None:
    assert grid_core.load_robot(urdf_string=ARM).nq == 2
    assert grid_core.load_robot(ARM).nq == 2


def test_a_family_may_be_loaded_alone() -> None:
    robot = grid_core.load_robot(ARM, algorithm_list="fd", num_threads=2)
    assert {"forward_dynamics", "aba", "minv"} <= set(robot.algorithms)
    assert not hasattr(robot, "inverse_dynamics")


def test_threads_may_share_a_handle(go2: Path) -> None:
    robot = grid_core.load_robot(go2, dtype="float64", algorithm_list="inverse_dynamics")
    rng = np.random.default_rng(2)
    states = [rng.standard_normal((k % 5 + 1, 12)) for k in range(64)]
    expected = [robot.inverse_dynamics(s, s, s) for s in states]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda s: robot.inverse_dynamics(s, s, s), states))
    for result, right in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, right)


def test_a_velocity_as_wide_as_q_is_told_what_is_meant(go2: Path) -> None:
    robot = grid_core.load_robot(go2, floating_base=True)
    q = robot.random_configuration(0, batch=2)
    with pytest.raises(InputError) as caught:
        robot.inverse_dynamics(q, q)
    assert str(caught.value) == (
        "inverse_dynamics: qd must be (B, nv=18); got (B, 19); velocity-like arrays are nv=18 "
        "wide, not nq=19"
    )


def test_the_installed_algorithms_are_listed() -> None:
    listed = {info.name: info for info in grid_core.list_algorithms()}
    fd = listed["forward_dynamics"]
    assert (fd.family, fd.plugin, fd.distribution) == ("fd", "fd", "grid-robotics")
    assert {"inverse_dynamics", "crba", "aba", "minv"} <= set(listed)
    order = [(info.family, info.name) for info in listed.values()]
    assert order == sorted(order)
