"""The operations of one problem, compiled for the host: they compute what a handle does."""

from __future__ import annotations

import ctypes
import functools
import re
from typing import Any

import numpy as np
import pytest

import grid_core
from grid_core.abi import pack_q_qd_u
from tests.header.headers import (
    LONG,
    OPERATIONS,
    ROBOTS,
    block_of,
    compiler,
    filled,
    handle,
    header,
    library,
    pointer,
    states,
)
from tests.support.compare import assert_close
from tests.support.pinocchio_oracle import PinocchioOracle

BATCH = 5
MOVING = ("iiwa14", "go2", "spherical", "kinds")
ARGUMENTS = {
    "forward_dynamics": ("q", "qd", "u"),
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics_gradient": ("q", "qd", "u"),
    "inverse_dynamics_gradient": ("q", "qd", "qdd"),
    "inverse_dynamics_regressor": ("q", "qd", "qdd"),
    "nonlinear_effects": ("q", "qd"),
    "frame_jacobian_dot": ("q", "qd"),
}
"""Of an operation; else q alone."""
THIRD = {name: given[-1] for name, given in ARGUMENTS.items() if len(given) == 3}
"""What lies in the third slot."""
OWN = "end_effector_pose_runtime"
"""The operation that takes arrays without a slot."""


@functools.cache
def blocks(robot: str) -> ctypes.CDLL:
    """Each operation over a batch of input blocks."""
    text = header(robot)
    parts = [
        f"""
        extern "C" void {name}(grid::real* out, int width, const grid::real* in, int n)
        {{
            for (int k = 0; k < n; ++k)
                grid::{name}_timestep(out + k * width, in + k * grid::Q_QD_U_STRIDE);
        }}
        """
        for name in OPERATIONS
        if name != OWN and f" {name}_timestep(" in text
    ]
    return library(text, '#include "grid.cuh"\n' + "".join(parts))


def run(robot: str, name: str, block: Any) -> Any:
    """Return the results by row, flat."""
    lib = blocks(robot)
    size = np.asarray(wanted(robot, name, states(robot, 1))).size
    out = np.full((len(block), size), 7.0)
    getattr(lib, name)(pointer(out), size, pointer(np.ascontiguousarray(block)), len(block))
    return out


def wanted(robot: str, name: str, given: dict[str, Any]) -> Any:
    arguments = [given[k] for k in ARGUMENTS.get(name, ("q",))]
    return getattr(handle(robot), name)(*arguments)


def require_close(got: Any, expected: Any, rtol: float = 1e-9) -> None:
    assert_close(got, np.asarray(expected).reshape(got.shape), rtol=rtol, noise=1e-11)


@pytest.mark.parametrize(
    ("robot", "name"),
    [
        (robot, name)
        for robot in MOVING
        for name in OPERATIONS
        if name != OWN and (robot != "go2" or name not in LONG)
    ],
)
def test_against_a_handle_with_nan_in_the_pads(robot: str, name: str) -> None:
    """A2, A4, A6, A7, A10: every operation reads its slots; NaN in the pads stays there."""
    given = states(robot, BATCH)
    block = filled(robot, given, THIRD.get(name, "u"))
    assert np.isnan(block).any() == (robot != "iiwa14")
    require_close(run(robot, name, block), wanted(robot, name, given))


@pytest.mark.parametrize("robot", ["iiwa14", "go2", "spherical"])
def test_in_single_precision(robot: str) -> None:
    source = """
    #include "grid.cuh"
    extern "C" void id(float* tau, const float* in, int n)
    {
        for (int k = 0; k < n; ++k)
            grid::inverse_dynamics_timestep(tau + k * grid::NUM_VEL, in + k * grid::Q_QD_U_STRIDE);
    }
    """
    lib = library(header(robot, "float32", algorithm_list=("inverse_dynamics",)), source)
    given = states(robot, BATCH)
    block = filled(robot, given, "qdd").astype(np.float32)
    exact = {k: v.astype(np.float32).astype(np.float64) for k, v in given.items()}
    single = np.zeros((BATCH, handle(robot).nv), np.float32)
    lib.id(pointer(single), pointer(block), BATCH)
    got = single.astype(np.float64)
    expected = wanted(robot, "inverse_dynamics", exact)
    assert np.abs(got - expected).max() < 2e-5 * np.abs(expected).max()


@pytest.mark.parametrize("robot", MOVING)
def test_blocks_from_python_are_the_same(robot: str) -> None:
    """A5, A9, A10: pack_q_qd_u writes what the kernels read."""
    given = states(robot, BATCH)
    packed = pack_q_qd_u(given["q"], given["qd"], given["u"], model=handle(robot))
    np.testing.assert_array_equal(packed, filled(robot, given, "u", pad=0.0))
    got = run(robot, "forward_dynamics", packed)
    np.testing.assert_array_equal(got, run(robot, "forward_dynamics", filled(robot, given, "u")))


def test_against_pinocchio_on_a_floating_base() -> None:
    """A9, A12, A16: [x y z, xyzw, joints] and [linear, angular, joints], as Pinocchio has them."""
    found, floating = ROBOTS["go2"]
    oracle = PinocchioOracle.from_urdf(found.load(floating_base=floating), found.source())
    given = states("go2", BATCH)
    got = run("go2", "inverse_dynamics", filled("go2", given, "qdd"))
    assert_close(got, oracle.inverse_dynamics(given["q"], given["qd"], given["qdd"]), noise=1e-11)


@pytest.mark.parametrize(
    ("robot", "right"), [("iiwa14", True), ("go2", False), ("spherical", False)]
)
def test_a_tight_packing_is_right_on_a_fixed_base_only(robot: str, right: bool) -> None:
    """A8, A16: the same bytes with scalar joints, plausible wrong numbers with a quaternion."""
    given = states(robot, BATCH)
    block = block_of(robot)
    tight = np.zeros((BATCH, block.stride))
    tight[:, : block.nq + 2 * block.nv] = np.hstack([given["q"], given["qd"], given["u"]])
    by_constants = filled(robot, given, "u", pad=0.0)
    assert (tight.tobytes() == by_constants.tobytes()) == right
    expected = wanted(robot, "forward_dynamics", given)
    require_close(run(robot, "forward_dynamics", by_constants), expected)
    got = run(robot, "forward_dynamics", tight)
    assert np.isfinite(got).all()
    assert np.allclose(got, expected, rtol=1e-6) == right


def test_a_velocity_or_effort_moves_only_with_its_own_slot() -> None:
    """A6: what the slots mean is seen by moving one entry at a time."""
    robot, given = "go2", states("go2", 1)
    block = block_of(robot)
    base = run(robot, "forward_dynamics", filled(robot, given, "u"))
    for slot in block.slots[1:3]:
        for k in range(slot.width):
            moved = filled(robot, given, "u")
            moved[:, slot.offset + k] += 0.5
            assert (run(robot, "forward_dynamics", moved) != base).any()


def test_arrays_without_a_slot() -> None:
    """A7: external forces and run-time targets are pointers of their own."""
    text = header(
        "go2", "float64", algorithm_list=("inverse_dynamics", OWN), optional_inputs=("f_ext",)
    )
    source = """
    #include "grid.cuh"
    extern "C" void forces(double* out, const double* in, const double* f_ext, double gravity)
    {
        grid::inverse_dynamics_f_ext_timestep(out, in, f_ext, gravity);
    }
    extern "C" void target(double* out, const double* in, const double* body, const double* at)
    {
        grid::end_effector_pose_runtime_timestep(out, in, body, at);
    }
    """
    lib, made = library(text, source), handle("go2")
    given, rng = states("go2", 1), np.random.default_rng()
    f_ext = rng.normal(size=(1, made.nb, 6))
    tau, block = np.zeros(made.nv), filled("go2", given, "qdd")
    lib.forces(pointer(tau), pointer(block), pointer(f_ext), ctypes.c_double(-1.62))
    expected = made.inverse_dynamics(
        given["q"], given["qd"], given["qdd"], f_ext=f_ext, gravity=-1.62
    )
    require_close(tau[None], expected)
    names = [joint.name for joint in made.model.joints[3:7]]
    bodies = np.array([made.model.joints[k].id for k in range(3, 7)], np.float64)
    placements = np.tile(np.eye(4)[:3], (4, 1, 1))
    placements[:, :, 3] = points = rng.normal(size=(4, 3))
    pose = np.zeros(24)
    lib.target(pointer(pose), pointer(block), pointer(bodies), pointer(placements))
    loaded = grid_core.load_robot(
        made.model, floating_base=True, algorithm_list=OWN, backend="reference", dtype="float64"
    )
    require_close(pose[None], loaded.end_effector_pose_runtime(given["q"], names, list(points)))


def test_placements_and_inertias_of_each_problem() -> None:
    """D31: with the options, operations that take them are there, each alone and together."""
    text = header(
        "spherical",
        algorithm_list=("forward_dynamics", "end_effector_pose"),
        runtime_inertia=True,
        runtime_transform=True,
    )
    source = """
    #include "grid.cuh"
    extern "C" void fd(double* out, const double* in, const double* inertias, const double* T)
    {
        grid::forward_dynamics_inertias_placements_timestep(out, in, inertias, T);
    }
    extern "C" void pose(double* out, const double* in, const double* T)
    {
        grid::end_effector_pose_placements_timestep(out, in, T);
    }
    extern "C" void nominal(double* out, const double* in)
    {
        grid::forward_dynamics_timestep(out, in);
    }
    """
    assert re.findall(r"^GRID_FN void (\w+)_thread", text, re.MULTILINE) == [
        "end_effector_pose",
        "end_effector_pose_placements",
        "forward_dynamics",
        "forward_dynamics_inertias",
        "forward_dynamics_placements",
        "forward_dynamics_inertias_placements",
    ]
    made, given, lib = handle("spherical"), states("spherical", 1), library(text, source)
    loaded = grid_core.load_robot(
        made.model,
        backend="reference",
        dtype="float64",
        runtime_inertia=True,
        runtime_transform=True,
    )
    rng, block = np.random.default_rng(), filled("spherical", given, "u")
    scale = rng.uniform(0.8, 1.2, (1, made.nb, 1))
    inertias = np.ascontiguousarray(made.parameters().reshape(1, made.nb, 10) * scale)
    placements = np.array([[joint.placement for joint in made.model.joints]])
    placements[:, :, :3, 3] += rng.normal(size=(1, made.nb, 3)) * 0.1
    qdd, pose = np.zeros((1, made.nv)), np.zeros((1, 6))
    lib.fd(pointer(qdd), pointer(block), pointer(inertias), pointer(placements))
    arguments = [given[name] for name in ("q", "qd", "u")]
    expected = loaded.forward_dynamics(*arguments, inertias=inertias, placements=placements)
    require_close(qdd, expected)
    lib.pose(pointer(pose), pointer(block), pointer(placements))
    require_close(pose, loaded.end_effector_pose(given["q"], placements=placements))
    lib.nominal(pointer(qdd), pointer(block))
    require_close(qdd, wanted("spherical", "forward_dynamics", given))
    assert not np.allclose(qdd, expected)


def test_gravity_has_the_ports_default() -> None:
    text = header("iiwa14", "float64")
    assert len(re.findall(r"const real gravity = real\(-9\.81\)", text)) >= 8


def test_far_angles() -> None:
    """Past the range of the short reduction, the library's own takes over."""
    given = states("iiwa14", BATCH)
    given["q"] = np.random.default_rng().uniform(-1.0, 1.0, given["q"].shape) * 1e15
    got = run("iiwa14", "inverse_dynamics", filled("iiwa14", given, "qdd"))
    require_close(got, wanted("iiwa14", "inverse_dynamics", given), rtol=1e-7)


def test_pointers_in_place_of_a_block() -> None:
    """The thread-scope function takes a pointer a port."""
    source = """
    #include "grid.cuh"
    extern "C" void fd(double* qdd, const double* q, const double* qd, const double* u)
    {
        grid::forward_dynamics_thread(qdd, q, qd, u);
    }
    """
    lib, given = library(header("spherical"), source), states("spherical", 1)
    got = np.zeros((1, handle("spherical").nv))
    lib.fd(pointer(got), *(pointer(given[k]) for k in ("q", "qd", "u")))
    require_close(got, wanted("spherical", "forward_dynamics", given))


def test_mujoco_convention() -> None:
    """Operations follow the convention that is asked for; the tables stay native."""
    text = header(
        "go2", "float64", algorithm_list=("end_effector_pose",), output_convention="mujoco"
    )
    source = """
    #include "grid.cuh"
    extern "C" void pose(double* out, const double* q) { grid::end_effector_pose_thread(out, q); }
    """
    lib, given = library(text, source), states("go2", 1)
    wxyz = given["q"][:, [0, 1, 2, 6, 3, 4, 5, *range(7, 19)]].copy()
    got = np.zeros((1, 24))
    lib.pose(pointer(got), pointer(wxyz))
    require_close(got, wanted("go2", "end_effector_pose", given))
    assert handle("go2").model_descriptor["descriptor_id"] in text


def test_a_robot_without_joints() -> None:
    """A15, D42: widths of zero are no arrays of size zero."""
    text = header("one_body", algorithm_list=("forward_kinematics", "crba", "end_effector_pose"))
    source = '#include "grid.cuh"\nint main() { return grid::NUM_POS; }'
    assert compiler()
    library(text, source)


def test_two_robots_in_one_program() -> None:
    """Headers of two namespaces go together; those of one in two objects do not mix."""
    first = header("iiwa14", algorithm_list=("crba",), namespace="arm")
    second = header("go2", algorithm_list=("crba",), namespace="lab::dog")
    source = """
    #include "grid.cuh"
    static_assert(arm::NUM_POS == 7 && lab::dog::NUM_POS == 19);
    extern "C" void both(double* a, const double* qa, double* b, const double* qb)
    {
        arm::crba_thread(a, qa);
        lab::dog::crba_thread(b, qb);
    }
    """
    lib = library(first.replace("#pragma once", "") + second.replace("#pragma once", ""), source)
    qa, qb = states("iiwa14", 1)["q"], states("go2", 1)["q"]
    a, b = np.zeros((1, 7, 7)), np.zeros((1, 18, 18))
    lib.both(pointer(a), pointer(qa), pointer(b), pointer(qb))
    require_close(a, handle("iiwa14").crba(qa))
    require_close(b, handle("go2").crba(qb))
