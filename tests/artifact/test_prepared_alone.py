"""Loading where there is neither the robot's source nor a compiler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import grid_core
from grid_core.assets import asset_path
from tests.artifact.prepared import know_sources
from tests.artifact.processes import python

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]

ALONE = """
import importlib.abc, json, sys

BLOCKED = ("lxml", "jinja2", "cuda", "torch", "pinocchio", "mujoco")

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in BLOCKED:
            raise ImportError(f"{name} is not here")
        return None

sys.meta_path.insert(0, Refuse())

import llvmlite.binding as llvm

def compiles(*args, **keywords):
    raise AssertionError("the compiler was called")

for name in ("parse_assembly", "parse_bitcode", "create_mcjit_compiler", "create_pass_builder"):
    assert hasattr(llvm, name)
    setattr(llvm, name, compiles)
for name in ("emit_object", "emit_assembly"):
    assert hasattr(llvm.TargetMachine, name)
    setattr(llvm.TargetMachine, name, compiles)
for name in ("add_ir", "add_native_assembly"):
    assert hasattr(llvm.JITLibraryBuilder, name)
    setattr(llvm.JITLibraryBuilder, name, compiles)

import numpy as np
import grid_core
from grid_core.program import trace

trace.trace = compiles
robot = grid_core.load_artifact(sys.argv[1], expected_descriptor_id=sys.argv[2])
states = np.load(sys.argv[3])
result = robot.forward_dynamics(*states)
J = robot.frame_jacobian(states[0], "iiwa_link_4")
loaded = [m for m in sys.modules if m.split(".")[0] in BLOCKED or m == "grid_backend_cpu.lower"]
print(json.dumps({
    "qdd": result.tolist(), "J": J.tolist(), "nq": robot.nq, "names": robot.joint_names,
    "target": robot.target, "loaded": loaded, "limits": robot.joint_pos_limits.tolist(),
}))
"""


def test_it_runs_without_source_or_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D39: in a process where importing lxml, Jinja2 or CUDA raises, and so does compiling."""
    know_sources()
    source = tmp_path / "robot.urdf"
    source.write_bytes(asset_path("iiwa14").read_bytes())
    place = tmp_path / "artifact"
    made = grid_core.build_artifact(
        source,
        place,
        backends="cpu",
        dtype="float64",
        instruction_sets=["x86-64-v3", "native"],
        algorithm_list=["forward_dynamics", "frame_jacobian"],
        calls={"frame_jacobian": {"frame": "iiwa_link_4"}},
    )
    robot = grid_core.load_robot(source, backend="cpu", dtype="float64")
    source.unlink()
    rng = np.random.default_rng()
    states = np.stack([robot.random_configuration(rng, 101), *rng.standard_normal((2, 101, 7))])
    np.save(tmp_path / "states.npy", states)
    monkeypatch.chdir(tmp_path)
    printed = python(
        ALONE,
        place,
        made.descriptor_id,
        tmp_path / "states.npy",
        path=ROOT,
        GRID_CACHE_DIR=str(tmp_path / "unused"),
        PATH="",
        CUDA_VISIBLE_DEVICES="",
    )
    said: dict[str, Any] = json.loads(printed)
    assert said["loaded"] == []
    assert said["target"] == "native"
    assert not (tmp_path / "unused").exists()
    # Bit for bit: JSON has every digit.
    assert said["qdd"] == robot.forward_dynamics(*states).tolist()
    assert said["J"] == robot.frame_jacobian(states[0], "iiwa_link_4").tolist()
    assert said["qdd"] == made.load().forward_dynamics(*states).tolist()
    assert said["names"] == list(robot.joint_names)
    assert said["limits"] == robot.joint_pos_limits.tolist()


MISSING = """
import sys
import grid_core
from grid_core.plugins import manager

found = manager.announcements()
manager.announcements = lambda: tuple(a for a in found if a.provider.plugin in ("cpu", "urdf"))
robot = grid_core.load_artifact(sys.argv[1])
print(robot.forward_dynamics([0.0] * 7, [0.0] * 7, [0.0] * 7).shape)
try:
    robot.frame_jacobian([0.0] * 7)
except grid_core.errors.OperationNotLoaded as error:
    print(error)
"""


def test_the_plugins_that_were_built_from_are_not_needed(tmp_path: Path) -> None:
    """Only a method that a plugin writes itself is code that no artifact holds."""
    grid_core.build_artifact(
        asset_path("iiwa14"),
        tmp_path / "a",
        backends="cpu",
        instruction_sets="x86-64-v3",
        algorithm_list=["forward_dynamics", "frame_jacobian"],
    )
    first, second = python(MISSING, tmp_path / "a").splitlines()
    assert first == "(7,)"
    assert second.startswith("frame_jacobian: its method is part of grid-robotics 0.")
    assert "no algorithm is called 'frame_jacobian'" in second
    assert "install what the artifact was built with" in second
