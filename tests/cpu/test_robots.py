"""Compiled operations of whole robots, against their program in NumPy and the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_backend_cpu.compiler import host
from grid_core.assets import asset_path
from tests.cpu.kernels import DTYPES, LANES, Compiled, baseline
from tests.program.operations import DYNAMICS, traced
from tests.support.compare import condition
from tests.support.evaluate import ALGORITHMS, Reference
from tests.support.random_trees import ALL_KINDS, random_urdf
from tests.support.robots import HAND_MADE, Robot, example
from tests.support.states import random_state

if TYPE_CHECKING:
    from grid_backend_cpu.vector import Lanes
    from grid_core.model.types import RobotModel

BUNDLED = [Robot(name, path=asset_path(name)) for name in ("iiwa14", "go2")]
TREES = [
    Robot("every_kind", text=random_urdf(11, 10, kinds=(*ALL_KINDS, "planar", "floating"))),
    Robot("mimic", text=random_urdf(12, 10, mimic=0.4)),
]
EXAMPLES = ("anymal_b_simple-anymal-kinova", "baxter-baxter", "panda-panda", "so_arm-so101")
EMPTY = ("hector-quadrotor_base",)
OPTIONAL: dict[str, tuple[str, ...]] = {
    "inverse_dynamics": ("qdd", "f_ext"),
    "inverse_dynamics_gradient": ("qdd", "f_ext"),
    "forward_dynamics": ("f_ext",),
    "forward_dynamics_gradient": ("f_ext",),
}
EPS = {dtype: float(np.finfo(dtype).eps) for dtype in DTYPES}


def inputs_of(model: RobotModel, name: str, batch: int, seed: int = 0) -> dict[str, Any]:
    s = random_state(model, seed, batch)
    everything = {"q": s.q, "qd": s.qd, "qdd": s.qdd, "u": s.u, "f_ext": s.f_ext, "gravity": -9.7}
    ports = {p.name for p in ALGORITHMS[name].inputs}
    rng = np.random.default_rng(seed)
    for port in sorted(ports - set(everything)):  # a tangent, or a weight of an output
        everything[port] = rng.normal(size=s.qd.shape)
    optional = {p.name for p in ALGORITHMS[name].inputs if p.optional}
    absent = optional - set(OPTIONAL.get(name, ()))
    return {k: v for k, v in everything.items() if k in ports - absent}


def check(model: RobotModel, name: str, lanes: Lanes, batches: tuple[int, ...]) -> None:
    """Compare with NumPy on the same rounded inputs; M's condition decides how closely."""
    kernel = Compiled(traced(model, name, OPTIONAL.get(name, ())), lanes)
    for batch in batches:
        inputs = inputs_of(model, name, batch, seed=batch)
        got, expected = kernel(batch, inputs), kernel.expected(inputs)
        for port, value in expected.items():
            assert got[port].dtype == lanes.dtype
            assert_rounding(got[port], value, 40 * EPS[lanes.dtype] * worst(model, name, inputs))


def worst(model: RobotModel, name: str, inputs: dict[str, Any]) -> float:
    if not name.startswith(("forward_dynamics", "aba", "minv")) or not model.nv:
        return 1.0
    M = Reference(model)("crba", q=inputs["q"])
    return float(np.linalg.cond(M).max(initial=1.0))


def assert_rounding(got: Any, expected: Any, allowed: float) -> None:
    """Compare row by row in the norm."""
    axes = tuple(range(1, expected.ndim))
    error, size = (np.sqrt(np.sum(x * x, axis=axes)) for x in (got - expected, expected))
    size = np.maximum(size, 1e-3)
    assert np.all(error <= allowed * size), f"{np.max(error / size):.1e} exceeds {allowed:.1e}"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", DYNAMICS)
@pytest.mark.parametrize("robot", [*BUNDLED, *TREES], ids=lambda r: r.name)
def test_every_operation(robot: Robot, name: str, dtype: str) -> None:
    lanes = host().lanes(dtype)
    check(robot.load(), name, lanes, (0, 1, lanes.width - 1, lanes.width + 1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("robot", HAND_MADE.values(), ids=lambda r: r.name)
def test_every_joint_kind_on_a_floating_base(robot: Robot, dtype: str) -> None:
    for name in ("inverse_dynamics", "forward_dynamics"):
        check(robot.load(floating_base=True), name, host().lanes(dtype), (33,))


@pytest.mark.parametrize("name", EXAMPLES)
def test_real_robots(name: str) -> None:
    robot = example(name).load()
    for operation in ("inverse_dynamics", "forward_dynamics", "minv"):
        check(robot, operation, host().lanes("float64"), (31,))
    check(robot, "inverse_dynamics", host().lanes("float32"), (31,))


@pytest.mark.parametrize("name", DYNAMICS)
def test_a_robot_that_cannot_move(name: str) -> None:
    robot = example(EMPTY[0]).load()
    assert robot.nv == 0
    for dtype in DTYPES:
        check(robot, name, host().lanes(dtype), (0, 1, 33))


@pytest.mark.parametrize("robot", [*BUNDLED, TREES[1]], ids=lambda r: r.name)
@pytest.mark.parametrize("name", ["inverse_dynamics", "crba", "forward_dynamics"])
def test_against_the_reference(robot: Robot, name: str) -> None:
    kinematic = robot.load()
    kernel = Compiled(traced(kinematic, name, OPTIONAL.get(name, ())), host().lanes("float64"))
    inputs = inputs_of(kinematic, name, 64)
    (got,) = kernel(64, inputs).values()
    expected = Reference(kinematic)(name, **inputs)
    kappa = float(condition(Reference(kinematic)("crba", q=inputs["q"])).max())
    assert_rounding(got, expected, 1e-13 * (kappa if name == "forward_dynamics" else 1.0))


@pytest.mark.parametrize("lanes", LANES, ids=str)
def test_every_vector_width(lanes: Lanes) -> None:
    for batch in (1, lanes.width, 3 * lanes.width + 1):
        check(BUNDLED[0].load(), "forward_dynamics", lanes, (batch,))


@pytest.mark.parametrize("level", [2, 3])
def test_baseline_processors(level: int) -> None:
    machine = baseline(level)
    program = traced(BUNDLED[0].load(), "inverse_dynamics", ("qdd", "f_ext"))
    inputs = inputs_of(BUNDLED[0].load(), "inverse_dynamics", 35)
    for dtype in DTYPES:
        kernel = Compiled(program, machine.lanes(dtype), machine)
        got, expected = kernel(35, inputs)["tau"], kernel.expected(inputs)["tau"]
        assert_rounding(got, expected, 40 * EPS[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_friction(dtype: str) -> None:
    """sign(0) is 0 and sign's neighbours are ±1, also in vectors."""
    robot = HAND_MADE["dissipative"].load()
    program = traced(robot, "inverse_dynamics", use_joint_dynamics=True)
    kernel = Compiled(program, host().lanes(dtype))
    inputs = inputs_of(robot, "nonlinear_effects", 24)
    tiny = np.finfo(dtype).smallest_subnormal
    inputs["qd"][:5, 0] = [0.0, -0.0, tiny, -tiny, np.nan]
    got, expected = kernel(24, inputs)["tau"], kernel.expected(inputs)["tau"]
    assert np.isnan(got[4]).all()
    kept = np.arange(24) != 4
    assert_rounding(got[kept], expected[kept], 40 * EPS[dtype])
