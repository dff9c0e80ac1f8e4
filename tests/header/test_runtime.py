"""Kernels and host entries, run on the host: a block's threads are threads, memory is checked."""

from __future__ import annotations

import ctypes
import functools
import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import grid_core
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

ALGORITHMS = (
    *("forward_dynamics", "inverse_dynamics", "crba", "forward_dynamics_gradient"),
    *("end_effector_pose", "end_effector_pose_gradient", "end_effector_pose_hessian"),
    "end_effector_pose_runtime",
)
GIVEN = ("f_ext",)
RUN = ("forward_dynamics", "inverse_dynamics_f_ext", *ALGORITHMS[2:])
"""What is run; each once by its host entry and once by its `_compute_only`."""
BATCH = 37
"""A block of 32 and what is left."""
FLAGS = ("-pthread", f"-I{FAKE}", "-D__CUDACC__", "-Wno-unknown-pragmas")
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1")

MAIN = """
#include "grid.cuh"
#include <cstdio>
#include <cstdlib>

typedef grid::gridData<double> Data;

static void read(double* to, std::size_t count, const char* name)
{
    std::FILE* file = std::fopen(name, "rb");
    if (file == nullptr || std::fread(to, 8, count, file) != count) std::abort();
    std::fclose(file);
}

static void write(const double* from, std::size_t count, const std::string& name)
{
    std::FILE* file = std::fopen(name.c_str(), "wb");
    if (file == nullptr || std::fwrite(from, 8, count, file) != count) std::abort();
    std::fclose(file);
}

int main()
{
    const int n = BATCH;
    Data* data = grid::init_gridData<double, BATCH>();
    read(data->h_q_qd_u, std::size_t(3) * grid::NUM_JOINTS * n, "q_qd_u");
    read(data->h_f_ext, std::size_t(6) * grid::NUM_BODIES * n, "f_ext");
    read(data->h_body, grid::NUM_EES, "body");
    read(data->h_placement, 12 * grid::NUM_EES, "placement");
    const int wide = grid::NUM_VEL, poses = 6 * grid::NUM_EES;
    (void)wide, (void)poses;
#define RUN(name, size) \\
    grid::name(data, n); \\
    write(data->h_##name, std::size_t(size) * n, #name); \\
    std::memset(data->d_##name, 0xff, std::size_t(size) * n * 8); \\
    grid::name##_compute_only(data, n); \\
    write(data->d_##name, std::size_t(size) * n, #name "_compute_only");
    RUN(forward_dynamics, wide)
    RUN(inverse_dynamics_f_ext, wide)
    RUN(crba, wide * wide)
    RUN(forward_dynamics_gradient, wide * 2 * wide)
    RUN(end_effector_pose, poses)
    RUN(end_effector_pose_gradient, poses * wide)
    RUN(end_effector_pose_hessian, poses * wide * wide)
    RUN(end_effector_pose_runtime, poses)
    // Fewer than there is room for, and none; then pointers with a stride of the caller's own.
    grid::forward_dynamics(data, 3, -9.81);
    grid::forward_dynamics(data, 0);
    grid::free_gridData(data);
    if (!fake::device.empty() || !fake::host.empty()) return 3;
    return 0;
}
"""


@functools.cache
def folder(robot: str) -> Path:
    """Run everything on random states; return where inputs and results are."""
    text = header(robot, algorithm_list=ALGORITHMS, optional_inputs=GIVEN)
    flags = (*FLAGS, *_sanitized(), f"-DBATCH={BATCH}")
    program = compiled(text, MAIN, shared=False, flags=flags)
    made, given = handle(robot), states(robot, BATCH)
    rng = np.random.default_rng()
    given["f_ext"] = rng.normal(size=(BATCH, made.nb, 6))
    given["points"] = rng.normal(size=(made.num_ees, 3))
    placement = np.tile(np.eye(4)[:3], (made.num_ees, 1, 1))
    placement[:, :, 3] = given["points"]
    files = {
        "q_qd_u": filled(robot, given, "u"),
        "f_ext": given["f_ext"],
        "body": np.array(made.model.leaves, np.float64),
        "placement": placement,
    }
    for name, array in files.items():
        (program.parent / name).write_bytes(np.ascontiguousarray(array).tobytes())
    done = subprocess.run(
        [program], cwd=program.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    np.savez(program.parent / "given.npz", **given)
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


def expected(robot: str, name: str, given: Any) -> Any:
    made = handle(robot)
    if name == "inverse_dynamics_f_ext":
        # The third slot held u: the same numbers are what qdd is read from.
        return made.inverse_dynamics(given["q"], given["qd"], given["u"], f_ext=given["f_ext"])
    if name == "end_effector_pose_runtime":
        loaded = grid_core.load_robot(
            made.model,
            floating_base=made.floating_base,
            algorithm_list=name,
            backend="reference",
            dtype="float64",
        )
        return loaded.end_effector_pose_runtime(given["q"], None, list(given["points"]))
    if name.startswith("forward_dynamics"):
        return getattr(made, name)(given["q"], given["qd"], given["u"])
    return getattr(made, name)(given["q"])


@pytest.mark.parametrize("name", RUN)
@pytest.mark.parametrize("robot", ["iiwa14", "go2", "spherical"])
def test_host_entries(robot: str, name: str) -> None:
    """A6, A7, A10, A15, K8: both entries of every operation, with NaN in the pads of the blocks."""
    at = folder(robot)
    with np.load(at / "given.npz") as given:
        wanted = np.asarray(expected(robot, name, given)).reshape(BATCH, -1)
    for suffix in ("", "_compute_only"):
        got = np.frombuffer((at / f"{name}{suffix}").read_bytes()).reshape(wanted.shape)
        assert_close(got, wanted, rtol=1e-8, noise=1e-10)


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
    text = header("iiwa14", algorithm_list=("crba",))
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
