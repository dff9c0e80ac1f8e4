"""`runtime_inertia` and `runtime_transform`: a robot's constants as inputs of its operations."""

from __future__ import annotations

import numpy as np
import pytest

import grid_core
from grid_core.algorithm import Options
from grid_core.assets import asset_path
from grid_core.errors import ArgumentError, InputError, OptionError
from grid_core.evaluation import evaluate_reference
from grid_core.header import header_text
from grid_core.plugins import plugin_manager
from grid_core.program.runtime import with_runtime_ports
from grid_core.program.trace import trace
from grid_core.targets import find_targets
from tests.constants.variation import apply_to, varied
from tests.program.operations import operation, traced
from tests.support.compare import assert_close
from tests.support.evaluate import ALGORITHMS
from tests.support.pinocchio_oracle import PinocchioOracle
from tests.support.robots import HAND_MADE, Robot
from tests.support.states import random_state

BOTH = {"runtime_inertia": True, "runtime_transform": True}
GIVEN = (("inertias",), ("placements",), ("inertias", "placements"))
DYNAMICS = ["inverse_dynamics", "forward_dynamics", "aba", "crba", "minv",
            "inverse_dynamics_gradient", "forward_dynamics_gradient"]  # fmt: skip


def load(name: str, floating: bool):
    found = HAND_MADE[name] if name in HAND_MADE else Robot(name, path=asset_path(name))
    return found.load(floating_base=floating)


@pytest.mark.parametrize(
    ("name", "floating"), [("iiwa14", False), ("go2", True), ("helical", True), ("spherical", True)]
)
def test_pinocchio_of_other_inertias_and_placements(name, floating) -> None:
    """D31: what depends on placements and inertias, as compiled, to 1e-9 of Pinocchio's own."""
    model, B = load(name, floating), 2
    s, other = random_state(model, batch=B), varied(model, B)
    wanted = ["inverse_dynamics", "forward_dynamics", "crba", "forward_kinematics"]
    wanted += ["inverse_dynamics_gradient"] if name == "helical" else []
    with grid_core.load_robot(
        model, floating_base=floating, backend="cpu", dtype="float64", algorithm_list=wanted, **BOTH
    ) as robot:
        for names in GIVEN:
            given = {n: other[n] for n in names}
            for b in range(B):
                oracle = PinocchioOracle.from_records(model)
                apply_to(oracle.pin, *(given[n][b] if n in given else None for n in other))
                oracle.data = oracle.pin.createData()
                one = {n: x[b : b + 1] for n, x in given.items()}
                q, qd, qdd, u = (x[b : b + 1] for x in (s.q, s.qd, s.qdd, s.u))
                for ours, theirs in (
                    (
                        robot.inverse_dynamics(q, qd, qdd, **one),
                        oracle.inverse_dynamics(q, qd, qdd),
                    ),
                    (robot.forward_dynamics(q, qd, u, **one), oracle.forward_dynamics(q, qd, u)),
                    (robot.crba(q, **one), oracle.mass_matrix(q)),
                ):
                    assert_close(ours, theirs, rtol=1e-9, noise=1e-10)
                if "placements" in given:
                    places = {"placements": one["placements"]}
                    ours = robot.forward_kinematics(q, **places)
                    np.testing.assert_allclose(ours, oracle.placements(q)[1], atol=1e-12)
                if "inverse_dynamics_gradient" in wanted:
                    ours = robot.inverse_dynamics_gradient(q, qd, qdd, **one)
                    theirs = oracle.inverse_dynamics_gradient(q, qd, qdd)
                    assert_close(ours, theirs, rtol=1e-9, noise=1e-10)


@pytest.mark.parametrize(
    ("name", "floating", "convention"),
    [
        ("branching", True, "mujoco"),
        ("planar", False, "pinocchio"),
        ("mimic_constant", False, "pinocchio"),
        ("mimic_branches", True, "pinocchio"),
    ],
)
def test_programs_and_references_agree(name, floating, convention) -> None:
    """Every operation that takes them, each problem with its own: mimics and constants too."""
    model, B = load(name, floating), 2
    s, other = random_state(model, batch=B), varied(model, B)
    rng = np.random.default_rng(3)
    state = {"q": s.q, "qd": s.qd, "qdd": s.qdd, "u": s.u, "gravity": -9.81}
    state |= {n: rng.normal(size=(B, model.nv)) for n in ("dq", "dqd", "dqdd", "du")}
    state |= {n: rng.normal(size=(B, model.nv)) for n in ("tau_bar", "qdd_bar")}
    targets = find_targets(model, None)[:1]
    options = Options(targets=targets, output_convention=convention, **BOTH)
    for algorithm in ALGORITHMS.values():
        extended = with_runtime_ports(algorithm, options)
        added = [p.name for p in extended.inputs if p not in algorithm.inputs]
        if not added or algorithm.name.endswith("_runtime"):
            continue
        if convention == "mujoco" and algorithm.name == "fk_batched":
            continue
        inputs = {p.name: state[p.name] for p in extended.inputs if p.name in state}
        inputs |= {n: other[n] for n in added}
        present = [p.name for p in extended.inputs if p.optional and p.name in inputs]
        traced_with = {"targets": targets, "output_convention": convention, **BOTH}
        found = trace(operation(model, extended, present, **traced_with)).evaluate(inputs)
        expected = evaluate_reference(extended, ALGORITHMS, model, options, inputs)
        for key, value in expected.items():
            scale = max(1.0, np.abs(value).max(initial=0.0))
            np.testing.assert_allclose(found[key], value, rtol=1e-8, atol=1e-9 * scale)


@pytest.fixture(scope="module")
def arm():
    wanted = [*DYNAMICS, "end_effector_pose", "end_effector_pose_runtime", "frame_jacobian"]
    options = {"backend": "reference", "algorithm_list": wanted, **BOTH}
    with grid_core.load_robot(asset_path("iiwa14"), **options) as robot:
        yield robot


def test_one_array_stands_for_a_whole_batch(arm) -> None:
    """Shared: (nb, 10) and (nj, 4, 4) beside a batch of states; and one problem with its own."""
    s, other = random_state(arm.model, batch=3), varied(arm.model, 1)
    one = {name: x[0] for name, x in other.items()}
    each = {name: np.repeat(x, 3, axis=0) for name, x in other.items()}
    shared = arm.forward_dynamics(s.q, s.qd, s.u, **one)
    np.testing.assert_array_equal(shared, arm.forward_dynamics(s.q, s.qd, s.u, **each))
    np.testing.assert_array_equal(shared[0], arm.forward_dynamics(s.q[0], s.qd[0], s.u[0], **one))
    assert arm.forward_dynamics(s.q[:0], s.qd[:0], s.u[:0], **one).shape == (0, 7)


def test_one_of_them_shared_as_compiled(arm) -> None:
    """Entries of what is shared are numbers of a kernel's; the other array has the batch."""
    s, other = random_state(arm.model, batch=3), varied(arm.model, 3)
    options = {"backend": "cpu", "dtype": "float64", "algorithm_list": "crba", **BOTH}
    with grid_core.load_robot(asset_path("iiwa14"), **options) as robot:
        given = {"inertias": other["inertias"][0].tolist(), "placements": other["placements"]}
        each = {**given, "inertias": np.repeat(other["inertias"][:1], 3, axis=0)}
        np.testing.assert_allclose(robot.crba(s.q, **given), arm.crba(s.q, **each), rtol=1e-10)
        given["placements"] = other["placements"][0]
        out = np.empty((3, 7, 7))
        assert robot.crba(s.q, **given, out=out) is out
        np.testing.assert_allclose(out, arm.crba(s.q, **given), rtol=1e-10)
        with pytest.raises(InputError, match=r"crba: inertias must be \(7, 10\); got \(7, 9\)"):
            robot.crba(s.q, inertias=other["inertias"][0, :, :9])


def test_left_out_they_are_the_descriptions_own(arm) -> None:
    """The nominal program is the same to the last instruction; kinematics have no inertias."""
    model = arm.model
    for name in DYNAMICS:
        extended = with_runtime_ports(ALGORITHMS[name], Options(**BOTH))
        assert [p.name for p in extended.inputs][-2:] == ["inertias", "placements"]
        one, other = traced(model, name), trace(operation(model, extended, **BOTH))
        assert (one.instructions, one.constants) == (other.instructions, other.constants)
    s = random_state(model)
    nominal = {
        "inertias": arm.parameters().reshape(7, 10),
        "placements": np.array([joint.placement for joint in model.joints]),
    }
    with_them = arm.inverse_dynamics(s.q, s.qd, s.qdd, **nominal)
    assert_close(with_them, arm.inverse_dynamics(s.q, s.qd, s.qdd), rtol=1e-9, noise=1e-12)
    with pytest.raises(ArgumentError, match="no argument 'inertias'"):
        arm.end_effector_pose(s.q, inertias=nominal["inertias"])


def test_methods_of_plugins_take_them_too(arm) -> None:
    """By keyword, as the generated calls do."""
    model = arm.model
    s, other = random_state(model), varied(model, 2)
    places = {"placements": other["placements"]}
    dqdd, Minv = arm.forward_dynamics_gradient(s.q, s.qd, s.u, return_minv=True, **other)
    np.testing.assert_allclose(Minv, arm.minv(s.q, **other), rtol=1e-9)
    np.testing.assert_allclose(dqdd, arm.forward_dynamics_gradient(s.q, s.qd, s.u, **other))
    pose = arm.end_effector_pose_runtime(s.q, "iiwa_joint_7", **places)[:, 0]
    np.testing.assert_allclose(pose, arm.end_effector_pose(s.q, **places), atol=1e-12)
    assert not np.allclose(pose, arm.end_effector_pose_runtime(s.q, "iiwa_joint_7")[:, 0])
    J = arm.frame_jacobian(s.q, "iiwa_joint_4", "local", **places)
    assert not np.allclose(J, arm.frame_jacobian(s.q, "iiwa_joint_4", "local"))
    assert "placements" in str(arm.frame_jacobian.__signature__)
    with pytest.raises(ArgumentError, match="frame_jacobian"):
        arm.frame_jacobian(s.q, plaecments=None)


def test_mistakes_say_what_is_wrong(arm) -> None:
    s, other = random_state(arm.model, batch=3), varied(arm.model, 2)
    with pytest.raises(InputError, match=r"inertias must be \(B, nb=7, 10\); got \(B, 7, 9\)"):
        arm.crba(s.q, inertias=np.zeros((3, 7, 9)))
    with pytest.raises(InputError, match=r"placements must have the batch of q, B=3; got B=2"):
        arm.crba(s.q, placements=other["placements"])
    with pytest.raises(OptionError, match="runtime_inertia must be True or False"):
        grid_core.load_robot(asset_path("iiwa14"), runtime_inertia="yes")
    plain = grid_core.load_robot(asset_path("iiwa14"), backend="reference", algorithm_list="crba")
    with plain, pytest.raises(ArgumentError, match="no argument 'inertias'"):
        plain.crba(s.q, inertias=other["inertias"])


def test_the_descriptor_stays_nominal(arm) -> None:
    """D31: placements in the descriptor are those of the description, whatever calls are given."""
    assert arm.model_descriptor == grid_core.describe_model(asset_path("iiwa14"))
    selection = plugin_manager().select("frame_placement")
    for options, said in ((arm.options, "true"), (Options(), "false")):
        text = header_text(arm.model, options, selection)
        assert f"constexpr bool runtime_transform = {said};" in text
