"""Kernels of whole robots, rendered, compiled by NVRTC, and their statements run on the host."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_backend_cuda.build import compile_source, kernel_source
from grid_core.algorithm import Options
from grid_core.assets import asset_path
from grid_core.targets import find_targets
from grid_core.testing.inputs import random_inputs
from tests.program.operations import operation
from tests.support.evaluate import ALGORITHMS, Reference
from tests.support.humanoid import HUMANOID
from tests.support.robots import Robot, _chain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grid_backend_cuda.build import Build, Source
    from grid_backend_cuda.emit import Real
    from grid_core.model.types import RobotModel

DTYPES = ("float32", "float64")
OPERATIONS = tuple(ALGORITHMS)
DYNAMICS = (
    *("inverse_dynamics", "generalized_gravity", "nonlinear_effects"),
    *("crba", "forward_dynamics", "aba", "minv"),
)
FULL = {
    "inverse_dynamics": ("f_ext", "qdd"),
    "forward_dynamics": ("f_ext",),
    "aba": ("f_ext",),
}
"""Operations with optional inputs, and those inputs."""
_SKEW = {"axis": (0.3, -0.4, 1.2)}
_KINDS = _chain(
    "kinds",
    [
        ("revolute", _SKEW),
        ("spherical", {}),
        ("helical", {**_SKEW, "pitch": 0.07}),
        ("prismatic", {"axis": (0, -1, 0), "mimic": ("j1", -0.5, 0.1)}),
        ("continuous", {"axis": (1, 0, 0)}),
    ],
    [0, 1, 2, 1, 4],
)
ROBOTS: dict[str, tuple[Robot, bool]] = {
    "iiwa14": (Robot("iiwa14", path=asset_path("iiwa14")), False),
    "go2": (Robot("go2", path=asset_path("go2")), True),
    "kinds": (_KINDS, False),
    "humanoid": (HUMANOID, True),
}
"""Robots by name, and whether their base floats."""


def model(robot: str) -> RobotModel:
    found, floating = ROBOTS[robot]
    return found.load(floating_base=floating)


def options_of(robot: str, name: str) -> dict[str, Any]:
    """Options that an operation needs: a pose's targets."""
    if not name.startswith("end_effector"):
        return {}
    return {"targets": find_targets(model(robot), None)}


@functools.cache
def source(robot: str, name: str, dtype: str = "float32", present: tuple[str, ...] = ()) -> Source:
    return kernel_source(
        operation(model(robot), name, present, dtype=dtype, **options_of(robot, name)), "sm_90"
    )


@functools.cache
def built(
    robot: str,
    name: str,
    dtype: str = "float32",
    arch: str = "sm_90",
    present: tuple[str, ...] = (),
) -> Build:
    return compile_source(source(robot, name, dtype, present), arch)


def inputs_for(
    robot: str, name: str, batch: int, present: tuple[str, ...] = (), dtype: str = "float64"
) -> dict[str, Any]:
    """Random inputs, rounded to the precision."""
    made = random_inputs(
        ALGORITHMS[name],
        model(robot),
        Options(**options_of(robot, name)),
        batch=batch,
        present=present,
        seed=batch,
    )
    return {
        k: float(np.asarray(v, dtype)) if isinstance(v, float) else v.astype(dtype)
        for k, v in made.items()
    }


def expected(source: Source, inputs: dict[str, Any]) -> dict[str, Any]:
    """What NumPy makes of the program, in float64."""
    return source.program.evaluate(
        {k: v if isinstance(v, float) else v.astype(np.float64) for k, v in inputs.items()}
    )


def tolerance(robot: str, name: str, dtype: str, inputs: dict[str, Any]) -> float:
    """Rounding that an operation may show, by the condition of M where that is inverted."""
    eps = float(np.finfo(dtype).eps)
    if name not in {"forward_dynamics", "aba", "minv"}:
        return 100.0 * eps
    M = Reference(model(robot))("crba", q=inputs["q"].astype(np.float64))
    return 40.0 * eps * float(np.linalg.cond(M).max())


def host_compiler() -> str:
    found = shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")
    if found is None:
        pytest.skip("no C++ compiler here to run the statements with")
    return found


_SHIM = """
#include <cmath>
#include <cstring>
#define __restrict__
typedef {real} real;
struct float4 {{ float x, y, z, w; }};
struct double2 {{ double x, y; }};
static inline int __float_as_int(float x) {{ int k; std::memcpy(&k, &x, 4); return k; }}
static inline float __int_as_float(unsigned k) {{ float x; std::memcpy(&x, &k, 4); return x; }}
static inline long long __double_as_longlong(double x)
{{ long long k; std::memcpy(&k, &x, 8); return k; }}
static real grid_far_sin(real x) {{ return std::sin(x); }}
static real grid_far_cos(real x) {{ return std::cos(x); }}
static real grid_near(real x) {{ return std::atan2(std::sin(x), std::cos(x)); }}
"""


class Host:
    """Statements compiled by the host's C++ compiler.

    Args:
        folder: where to put files.
        real: the precision.
        functions: body of each function by name, all over the arguments ``signature``.
        signature: the arguments.
        preamble: what stands before them.
    """

    def __init__(
        self,
        folder: Path,
        real: Real,
        functions: dict[str, Iterable[str]],
        signature: str,
        preamble: str = "",
    ) -> None:
        text = [_SHIM.format(real=real.name), preamble]
        for name, body in functions.items():
            text += [f'extern "C" void {name}({signature}) {{', *body, "}"]
        path, library = folder / "kernel.cpp", folder / "kernel.so"
        path.write_text("\n".join(text), encoding="utf-8")
        command = [host_compiler(), "-O1", "-w", "-fPIC", "-shared", "-ffp-contract=fast"]
        subprocess.run([*command, *_fma(), "-o", str(library), str(path)], check=True)
        self._library = ctypes.CDLL(str(library))

    def function(self, name: str) -> Callable[..., None]:
        found: Callable[..., None] = getattr(self._library, name)
        return found


def _fma() -> list[str]:
    """The reduction of angles counts on products and sums that are fused."""
    try:
        return ["-mfma"] if " fma " in Path("/proc/cpuinfo").read_text(encoding="utf-8") else []
    except OSError:
        return []


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
