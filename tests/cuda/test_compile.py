"""Every operation compiles for every generation of cards, and takes what it should."""

from __future__ import annotations

import pytest

from grid_backend_cuda.compiler import compile_cubin, compile_ptx, require_arch, supported_archs
from grid_backend_cuda.emit import Real
from grid_backend_cuda.render import render
from grid_backend_cuda.split_mapping import map_split
from grid_core.errors import BackendError, OptionError
from tests.cuda.kernels import DYNAMICS, FULL, OPERATIONS, built, source

ARCHS = ("sm_80", "sm_90", "sm_120")

FEW = 16
"""Bytes: a few scalars may spill where angles are computed beside one another, which pays."""


def figures(robot: str, names: tuple[str, ...], dtype: str, arch: str) -> list[tuple[str, ...]]:
    rows = []
    for name in names:
        made = built(robot, name, dtype, arch, FULL.get(name, ()))
        counts = (made.registers, made.spill_bytes, made.stack_bytes, made.shared_bytes)
        rows.append((robot, name, dtype, arch, *map(str, counts)))
    return rows


def table(rows: list[tuple[str, ...]]) -> str:
    head = ("robot", "operation", "dtype", "arch", "registers", "spills", "stack", "shared")
    return "\n".join("  ".join(f"{cell:18}" for cell in row) for row in (head, *rows))


def check(rows: list[tuple[str, ...]], spills: int = 0) -> None:
    for row in rows:
        registers, spilled, stack, shared = map(int, row[4:])
        assert 16 <= registers <= 255, table(rows)
        assert spilled <= spills, table(rows)
        # The library's reduction of far angles keeps an array of its own.
        assert stack <= 64 + spills, table(rows)
        assert 0 < shared <= 96 * 1024, table(rows)


def test_every_operation_of_an_arm() -> None:
    rest = tuple(name for name in OPERATIONS if name not in DYNAMICS)
    check(figures("iiwa14", DYNAMICS, "float32", "sm_90"), spills=FEW)
    check(figures("iiwa14", rest, "float32", "sm_90"), spills=1000)


def test_every_kind_of_joint() -> None:
    check(figures("kinds", (*DYNAMICS, "end_effector_pose"), "float32", "sm_90"), spills=FEW)


def test_a_quadruped_with_next_to_no_spills() -> None:
    names = (*DYNAMICS, "end_effector_pose", "end_effector_pose_gradient")
    check(figures("go2", names, "float32", "sm_90"), spills=48)


def test_a_humanoid() -> None:
    """Its inverse mass matrix takes the compiler many seconds, and is left to the GPU's tests."""
    check(figures("humanoid", ("inverse_dynamics",), "float32", "sm_90"))
    check(figures("humanoid", ("forward_dynamics",), "float32", "sm_90"), spills=1000)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("arch", ARCHS)
def test_every_architecture(arch: str, dtype: str) -> None:
    names = ("inverse_dynamics", "forward_dynamics", "minv", "end_effector_pose")
    check(figures("iiwa14", names, dtype, arch), spills=FEW)


@pytest.mark.parametrize("arch", ["sm_80", "sm_120"])
def test_a_split_kernel_on_other_architectures(arch: str) -> None:
    split = map_split(source("go2", "inverse_dynamics").program, Real("float32"), "sm_90")
    assert split is not None
    found = source("go2", "inverse_dynamics")
    text = render(found.program, found.real, split, robot="go2")
    _, used = compile_cubin(text, found.kernel, arch)
    assert used.spill_bytes == 0
    assert used.registers <= 168  # three blocks of four warps fit a multiprocessor


def test_double_precision() -> None:
    check(figures("kinds", ("forward_dynamics", "crba"), "float64", "sm_90"), spills=200)


def test_the_report_is_the_kernels_own() -> None:
    """The functions for far angles have reports beside it, which are not read for it."""
    made = built("iiwa14", "inverse_dynamics", "float32", "sm_90", FULL["inverse_dynamics"])
    assert made.registers > 40
    assert made.static_shared_bytes == 0
    assert made.code.startswith(b"\x7fELF")


def test_ptx_needs_no_driver() -> None:
    found = source("iiwa14", "inverse_dynamics", "float32", FULL["inverse_dynamics"])
    text = compile_ptx(found.text, found.kernel, "sm_90")
    assert b".target sm_90" in text
    assert b".entry grid_inverse_dynamics" in text


def test_an_unknown_architecture_is_answered_with_those_there_are() -> None:
    assert {80, 90, 120} <= set(supported_archs())
    with pytest.raises(OptionError, match=r"no architecture 'sm_91'.*did you mean 'sm_90'"):
        require_arch("sm_91")
    with pytest.raises(OptionError, match="there are sm_80, "):
        require_arch("sm_75")
    require_arch("sm_90a")


def test_what_the_compiler_says_is_in_the_error() -> None:
    with pytest.raises(BackendError, match=r"grid_x: NVRTC refused .*\n.*undefined") as caught:
        compile_cubin('extern "C" __global__ void grid_x() { y = 1; }', "grid_x", "sm_90")
    assert "grid_x.cu" in str(caught.value)
