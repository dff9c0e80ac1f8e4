"""Kernels and host entries, run on the host: a block's threads are threads, memory is checked."""

from __future__ import annotations

import ctypes
import functools
import json
import re
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest

import grid_core
from tests.header.entries import BATCH, MAIN, RUN, require_right, text_of, write_inputs
from tests.header.headers import (
    FAKE,
    ROBOTS,
    block_of,
    compiled,
    filled,
    handle,
    header,
    pointer,
    states,
)
from tests.support.compare import assert_close

if TYPE_CHECKING:
    from pathlib import Path

FLAGS = ("-pthread", f"-I{FAKE}", "-D__CUDACC__", "-Wno-unknown-pragmas")
SANITIZED = ("-fsanitize=address", "-fno-sanitize-recover=all")


@functools.cache
def folder(robot: str) -> Path:
    """Run everything on random states; return where inputs and results are."""
    flags = (*FLAGS, *_sanitized(), f"-DBATCH={BATCH}")
    program = compiled(text_of(robot), MAIN, shared=False, flags=flags)
    write_inputs(robot, program.parent)
    done = subprocess.run(
        [program], cwd=program.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return program.parent


@functools.cache
def _sanitized() -> tuple[str, ...]:
    """Flags of the sanitizers, where the compiler's are installed."""
    try:
        program = compiled("", "int main() {}", shared=False, flags=SANITIZED)
    except AssertionError:
        return ()
    works = subprocess.run([program], capture_output=True, check=False).returncode == 0
    return SANITIZED if works else ()


@pytest.mark.parametrize("name", RUN)
@pytest.mark.parametrize("robot", ["iiwa14", "go2", "spherical"])
def test_host_entries(robot: str, name: str) -> None:
    """A6, A7, A10, A15, K8: both entries of every operation, with NaN in the pads of the blocks."""
    require_right(robot, name, folder(robot))


@pytest.mark.parametrize("robot", ["iiwa14", "go2", "spherical"])
def test_allocation_copy_and_stride_agree(robot: str) -> None:
    """A3, A15, A16: 3 NUM_JOINTS a time step in all three, as compiled and as run."""
    source = """
    #include "grid.cuh"
    #include <cstdio>
    int main()
    {
        const int n = 5;
        grid::gridData<double>* data = grid::init_gridData<double>(n);
        std::printf("{\\"host\\": %zu, \\"device\\": %zu, ", fake::host[(char*)data->h_q_qd_u],
            fake::device[(char*)data->d_q_qd_u]);
        fake::calls.clear();
        grid::forward_dynamics(data, n);
        std::printf("\\"copy\\": %s, \\"stride\\": %d, \\"joints\\": %d}",
            fake::calls[0].c_str() + 5, grid::Q_QD_U_STRIDE, grid::NUM_JOINTS);
        grid::free_gridData(data);
    }
    """
    text = header(robot, algorithm_list=("forward_dynamics",))
    program = compiled(text, source, shared=False, flags=FLAGS)
    said = json.loads(subprocess.run([program], capture_output=True, check=True).stdout)
    size = 3 * block_of(robot).nq * 5 * 8
    assert said["host"] == said["device"] == said["copy"] == size
    assert said["stride"] * 5 * 8 == 3 * said["joints"] * 5 * 8 == size
    assert "std::size_t(3 * NUM_JOINTS) * num_timesteps" in text
    assert re.search(r"GRID_LAUNCH\(forward_dynamics_kernel<T>.*Q_QD_U_STRIDE", text)


def test_a_stride_of_the_callers_own() -> None:
    """A2: problem k is read from k * stride, whatever else lies between."""
    source = """
    #include "grid.cuh"
    extern "C" void fd(double* out, const double* in, int stride, int n)
    {
        const auto kernel = grid::forward_dynamics_kernel<double>;
        fake::launch(kernel, 2, GRID_THREADS)(out, in, stride, -9.81, n);
    }
    """
    text = header("go2", algorithm_list=("forward_dynamics",))
    lib = ctypes.CDLL(str(compiled(text, source, flags=FLAGS)))
    given, stride = states("go2", 70), 60
    wide = np.full((70, stride), np.nan)
    wide[:, :57] = filled("go2", given, "u")
    got = np.full((70, 18), np.nan)
    lib.fd(pointer(got), pointer(wide), stride, 70)
    wanted = handle("go2").forward_dynamics(given["q"], given["qd"], given["u"])
    assert_close(got, wanted, noise=1e-10)


FAILURES = {
    "cudaMalloc": "grid::init_gridData: q_qd_u: cudaErrorMemoryAllocation",
    "cudaMallocHost": "grid::init_gridData: q_qd_u: cudaErrorMemoryAllocation",
    "cudaMemcpyAsync": "grid::crba: copying h_q_qd_u: cudaErrorInvalidValue",
    "launch": "grid::crba_kernel: cudaErrorLaunchFailure",
    "cudaStreamSynchronize": "grid::crba_kernel: cudaErrorLaunchFailure",
    "cudaFree": "grid::free_gridData: cudaErrorInvalidValue",
    "pending": "grid::crba_kernel: an earlier CUDA call had failed: cudaErrorLaunchFailure",
    "room": "grid::crba: 5 time steps, and there is room for 4",
    "negative": "grid::crba: -1 time steps, and there is room for 4",
    "null": "grid::crba: no gridData: call init_gridData first",
    "aligned": "grid::crba_kernel: d_M is not aligned to 16 bytes",
    "size": "grid::init_gridData: -4 time steps",
}


@pytest.mark.parametrize("what", FAILURES)
def test_every_failure_says_where(what: str) -> None:
    """No error of CUDA's is swallowed; nothing stays allocated after one."""
    source = """
    #include "grid.cuh"
    #include <cstdio>
    int main(int, char** argument)
    {
        const std::string what = argument[1];
        fake::failing = what;
        grid::gridData<double>* data = nullptr;
        try {
            data = grid::init_gridData<double>(what == "size" ? -4 : 4);
            if (what == "pending") fake::pending = cudaErrorLaunchFailure;
            const int steps = what == "room" ? 5 : what == "negative" ? -1 : 4;
            if (what == "aligned") grid::crba_compute_only(data->d_crba + 1, data->d_q_qd_u, 3);
            grid::crba(what == "null" ? nullptr : data, steps);
            grid::free_gridData(data);
            data = nullptr;
        } catch (const grid::error& e) {
            std::printf("%s\\n", e.what());
            if (e.code == cudaSuccess) return 4;
        }
        if (what != "cudaFree") grid::free_gridData(data);
        return fake::host.empty() && (what == "cudaFree" || fake::device.empty()) ? 0 : 3;
    }
    """
    text = header("kinds", algorithm_list=("crba",))
    program = compiled(text, source, shared=False, flags=FLAGS)
    done = subprocess.run([program, what], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith(FAILURES[what])


def test_every_default_operation_has_its_entries() -> None:
    """K8: each operation has a function, a kernel and both host entries in the namespace."""
    found, floating = ROBOTS["iiwa14"]
    text = grid_core.generate_header(urdf_string=found.source(), floating_base=floating)
    names = [i.name for i in grid_core.list_algorithms() if f" {i.name}_thread(" in text]
    assert {"end_effector_pose", "end_effector_pose_gradient", "end_effector_pose_hessian"} <= {
        *names
    }
    for name in names:
        assert len(re.findall(rf"^void {name}\(gridData<T>\* data", text, re.MULTILINE)) == 1
        assert len(re.findall(rf"^void {name}_compute_only\(", text, re.MULTILINE)) == 2
        assert f" {name}_kernel(T* GRID_RESTRICT d_" in text
        assert f" {name}_timestep(real* GRID_RESTRICT" in text
