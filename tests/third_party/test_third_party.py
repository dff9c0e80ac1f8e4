"""A separate distribution adds operations, with nothing but its entry point."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_core.model import load_urdf, load_urdf_string, random_configuration
from grid_core.plugins import plugin_manager
from grid_core.testing import check_algorithm
from tests.support.robots import Robot, hand_made_params

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).parent / "grid-center-of-mass"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the distribution into a folder of its own, without the network."""
    for module in ("pip", "hatchling"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--no-compile"]
    run([*pip, *offline, "--target", str(target), str(PROJECT)])
    return target


def run(command: list[str], **environment: str) -> str:
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


CALL = """
import sys, numpy as np, grid_core
urdf, states, results = sys.argv[1:]
robot = grid_core.load_robot(urdf, floating_base=True, algorithm_list="com", dtype="float64")
q = np.load(states)
print(robot.algorithms, robot.backend)
print([(i.plugin, i.distribution, i.version) for i in grid_core.list_algorithms()
       if i.family == "com"][0])
np.savez(results, com=robot.center_of_mass(q), J=robot.center_of_mass_jacobian(q),
         one=robot.center_of_mass(q[0]))
"""


@pytest.fixture(scope="module")
def go2() -> Iterator[str]:
    with as_file(files("grid_core.assets") / "go2.urdf") as path:
        yield str(path)


@pytest.fixture(scope="module")
def called(installed: Path, go2: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What another process gets from the handle's new methods, and the configurations."""
    folder = tmp_path_factory.mktemp("called")
    model = load_urdf(go2, floating_base=True)
    q = random_configuration(model, np.random.default_rng(0), 7)
    np.save(folder / "q.npy", q)
    command = [sys.executable, "-W", "error", "-c", CALL, go2, str(folder / "q.npy")]
    said = run([*command, str(folder / "r.npz")], PYTHONPATH=str(installed)).splitlines()
    return q, dict(np.load(folder / "r.npz")), said


def test_its_operations_are_methods_of_the_handle(called: Any) -> None:
    q, results, said = called
    assert results["com"].shape == (len(q), 3)
    assert results["J"].shape == (len(q), 3, 18)
    np.testing.assert_allclose(results["one"], results["com"][0], atol=1e-12)
    assert said[0].startswith("('center_of_mass', 'center_of_mass_jacobian')")
    assert said[1] == "('center-of-mass', 'grid-center-of-mass', '0.2.0')"


def test_they_agree_with_pinocchio(called: Any, go2: str) -> None:
    pin = pytest.importorskip("pinocchio")
    q, results, _ = called
    model = pin.buildModelFromUrdf(go2, pin.JointModelFreeFlyer())
    data = model.createData()
    for k, state in enumerate(q):
        np.testing.assert_allclose(
            results["com"][k], pin.centerOfMass(model, data, state), atol=1e-10
        )
        np.testing.assert_allclose(
            results["J"][k], pin.jacobianCenterOfMass(model, data, state), atol=1e-10
        )


def test_its_own_tests_pass(installed: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir"]
    tests = PROJECT / "tests/test_center_of_mass.py"
    said = run([*command, str(tmp_path), str(tests)], PYTHONPATH=str(installed))
    assert "8 passed" in said


@pytest.fixture
def offered(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The two algorithms, imported here; this process's plugin manager does not know them."""
    plugin_manager()
    monkeypatch.syspath_prepend(installed)
    return importlib.import_module("grid_center_of_mass.plugin").grid_algorithms()


@pytest.mark.parametrize("robot", hand_made_params())
def test_they_hold_on_every_kind_of_joint(offered: Any, robot: Robot) -> None:
    model = robot.load(floating_base=True)
    if not sum(body.inertia.mass for body in model.bodies):
        pytest.skip("it has no mass")
    for algorithm in offered:
        check_algorithm(algorithm, model, batches=(0, 3))


def test_a_robot_without_mass_is_refused(offered: Any) -> None:
    model = load_urdf_string('<robot name="ghost"><link name="ghost"/></robot>')
    with pytest.raises(AssertionError, match="'ghost' cannot have it: its moving bodies have no"):
        check_algorithm(offered[0], model)
