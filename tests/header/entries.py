"""A program that runs the host entries of a header on files, and what should come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import grid_core
from tests.header.headers import filled, handle, header, states
from tests.support.compare import assert_close

if TYPE_CHECKING:
    from pathlib import Path

ALGORITHMS = (
    *("forward_dynamics", "inverse_dynamics", "crba", "inverse_dynamics_gradient"),
    *("end_effector_pose", "end_effector_pose_gradient", "end_effector_pose_hessian"),
    "end_effector_pose_runtime",
)
RUN = ("forward_dynamics", "inverse_dynamics_f_ext", *ALGORITHMS[2:])
"""What is run; each once by its host entry and once by its `_compute_only`."""
BATCH = 37
"""A block of 32 and what is left."""

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

static void clear(double* device, std::size_t count)
{
    if (cudaMemsetAsync(device, 0xff, count * 8, nullptr) != cudaSuccess) std::abort();
}

static void fetch(double* host, const double* device, std::size_t count)
{
    const auto code = cudaMemcpyAsync(host, device, count * 8, cudaMemcpyDeviceToHost, nullptr);
    if (code != cudaSuccess) std::abort();
    if (cudaStreamSynchronize(nullptr) != cudaSuccess) std::abort();
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
    clear(data->d_##name, std::size_t(size) * n); \\
    grid::name##_compute_only(data, n); \\
    fetch(data->h_##name, data->d_##name, std::size_t(size) * n); \\
    write(data->h_##name, std::size_t(size) * n, #name "_compute_only");
    RUN(forward_dynamics, wide)
    RUN(inverse_dynamics_f_ext, wide)
    RUN(crba, wide * wide)
    RUN(inverse_dynamics_gradient, wide * 2 * wide)
    RUN(end_effector_pose, poses)
    RUN(end_effector_pose_gradient, poses * wide)
    RUN(end_effector_pose_hessian, poses * wide * wide)
    RUN(end_effector_pose_runtime, poses)
    // Fewer than there is room for, and none.
    grid::forward_dynamics(data, 3, -9.81);
    grid::forward_dynamics(data, 0);
    grid::free_gridData(data);
#if defined(FAKE_CUDA)
    if (!fake::device.empty() || !fake::host.empty()) return 3;
#endif
    return 0;
}
"""


def text_of(robot: str) -> str:
    return header(robot, algorithm_list=ALGORITHMS, optional_inputs=("f_ext",))


def write_inputs(robot: str, folder: Path) -> None:
    """Put random states where the program reads them; NaN is in the pads of the blocks."""
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
        (folder / name).write_bytes(np.ascontiguousarray(array).tobytes())
    np.savez(folder / "given.npz", **given)


def require_right(robot: str, name: str, folder: Path) -> None:
    """Compare what both entries of an operation wrote with the textbook."""
    with np.load(folder / "given.npz") as given:
        wanted = np.asarray(_expected(robot, name, given)).reshape(BATCH, -1)
    for suffix in ("", "_compute_only"):
        got = np.frombuffer((folder / f"{name}{suffix}").read_bytes()).reshape(wanted.shape)
        assert_close(got, wanted, rtol=1e-8, noise=1e-10)


def _expected(robot: str, name: str, given: Any) -> Any:
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
    if "dynamics" in name:
        return getattr(made, name)(given["q"], given["qd"], given["u"])
    return getattr(made, name)(given["q"])
