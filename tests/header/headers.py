"""Robots' headers, written once a process, and what C++ compilers make of them."""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import grid_core
from grid_core.abi import input_block
from tests.cuda.kernels import ROBOTS as KERNEL_ROBOTS
from tests.support.robots import HAND_MADE, Robot

if TYPE_CHECKING:
    from grid_core.abi import InputBlock
    from grid_core.handle import RobotHandle

FAKE = Path(__file__).parent / "fake"
"""Folder of a ``cuda_runtime.h`` that runs kernels on the host."""

OPERATIONS = (
    *("forward_dynamics", "inverse_dynamics", "crba", "minv", "nonlinear_effects"),
    *("forward_dynamics_gradient", "inverse_dynamics_gradient", "frame_jacobian_dot"),
    *("end_effector_pose", "end_effector_pose_gradient", "end_effector_pose_hessian"),
    *("end_effector_pose_runtime", "forward_kinematics", "inverse_dynamics_regressor"),
)
"""What most tests write into the header; the pose with run-time targets takes arrays of its own."""
LONG = ("forward_dynamics_gradient", "end_effector_pose_hessian")
"""What takes long to compile for a quadruped, and is left out there."""

ROBOTS: dict[str, tuple[Robot, bool]] = {
    "iiwa14": KERNEL_ROBOTS["iiwa14"],
    "go2": KERNEL_ROBOTS["go2"],
    "spherical": (HAND_MADE["spherical"], False),
    "kinds": (KERNEL_ROBOTS["kinds"][0], True),
    "mimic_constant": (HAND_MADE["mimic_constant"], False),
    "one_body": (HAND_MADE["one_body"], False),
}
"""Robots by name, and whether their base floats: nq - nv is 0, 1, 2 and 2, then 0 and 0."""


@functools.cache
def header(robot: str, dtype: str = "float64", **options: Any) -> str:
    found, floating = ROBOTS[robot]
    names = tuple(name for name in OPERATIONS if robot != "go2" or name not in LONG)
    given = {"algorithm_list": names, **options}
    return grid_core.generate_header(
        urdf_string=found.source(), floating_base=floating, dtype=dtype, **given
    )


@functools.cache
def handle(robot: str) -> RobotHandle:
    """A handle that computes by the textbook, in float64."""
    found, floating = ROBOTS[robot]
    return grid_core.load_robot(
        urdf_string=found.source(), floating_base=floating, backend="reference", dtype="float64"
    )


def block_of(robot: str) -> InputBlock:
    return input_block(handle(robot).model)


def compiler() -> str:
    found = shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")
    if found is None:
        pytest.skip("no C++ compiler here")
    return found


@functools.cache
def compiled(text: str, source: str, *, shared: bool = True, flags: tuple[str, ...] = ()) -> Path:
    """Compile a source that includes ``grid.cuh``, which is the text; warnings are errors."""
    kept = tempfile.TemporaryDirectory(prefix="grid_header_")
    atexit.register(kept.cleanup)  # a library stays loaded until then
    folder = Path(kept.name)
    (folder / "grid.cuh").write_text(text, encoding="utf-8")
    (folder / "main.cpp").write_text(source, encoding="utf-8")
    result = folder / ("main.so" if shared else "main")
    warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-overlength-strings")
    kind = ("-shared", "-fPIC") if shared else ()
    command = [compiler(), "-std=c++17", *warnings, *kind, *flags, "main.cpp", "-o", str(result)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return result


def library(text: str, source: str, *flags: str) -> ctypes.CDLL:
    return ctypes.CDLL(os.fspath(compiled(text, source, flags=flags)))


def pointer(array: Any) -> Any:
    assert array.flags.c_contiguous
    return ctypes.c_void_p(array.ctypes.data)


def states(robot: str, batch: int, seed: int | None = None) -> dict[str, Any]:
    """Random q, qd, u and qdd."""
    rng, made = np.random.default_rng(seed), handle(robot)
    q = made.random_configuration(rng, batch=batch)
    return {"q": q} | {name: rng.normal(size=(batch, made.nv)) for name in ("qd", "u", "qdd")}


def filled(robot: str, given: dict[str, Any], third: str, pad: float = np.nan) -> Any:
    """Blocks as a caller fills them by the emitted offsets; the pads are what nobody may read."""
    block = block_of(robot)
    result = np.full((len(given["q"]), block.stride), pad)
    for slot in block.slots:
        if slot.name in ("q", "qd", third):
            result[:, slot.offset : slot.offset + slot.width] = given[slot.name]
    return result
