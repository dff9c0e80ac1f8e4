"""What a build's key depends on, and what it does not."""

from __future__ import annotations

import functools
import os
import sys
import textwrap
import time
import types
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from attrs import evolve

from grid_core.algorithm import Options
from grid_core.artifact import identity
from grid_core.artifact.identity import operation_key, source_digest
from grid_core.assets import asset_path
from grid_core.model import load_urdf
from grid_core.program.runtime import sharing
from tests.artifact.processes import python
from tests.program.operations import operation

if TYPE_CHECKING:
    from pathlib import Path

    from grid_core.backend import Operation
    from grid_core.model.types import RobotModel

TARGET = {"backend": "cpu", "cpu": "sapphirerapids", "features": "+avx2,+fma", "llvm": "20.1"}

ROBOT = load_urdf(asset_path("iiwa14"))


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the sources as they are, though somebody may be editing them."""
    monkeypatch.setattr(identity, "_STARTED", time.time() + 1e6)
    source_digest.cache_clear()


def base() -> Operation:
    return operation(ROBOT, "inverse_dynamics", ["qdd"], targets=(3,))


def inertia(model: RobotModel, **changes: Any) -> RobotModel:
    bodies = list(model.bodies)
    bodies[2] = evolve(bodies[2], inertia=evolve(bodies[2].inertia, **changes))
    return evolve(model, bodies=tuple(bodies))


def joint(model: RobotModel, **changes: Any) -> RobotModel:
    joints = list(model.joints)
    joints[2] = evolve(joints[2], **changes)
    return evolve(model, joints=tuple(joints))


def moved(model: RobotModel) -> RobotModel:
    placement = np.array(model.joints[2].placement)
    placement[0, 3] = np.nextafter(placement[0, 3], 1.0)
    return joint(model, placement=placement)


CHANGES = {
    "mass": lambda o: evolve(o, model=inertia(o.model, mass=1.0000001)),
    "com": lambda o: evolve(o, model=inertia(o.model, com=(0.1, 0.2, 0.3))),
    "inertia": lambda o: evolve(o, model=inertia(o.model, rotational=np.eye(3))),
    "one bit of a placement": lambda o: evolve(o, model=moved(o.model)),
    "axis": lambda o: evolve(o, model=joint(o.model, axis=(1.0, 0.0, 0.0))),
    "damping": lambda o: evolve(o, model=joint(o.model, damping=0.123)),
    "dtype": lambda o: evolve(o, dtype=np.dtype("float32")),
    "optional inputs": lambda o: evolve(o, present=frozenset({"qdd", "f_ext"})),
    "no optional inputs": lambda o: evolve(o, present=frozenset()),
    "an input that the batch shares": lambda o: evolve(o, algorithm=sharing(o.algorithm, ["qd"])),
    "joint dynamics": lambda o: evolve(o, options=Options(use_joint_dynamics=True, targets=(3,))),
    "targets": lambda o: evolve(o, options=Options(targets=(3, 4))),
    "algorithm": lambda o: evolve(o, algorithm=o.available["nonlinear_effects"]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_changes_the_key(change: str) -> None:
    key = operation_key(base(), TARGET)
    assert key is not None
    assert operation_key(CHANGES[change](base()), TARGET) != key


@pytest.mark.parametrize("entry", TARGET)
def test_every_entry_of_the_target_counts(entry: str) -> None:
    changed = {**TARGET, entry: TARGET[entry] + "x"}
    assert operation_key(base(), changed) != operation_key(base(), TARGET)


def test_keys_are_64_hex_digits_and_repeatable() -> None:
    key = operation_key(base(), TARGET)
    assert key is not None
    assert len(key) == 64
    assert int(key, 16) >= 0
    again = operation_key(base(), dict(reversed(TARGET.items())))
    assert again == key
    fresh = evolve(base(), model=load_urdf(asset_path("iiwa14")))
    assert operation_key(fresh, TARGET) == key


def test_what_cannot_be_identified_has_no_key() -> None:
    assert operation_key(base(), {**TARGET, "lowering": ""}) is None
    typed = evolve(base().algorithm, program=eval("lambda ctx: {}", {"__name__": "__main__"}))
    assert operation_key(evolve(base(), algorithm=typed), TARGET) is None
    assert source_digest("no_such_module") is None
    assert source_digest("sys") is None


KEY = """
import sys
from grid_core.assets import asset_path
from grid_core.artifact import operation_key, identity
from grid_core.model import load_urdf
from tests.program.operations import operation
identity._STARTED += 1e6
present = frozenset(sys.argv[1].split(","))
print(operation_key(operation(load_urdf(asset_path("iiwa14")), "inverse_dynamics", present), {}))
"""


def test_keys_are_equal_between_processes_and_hash_seeds() -> None:
    keys = {python(KEY, "qdd,f_ext", PYTHONHASHSEED=seed) for seed in ("0", "1", "4242")}
    assert len(keys) == 1
    assert len(keys.pop()) == 64


def _plugin(folder: Path, gain: float) -> None:
    """A package with its program in one folder and what it calls in another."""
    for name, text in {
        "__init__.py": "",
        "maths/__init__.py": "",
        "maths/gain.py": f"def gain():\n    return {gain}\n",
        "plugins/__init__.py": "",
        "plugins/program.py": """
            from our_lab.maths.gain import gain

            def program(ctx):
                return {"y": [gain() * ctx["q"][0]]}
        """,
    }.items():
        path = folder / "our_lab" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        past = time.time() - 100.0
        os.utime(path, (past, past))


PLUGIN_KEY = """
import functools, sys
from attrs import evolve
from grid_core.assets import asset_path
from grid_core.artifact import operation_key, identity
from grid_core.model import load_urdf
from our_lab.plugins.program import program
from tests.program.operations import made_up, operation
if "settled" in sys.argv:
    identity._STARTED += 1e6
algorithm = evolve(made_up(program), reference=program)
if "partial" in sys.argv:
    algorithm = evolve(algorithm, program=functools.partial(program))
print(operation_key(operation(load_urdf(asset_path("iiwa14")), algorithm), {}))
"""


@pytest.mark.parametrize("kind", ["plain", "partial"])
def test_an_edit_anywhere_in_a_plugins_package_changes_its_keys(tmp_path: Path, kind: str) -> None:
    keys = []
    for gain in (2.0, 2.0, 3.0):
        _plugin(tmp_path, gain)
        keys.append(python(PLUGIN_KEY, "settled", kind, path=tmp_path))
    assert keys[0] == keys[1] != keys[2]
    assert "None" not in keys


def _module(name: str, file: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(text)
    module = types.ModuleType(name)
    module.__file__ = str(file)
    exec(compile(text, str(file), "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, name, module)


def test_source_edited_while_the_process_runs_has_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs what it had imported; under the new file's key others would get the old code."""
    file = tmp_path / "a_plugin.py"
    _module("a_plugin", file, "def program(ctx):\n    return {}\n", monkeypatch)
    now = time.time()
    monkeypatch.setattr(identity, "_STARTED", now - 50.0)
    for age, known in ((100.0, True), (10.0, False), (-3600.0, True)):  # the last: a wrong clock
        os.utime(file, (now - age, now - age))
        source_digest.cache_clear()
        assert (source_digest("a_plugin") is not None) is known


def test_a_module_alone_and_a_package_are_both_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a_plugin.py"
    digests = set()
    for text in ("x = 1\n", "x = 2\n"):
        _module("a_plugin", file, text, monkeypatch)
        source_digest.cache_clear()
        digests.add(source_digest("a_plugin"))
    assert len(digests) == 2
    assert None not in digests
    file.unlink()
    source_digest.cache_clear()
    assert source_digest("a_plugin") is None
    assert source_digest("grid_core") is not None


@pytest.mark.parametrize(
    ("module", "unit"),
    [
        ("grid_plugins.fd.program", "grid_plugins.fd"),
        ("grid_core.program.trace", "grid_core"),
        ("our_lab.plugins.program", "our_lab"),
        ("alone", "alone"),
    ],
)
def test_a_package_is_one_unit_and_a_family_too(module: str, unit: str) -> None:
    assert identity._unit(module) == unit


def test_a_partial_program_is_of_its_functions_module() -> None:
    program = functools.partial(functools.partial(base().algorithm.program))
    assert identity._module(program) == "grid_plugins.id.program"
