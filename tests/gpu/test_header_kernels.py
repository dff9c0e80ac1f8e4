"""The header's raw-block kernels on a GPU, against the textbook in double precision."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import grid_core
from tests.gpu.device import Module
from tests.header.headers import block_of, filled, handle, header, states
from tests.support.compare import condition

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]

ARGUMENTS = {
    "forward_dynamics": ("q", "qd", "u"),
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics_gradient": ("q", "qd", "u"),
    "inverse_dynamics_gradient": ("q", "qd", "qdd"),
    "crba": ("q",),
    "minv": ("q",),
    "end_effector_pose": ("q",),
    "end_effector_pose_gradient": ("q",),
    "end_effector_pose_hessian": ("q",),
}
GRAVITY = {"forward_dynamics", "inverse_dynamics"} | {n for n in ARGUMENTS if "dynamics_g" in n}
ROBOTS = ("iiwa14", "go2", "spherical")
BATCH = 4097
CASES = [
    pytest.param(robot, name, id=f"{robot}-{name}")
    for robot in ROBOTS
    for name in ARGUMENTS
    if (robot, name) != ("go2", "end_effector_pose_hessian")
]


@functools.cache
def module(robot: str, dtype: str) -> Module:
    text = header(robot, dtype, algorithm_list=tuple(ARGUMENTS), optional_inputs=("f_ext",))
    names = [*ARGUMENTS, "inverse_dynamics_f_ext"]
    return Module(text, [f"grid::{name}_kernel<grid::real>" for name in names])


@functools.cache
def problems(robot: str, dtype: str) -> dict[str, Any]:
    """States as the precision has them."""
    given = states(robot, BATCH, seed=0)
    return {k: v.astype(dtype).astype(np.float64) for k, v in given.items()}


@functools.cache
def wanted(robot: str, name: str, dtype: str) -> Any:
    given = problems(robot, dtype)
    return np.asarray(getattr(handle(robot), name)(*(given[k] for k in ARGUMENTS[name])))


def blocks(robot: str, name: str, dtype: str, pad: float = np.nan) -> Any:
    third = ARGUMENTS[name][-1] if len(ARGUMENTS[name]) == 3 else "u"
    return filled(robot, problems(robot, dtype), third, pad).astype(dtype)


def run(robot: str, name: str, dtype: str, given: Any, grid: int | None = None) -> Any:
    expected = wanted(robot, name, dtype)
    got = np.full((len(given), *expected.shape[1:]), np.nan, dtype)
    number = np.dtype(dtype).type
    gravity = (number(-9.81),) if name in GRAVITY else ()
    count, stride = np.int32(len(given)), np.int32(block_of(robot).stride)
    launched = -(-len(given) // 32) if grid is None else grid
    kernel = f"grid::{name}_kernel<grid::real>"
    module(robot, dtype)(kernel, launched, 32, got, given, stride, *gravity, count)
    return got


def allowed(robot: str, name: str, dtype: str) -> Any:
    """Relative error in the norm: what inverts M loses its condition, derivatives it squared."""
    base = {"float32": 2e-5, "float64": 1e-12}[dtype]
    if name.startswith(("forward", "minv")):
        M = handle(robot).crba(problems(robot, dtype)["q"])
        power = 2 if "gradient" in name else 1
        return base * np.maximum(1.0, condition(M)) ** power
    plain = name in {"inverse_dynamics", "crba"}
    return np.full(BATCH, base if plain else 1000.0 * base)


def require_close(got: Any, expected: Any, tolerance: Any) -> None:
    assert np.isfinite(got).all()
    error = np.linalg.norm((got.astype(np.float64) - expected).reshape(len(got), -1), axis=1)
    size = np.maximum(np.linalg.norm(expected.reshape(len(got), -1), axis=1), 1.0)
    assert (error <= tolerance * size).all(), (error / size / tolerance).max()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("robot", "name"), CASES)
def test_with_nan_in_the_pads(robot: str, name: str, dtype: str) -> None:
    """A2, A4, A6, A7, A10: kernels read the block at its slots, and no pad."""
    given, expected = blocks(robot, name, dtype), wanted(robot, name, dtype)
    got = run(robot, name, dtype, given)
    require_close(got, expected, allowed(robot, name, dtype))
    # The same bits with zeros there, with blocks that take turns, and for the last few alone.
    zeros = blocks(robot, name, dtype, pad=0.0)
    np.testing.assert_array_equal(run(robot, name, dtype, zeros), got)
    np.testing.assert_array_equal(run(robot, name, dtype, given, grid=7), got)
    for count in (1, 31, 33):
        last = np.ascontiguousarray(given[BATCH - count :])
        np.testing.assert_array_equal(run(robot, name, dtype, last), got[BATCH - count :])


@pytest.mark.parametrize("robot", ["go2", "spherical"])
def test_a_tight_packing_is_wrong(robot: str) -> None:
    """A8, A16: in bounds, finite, plausible and wrong."""
    given, block = problems(robot, "float64"), block_of(robot)
    tight = np.zeros((BATCH, block.stride))
    tight[:, : block.nq + 2 * block.nv] = np.hstack([given["q"], given["qd"], given["u"]])
    got = run(robot, "forward_dynamics", "float64", tight)
    assert np.isfinite(got).all()
    assert not np.allclose(got, wanted(robot, "forward_dynamics", "float64"), rtol=1e-3)


def test_external_forces_are_an_array_of_their_own() -> None:
    """A7: what has no slot is a pointer."""
    robot, dtype = "go2", "float64"
    made, given = handle(robot), problems(robot, dtype)
    f_ext = np.random.default_rng(1).normal(size=(BATCH, made.nb, 6))
    got = np.full((BATCH, made.nv), np.nan)
    kernel, stride = "grid::inverse_dynamics_f_ext_kernel<grid::real>", block_of(robot).stride
    arguments = (got, blocks(robot, "inverse_dynamics", dtype), np.int32(stride), f_ext)
    module(robot, dtype)(kernel, 129, 32, *arguments, np.float64(-1.62), np.int32(BATCH))
    expected = made.inverse_dynamics(
        given["q"], given["qd"], given["qdd"], f_ext=f_ext, gravity=-1.62
    )
    require_close(got, expected, 1e-12)


def test_the_handle_computes_the_same() -> None:
    """The handle's own kernel and the header's agree to rounding."""
    given = problems("go2", "float32")
    robot = grid_core.load_robot(
        handle("go2").model,
        floating_base=True,
        backend="cuda",
        dtype="float32",
        algorithm_list="inverse_dynamics",
    )
    arrays = [given[k].astype(np.float32) for k in ("q", "qd", "qdd")]
    theirs = robot.inverse_dynamics(*arrays)
    ours = run("go2", "inverse_dynamics", "float32", blocks("go2", "inverse_dynamics", "float32"))
    require_close(ours, theirs.astype(np.float64), 2e-5)
    robot.close()
