"""The header as device code: NVRTC without a GPU, and nvcc where there is one."""

from __future__ import annotations

import functools
import io
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

import grid_core
from tests.header.headers import ROBOTS, header

if TYPE_CHECKING:
    from pathlib import Path

ARCHS = ("sm_80", "sm_90", "sm_120")
ALGORITHMS = ("forward_dynamics", "inverse_dynamics", "crba", "end_effector_pose_hessian")

DEVICE = """
// What a thread of the device may do with the model.
extern "C" __global__ void model(int id, int body, const double* world, double* out, int* said)
{
    grid::model::joint_record j;
    grid::model::frame_record f;
    if (grid::model::joint(id, j)) out[0] = j.T_parent_joint_zero[12] + j.axis[2];
    if (grid::model::frame(id, f)) out[1] = f.T_body_frame[12];
    said[0] = grid::model::compose_frame_from_body(id, body, world, out + 2);
    said[1] = grid::NUM_POS + grid::GRID_U_OFFSET + grid::model::nv;
}
"""


def compile_device(text: str, arch: str, *kernels: str) -> tuple[bytes, str]:
    """Return the machine code and the compiler's log."""
    core = pytest.importorskip("cuda.core")
    names = tuple(f"grid::{name}_kernel<grid::real>" for name in kernels)
    options = core.ProgramOptions(std="c++17", arch=arch, ptxas_options=["-v"])
    log = io.StringIO()
    made = core.Program(text, "c++", options).compile("cubin", name_expressions=names, logs=log)
    return bytes(made.code), log.getvalue()


@functools.cache
def log_of(robot: str, dtype: str, arch: str) -> str:
    code, log = compile_device(header(robot, dtype, algorithm_list=ALGORITHMS), arch, *ALGORITHMS)
    assert code[:4] == b"\x7fELF"
    return log


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("robot", ["iiwa14", "go2", "spherical"])
def test_nvrtc(robot: str, arch: str) -> None:
    """A6, A7, K8: kernels over the block compile for each architecture, without a warning."""
    log = log_of(robot, "float32", arch)
    assert "error" not in log
    assert "warning" not in log, log
    assert len(re.findall("Compiling entry function", log)) == len(ALGORITHMS)


@pytest.mark.parametrize("robot", ["iiwa14", "go2"])
def test_nothing_spills_nor_lies_in_local_memory(robot: str) -> None:
    log = log_of(robot, "float32", "sm_90")
    assert not [x for x in re.findall(r"(\d+) bytes spill stores", log) if int(x)]
    # What is left is the stack of the library's far sine and cosine.
    assert max(map(int, re.findall(r"(\d+) bytes stack frame", log))) <= 64


@pytest.mark.parametrize("arch", ARCHS)
def test_the_model_on_the_device(arch: str) -> None:
    """D28, D30: a thread reads records and composes frames; no host array is touched."""
    text = header("go2", "float64", algorithm_list=("end_effector_pose",))
    code, log = compile_device(text + DEVICE, arch)
    assert code
    assert "warning" not in log, log
    assert "joint_name" not in re.sub(
        r"#if !defined\(__CUDACC_RTC__\).*?#endif", "", text, flags=16
    )


def test_double_precision_and_extra_arrays() -> None:
    text = header(
        "kinds",
        "float64",
        algorithm_list=("inverse_dynamics", "end_effector_pose_runtime"),
        optional_inputs=("f_ext",),
    )
    names = ("inverse_dynamics", "inverse_dynamics_f_ext", "end_effector_pose_runtime")
    code, log = compile_device(text, "sm_90", *names)
    assert code
    assert "warning" not in log, log


def test_another_type_is_refused() -> None:
    """A header for one precision says so where it is used with another."""
    core = pytest.importorskip("cuda.core")
    text = header("iiwa14", "float32", algorithm_list=("crba",))
    made = core.Program(text, "c++", core.ProgramOptions(std="c++17", arch="sm_90"))
    with pytest.raises(Exception, match="this header was written for float: see --dtype"):
        made.compile("cubin", name_expressions=("grid::crba_kernel<double>",))


def test_a_hessian_compiles_in_seconds() -> None:
    """Thousands of stores, most of them zeros, are a loop and some stores."""
    text = header("go2", "float32", algorithm_list=("end_effector_pose_hessian",))
    assert "if (!zeroed) { GRID_ROLLED for (int k = 0; k < 7776; ++k) H[k] = real(0); }" in text
    assert text.count("GRID_PART\n") > 10
    assert "k < rows * 7776; k += GRID_THREADS) d_H[first * 7776 + k] = T(0);" in text
    assert len(re.findall(r"^    H\[\d+\] = ", text, re.MULTILINE)) < 2000


def test_nvcc(tmp_path: Path) -> None:
    """Host entries and kernels, by the toolkit's compiler, where that is installed."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc here; NVRTC compiles the same kernels, and a host compiler the rest")
    found, floating = ROBOTS["spherical"]
    text = grid_core.generate_header(
        urdf_string=found.source(),
        floating_base=floating,
        algorithm_list=("forward_dynamics", "end_effector_pose"),
        optional_inputs=("f_ext",),
    )
    (tmp_path / "grid.cuh").write_text(text, encoding="utf-8")
    (tmp_path / "main.cu").write_text(
        """
        #include "grid.cuh"
        #include <cstdio>
        int main()
        {
            try {
                grid::gridData<float>* data = grid::init_gridData<float, 4>();
                grid::forward_dynamics(data, 4);
                grid::forward_dynamics_f_ext(data, 4, -9.81);
                grid::end_effector_pose_compute_only(data, 4);
                grid::free_gridData(data);
            } catch (const grid::error& e) {
                std::puts(e.what());
                return e.code == cudaErrorInsufficientDriver || e.code == cudaErrorNoDevice ? 0 : 1;
            }
            return 0;
        }
        """,
        encoding="utf-8",
    )
    command = [nvcc, "-std=c++17", "-arch=sm_90", "-Werror=all-warnings", "main.cu", "-o", "main"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    if done.stdout:
        assert done.stdout.startswith("grid::init_gridData: q_qd_u: cudaError")
