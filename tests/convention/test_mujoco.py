"""``output_convention="mujoco"`` against MuJoCo, from a URDF, its MJCF and our records (K9)."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import grid_core
from grid_core.assets import asset_path
from grid_core.program.convention import xyzw_to_wxyz
from tests.eepose.states import regular_configurations
from tests.eepose.test_manifold import unwound
from tests.support.compare import assert_close
from tests.support.evaluate import Reference
from tests.support.mujoco_oracle import MujocoOracle
from tests.support.random_trees import random_urdf
from tests.support.robots import HAND_MADE, Robot

URDF_KINDS = ("revolute", "continuous", "prismatic")
TREES = {
    f"tree_{n}": Robot(f"tree_{n}", text=random_urdf(70 + n, n, kinds=URDF_KINDS)) for n in (1, 9)
}
BALLS = {
    "balls": Robot("balls", text=random_urdf(80, 7, kinds=(*URDF_KINDS, "spherical"))),
    "spherical": HAND_MADE["spherical"],
}
CASES = [
    *((name, source, floating) for name in (*TREES, "branching", "prismatic")
      for source in ("from_urdf", "from_mjcf", "from_records") for floating in (False, True)),
    *((name, "from_records", floating) for name in BALLS for floating in (False, True)),
    ("go2", "from_records", True),
    ("iiwa14", "from_records", False),
]  # fmt: skip
each_case = pytest.mark.parametrize(
    ("name", "source", "floating"), CASES, ids=lambda v: str(v).removeprefix("from_")
)
WRITTEN = "from_mjcf"
"""MuJoCo writes its numbers in some six digits."""
OPERATIONS = ("crba", "minv", "inverse_dynamics", "nonlinear_effects", "generalized_gravity",
              "forward_dynamics", "aba")  # fmt: skip


def robot(name: str) -> Robot:
    known = {**HAND_MADE, **TREES, **BALLS}
    return known[name] if name in known else Robot(name, path=asset_path(name))


@functools.lru_cache(maxsize=4)
def setup(name: str, source: str, floating: bool):
    found = robot(name)
    model = found.load(floating_base=floating)
    given = () if source == "from_records" else (found.source(),)
    oracle = getattr(MujocoOracle, source)(model, *given)
    joints = {f.body: f.id for f in model.frames if f.kind.name == "JOINT"}
    targets = tuple(joints[leaf] for leaf in model.leaves)[:2]
    q = xyzw_to_wxyz(model, regular_configurations(model, targets, batch=2, margin=0.3))
    rng = np.random.default_rng(0)
    v, a, u = (rng.normal(size=(len(q), model.nv)) for _ in range(3))
    grid = Reference(model, targets=targets, output_convention="mujoco")
    return grid, oracle, q, v, a, u


@each_case
def test_dynamics(name, source, floating) -> None:
    """K9: forces, accelerations and mass matrices in MuJoCo's coordinates."""
    grid, oracle, q, v, a, u = setup(name, source, floating)
    rtol, noise = (1e-3, 1e-4) if source == WRITTEN else (1e-8, 1e-9)
    results = {
        "crba": grid("crba", q=q),
        "minv": grid("minv", q=q),
        "inverse": grid("inverse_dynamics", q=q, qd=v, qdd=a),
        "still": grid("inverse_dynamics", q=q, qd=v),
        "bias": grid("nonlinear_effects", q=q, qd=v),
        "gravity": grid("generalized_gravity", q=q),
        "forward": grid("forward_dynamics", q=q, qd=v, u=u),
        "aba": grid("aba", q=q, qd=v, u=u),
    }
    for b in range(len(q)):
        oracle.set(q[b])
        M = oracle.mass_matrix()
        expected = {"crba": M, "minv": np.linalg.inv(M), "gravity": oracle.bias()}
        oracle.set(q[b], v[b])
        expected |= {"bias": oracle.bias(), "still": oracle.bias(), "inverse": oracle.inverse(a[b])}
        expected["forward"] = expected["aba"] = oracle.forward(u[b])
        for key, value in expected.items():
            assert_close(results[key][b : b + 1], value[None], rtol=rtol, noise=noise)


@each_case
def test_kinematics(name, source, floating) -> None:
    """K9: an invariant pose, Jacobians with MuJoCo's base columns, and their rates."""
    grid, oracle, q, v, _, _ = setup(name, source, floating)
    targets, atol = grid.options.targets, 1e-4 if source == WRITTEN else 1e-9
    pose = grid("end_effector_pose", q=q).reshape(len(q), len(targets), 6)
    gradient = grid("end_effector_pose_gradient", q=q)
    for e, target in enumerate(targets):
        frame = grid.model.frames[target]
        one = Reference(grid.model, targets=(target,), output_convention="mujoco")
        J, dJ = one("frame_jacobian", q=q), one("frame_jacobian_dot", q=q, qd=v)
        for b in range(len(q)):
            oracle.set(q[b], v[b])
            T = oracle.placement(frame)
            np.testing.assert_allclose(pose[b, e, :3], T[:3, 3], atol=atol)
            yaw = np.arctan2(T[1, 0], T[0, 0])
            np.testing.assert_allclose(np.exp(1j * pose[b, e, 5]), np.exp(1j * yaw), atol=atol)
            np.testing.assert_allclose(J[b], oracle.jacobian(frame), atol=atol)
            np.testing.assert_allclose(
                gradient[b, 6 * e : 6 * e + 3], oracle.jacobian(frame)[:3], atol=atol
            )
            np.testing.assert_allclose(dJ[b], oracle.jacobian(frame, rate=True), atol=10 * atol)


@each_case
def test_derivatives_along_the_retraction(name, source, floating) -> None:
    """K9: first and second derivatives of the pose at mj_integratePos(q, v); symmetric."""
    grid, oracle, q, *_ = setup(name, source, floating)
    q, nv = q[:1], grid.model.nv
    pose = grid("end_effector_pose", q=q)
    J, H = grid("end_effector_pose_gradient", q=q), grid("end_effector_pose_hessian", q=q)
    np.testing.assert_allclose(H, H.swapaxes(2, 3), atol=1e-12)

    def at(v):
        return unwound(grid("end_effector_pose", q=oracle.integrate(q[0], v)[None]), pose)[0]

    rng, h = np.random.default_rng(4), 2e-3
    for _ in range(6):
        v = rng.normal(size=nv) / np.sqrt(nv)
        (f1, b1), (f2, b2) = ((at(k * h * v), at(-k * h * v)) for k in (1, 2))
        first = (8.0 * (f1 - b1) - (f2 - b2)) / (12.0 * h)
        second = (16.0 * (f1 + b1) - (f2 + b2) - 30.0 * pose[0]) / (12.0 * h * h)
        np.testing.assert_allclose(J[0] @ v, first, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(H[0] @ v @ v, second, rtol=1e-5, atol=1e-5)


@each_case
def test_plus_and_minus(name, source, floating) -> None:
    """The handle's own configurations are MuJoCo's: mj_integratePos, mj_differentiatePos."""
    grid, oracle, *_ = setup(name, source, floating)
    with grid_core.load_robot(
        grid.model,
        floating_base=floating,
        algorithm_list="crba",
        backend="reference",
        output_convention="mujoco",
    ) as handle:
        q, v = (
            handle.random_configuration(0, 3),
            np.random.default_rng(0).normal(size=(3, handle.nv)),
        )
        moved, back = handle.integrate(q, v), handle.difference(q, handle.integrate(q, v))
        for b in range(3):
            expected = oracle.integrate(q[b], v[b])
            np.testing.assert_allclose(moved[b], expected, atol=1e-9)
            np.testing.assert_allclose(back[b], oracle.difference(q[b], moved[b]), atol=1e-9)
        oracle.set(handle.neutral_configuration())


@pytest.mark.parametrize(
    ("name", "floating"),
    [("spherical", True), ("branching", True), ("go2", True), ("balls", False)],
)
def test_compiled(name, floating) -> None:
    """K9: inside the program: the compiled operations give what the references do."""
    model = robot(name).load(floating_base=floating)
    options = {"output_convention": "mujoco"}
    kinematics = ["end_effector_pose", "end_effector_pose_gradient", "end_effector_pose_hessian",
                  "end_effector_pose_quaternion", "frame_jacobian", "frame_jacobian_dot",
                  "forward_kinematics"]  # fmt: skip
    with grid_core.load_robot(
        model,
        floating_base=floating,
        algorithm_list=[*OPERATIONS, *kinematics],
        backend="cpu",
        dtype="float64",
        **options,
    ) as handle:
        grid = Reference(model, targets=handle.options.targets, **options)
        q = handle.random_configuration(0, 3)
        rng = np.random.default_rng(0)
        given = {"q": q} | {n: rng.normal(size=(3, model.nv)) for n in ("qd", "qdd", "u")}
        for call in handle.calls():
            names = [port.name for port in call.algorithm.inputs if port.name in given]
            inputs = {n: given[n] for n in names}
            assert_close(call(**inputs), grid(call.__name__, **inputs), rtol=1e-8, noise=1e-9)
        inputs = {"q": q, "qd": given["qd"]}
        still = handle.inverse_dynamics(**inputs)
        assert_close(still, grid("nonlinear_effects", **inputs), rtol=1e-8, noise=1e-9)


def test_a_fixed_robot_of_scalar_joints_has_one_program_for_both() -> None:
    from grid_core.model import load_urdf  # noqa: PLC0415
    from tests.program.operations import traced  # noqa: PLC0415

    model = load_urdf(asset_path("iiwa14"))
    for name in OPERATIONS:
        one, other = (traced(model, name, output_convention=c) for c in ("pinocchio", "mujoco"))
        assert one.instructions == other.instructions


def test_fk_batched_reads_pinocchios_quaternions_everywhere() -> None:
    """K12: the configuration is Pinocchio's, whatever the convention."""
    options = {"floating_base": True, "algorithm_list": "fk_batched", "backend": "cpu"}
    with (
        grid_core.load_robot(asset_path("go2"), **options) as ours,
        grid_core.load_robot(asset_path("go2"), **options, output_convention="mujoco") as theirs,
    ):
        q = ours.random_configuration(0, 2)
        np.testing.assert_array_equal(ours.fk_batched(q), theirs.fk_batched(q))


def test_an_algorithm_that_says_nothing_is_refused() -> None:
    from grid_core.algorithm import Port  # noqa: PLC0415
    from grid_core.program.convention import undeclared  # noqa: PLC0415
    from tests.program.operations import made_up  # noqa: PLC0415

    arm = HAND_MADE["branching"].load()
    silent = made_up(lambda _: {}, outputs=(Port(name="y", shape=("nv",), doc="result"),))
    assert "does not say how it reads" in (undeclared(silent, arm) or "")
    said = Port(name="y", shape=("nv",), doc="result", role="tangent")
    assert undeclared(made_up(lambda _: {}, outputs=(said,)), arm) is None


def test_a_free_joint_that_stands_elsewhere_is_refused() -> None:
    from grid_core.errors import OperationRefused  # noqa: PLC0415
    from tests.support import urdf  # noqa: PLC0415

    text = urdf.robot(
        "shifted",
        urdf.link("world"),
        urdf.link("base", 1.0),
        urdf.joint("free", "floating", "world", "base", xyz=(1, 2, 3)),
    )
    with (
        grid_core.load_robot(
            urdf_string=text,
            algorithm_list="crba",
            backend="reference",
            output_convention="mujoco",
        ) as handle,
        pytest.raises(OperationRefused, match="from the world"),
    ):
        handle.crba(handle.neutral_configuration())
