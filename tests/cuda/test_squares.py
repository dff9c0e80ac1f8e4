"""Sums of squares on the card: the plan, the compiled kernel, and its arithmetic on a host.

There the kernel's own text runs, a thread of the host for each of a block's, and barriers that
wait as the card's do.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grid_backend_cuda.emit import Real
from grid_backend_cuda.squares import compile_squares, plan_squares, squares_source
from grid_backend_cuda.squares_launch import assemble
from grid_core.algorithm import Options
from grid_core.assets import asset_path
from grid_core.errors import BackendError
from grid_core.program.trace import trace
from grid_core.testing import random_inputs
from grid_plugins.regressor.gram import row_ends
from tests.cuda.kernels import host_compiler, pointer
from tests.program.operations import operation
from tests.regressor.evaluate import ALL, REGRESSORS
from tests.support.robots import HAND_MADE, Robot

if TYPE_CHECKING:
    from pathlib import Path

    from grid_core.backend import Operation
    from grid_core.model.types import RobotModel

ARM, QUADRUPED = (
    Robot(name, path=asset_path(name)).load(floating_base=name == "go2")
    for name in ("iiwa14", "go2")
)
SHIM = """
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>
#define __restrict__
#define __constant__ const
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
struct Place { int x; };
static thread_local Place threadIdx, blockIdx;
static Place gridDim;
struct double2 { double x, y; };
static inline double2 make_double2(double x, double y) { return {x, y}; }
static inline int __float_as_int(float x) { int k; std::memcpy(&k, &x, 4); return k; }
static inline float __int_as_float(unsigned k) { float x; std::memcpy(&x, &k, 4); return x; }
static inline long long __double_as_longlong(double x)
{ long long k; std::memcpy(&k, &x, 8); return k; }
static inline void __syncwarp() {}
static std::vector<double2> shared;
struct Barrier {
    std::mutex lock; std::condition_variable there; int count = 0; long turn = 0;
    void arrive(bool wait) {
        std::unique_lock<std::mutex> held(lock);
        const long mine = turn;
        if (++count == PARTIES) { count = 0; ++turn; there.notify_all(); return; }
        if (wait) there.wait(held, [&] { return turn != mine; });
    }
};
static Barrier barriers[5];
"""
RUN = """
extern "C" void run(int blocks, int threads, int bytes, ARGUMENTS) {
    gridDim.x = blocks;
    for (int block = 0; block < blocks; ++block) {
        shared.assign(bytes / 16, double2{NAN, NAN});
        std::vector<std::thread> all;
        for (int k = 0; k < threads; ++k) all.emplace_back([=] {
            threadIdx.x = k; blockIdx.x = block;
            KERNEL(NAMES);
        });
        for (auto& one : all) one.join();
    }
}
"""


def operation_of(model: RobotModel, dtype: str) -> Operation:
    return operation(model, REGRESSORS["regressor_gram"], available=ALL, dtype=dtype)


def segments_of(model: RobotModel) -> list[int]:
    return [int(width) for width in np.diff([0, *row_ends(model, Options())])]


def test_every_pair_of_a_segment_has_one_place() -> None:
    segments = [9, 1, 16, 62]
    for arch in ("sm_80", "sm_90", "sm_120"):
        plan = plan_squares(segments, arch)
        places = np.arange(64.0 * plan.padded).reshape(64, plan.padded)
        for width, matrix in zip(segments, assemble(plan, places), strict=True):
            assert matrix.shape == (width, width)
            lower = matrix[np.tril_indices(width)]
            assert len(set(lower.tolist())) == len(lower)
        assert plan.pitch % 2 == 1
        assert plan.threads <= 256


def test_wide_problems_take_fewer_at_a_time() -> None:
    many = plan_squares([60] * 7, "sm_90")
    assert (many.samples, many.buffers) == (32, 2)
    few = plan_squares([350] * 20, "sm_90")
    assert few.shared_bytes <= 227 * 1024
    assert few.samples < 32
    with pytest.raises(BackendError, match="sums of squares of 40000 values do not fit sm_90"):
        plan_squares([500] * 80, "sm_90")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_arms_sums_stay_in_registers(dtype: str) -> None:
    plan = plan_squares(segments_of(ARM), "sm_90")
    build = compile_squares(operation_of(ARM, dtype), plan, "sm_90")
    assert build.spill_bytes <= 64
    assert (build.registers, build.shared_bytes) == (255, plan.shared_bytes)
    assert build.inputs == ("q", "qd", "qdd", "tau", "gravity", "group")


@pytest.mark.parametrize(
    ("name", "arch", "batch", "blocks"),
    [
        ("arm", "sm_90", 150, 2),
        ("arm", "sm_120", 37, 3),
        ("quadruped", "sm_120", 37, 2),
        ("skew_axes", "sm_90", 1, 1),
    ],
)
def test_on_a_host(name: str, arch: str, batch: int, blocks: int, tmp_path: Path) -> None:
    """Blocks in turn, launches one after the other, the last of which adds the blocks."""
    known = {"arm": ARM, "quadruped": QUADRUPED}
    model = known[name] if name in known else HAND_MADE[name].load(floating_base=True)
    asked = operation_of(model, "float64")
    program = trace(asked)
    plan = plan_squares(segments_of(model), arch)
    text = squares_source(program, plan, Real("float64"))
    text = re.sub(r"asm volatile\(\"bar.sync.*", "barriers[barrier].arrive(true);", text)
    text = re.sub(r"asm volatile\(\"bar.arrive.*", "barriers[barrier].arrive(false);", text)
    text = text.replace(
        "extern __shared__ double2 grid_shared[];", "double2* const grid_shared = shared.data();"
    )
    names = [port.name for port in program.inputs]
    kinds = ["double" if port.uniform else "const double*" for port in program.inputs]
    arguments = ["long long batch", *(f"{k} {n}" for k, n in zip(kinds, names, strict=True))]
    arguments += ["double group", "double* partial", "double* total"]
    values = ["batch", "0", *names, "group", "partial", "total"]
    run = RUN.replace("ARGUMENTS", ", ".join(arguments)).replace("NAMES", ", ".join(values))
    run = run.replace("KERNEL", f"grid_{program.name}")
    shim = SHIM.replace("PARTIES", str(32 + plan.width))
    source, library = tmp_path / "squares.cpp", tmp_path / "squares.so"
    source.write_text(shim + text + run, encoding="utf-8")
    command = [host_compiler(), "-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-pthread"]
    subprocess.run([*command, "-o", str(library), str(source)], check=True)
    call = ctypes.CDLL(str(library)).run
    call.restype = None
    inputs = random_inputs(asked.algorithm, model, asked.options, batch=batch, seed=2)
    given = [
        ctypes.c_double(inputs[n]) if p.uniform else pointer(inputs[n])
        for n, p in zip(names, program.inputs, strict=True)
    ]
    partial = np.zeros((blocks, 64, plan.padded))
    total = np.full((64, plan.padded), np.nan)
    shape = (blocks, plan.threads, plan.shared_bytes)
    for group in (*range(plan.groups), -blocks):
        last = (ctypes.c_double(group), pointer(partial), pointer(total))
        call(*shape, ctypes.c_longlong(batch), *given, *last)
    rows = program.evaluate(inputs)["rows"]
    ends = np.cumsum(plan.segments)
    for x, sums in zip(np.split(rows, ends[:-1], axis=1), assemble(plan, total), strict=True):
        expected = x.T @ x
        np.testing.assert_allclose(sums, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())
