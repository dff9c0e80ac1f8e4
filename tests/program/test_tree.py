"""The canonical tree is the robot: same placements, same dynamics, whatever frames it chose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grid_core.algorithm import Port
from grid_core.model import load_urdf_string, random_configuration
from grid_core.model.types import JointKind
from grid_core.program.linalg import Vec3
from grid_core.program.motion import body_placements
from grid_core.program.tree import KinematicTree
from grid_core.reference.kinematics import forward_kinematics
from tests.program.operations import BODY, made_up, traced
from tests.support import urdf
from tests.support.evaluate import Reference
from tests.support.random_trees import ALL_KINDS, random_urdf
from tests.support.robots import HAND_MADE, Robot, example_params
from tests.support.states import random_state

if TYPE_CHECKING:
    from grid_core.algorithm import Context
    from grid_core.model.types import RobotModel

TREES = [
    *(Robot(f"tree_{n}", text=random_urdf(200 + n, n)) for n in (1, 2, 5, 12, 30)),
    *(Robot(f"mimic_{n}", text=random_urdf(240 + n, n, mimic=0.5)) for n in (3, 9, 20)),
    Robot("decomposed", text=random_urdf(7, 9, kinds=(*ALL_KINDS, "planar", "floating"))),
]
SMALL = [*HAND_MADE.values(), *TREES]
SNAPPED = 5e-11
"""What snapping frames to quarter turns may cost, as part of the largest entry."""


def placements(ctx: Context[Any]) -> dict[str, Any]:
    """T_root_body of every body, through its node and its attachment."""
    tree = KinematicTree.of(ctx.model, regroup=True)
    nodes = body_placements(tree, ctx["q"])
    result = np.zeros((ctx.model.nb, 4, 4), dtype=object)
    for body, at in enumerate(tree.attachments):
        rows, origin = nodes[at.node] if at.node >= 0 else (_rows(np.eye(3)), Vec3(0.0, 0.0, 0.0))
        columns = list(zip(*at.rotation, strict=True))
        for i in range(3):
            result[body, i, :3] = [rows[i].dot(Vec3.of(c)) for c in columns]
            result[body, i, 3] = origin[i] + rows[i].dot(at.position)
        result[body, 3, 3] = 1.0
    return {"T": result}


def _rows(R: Any) -> list[Vec3]:
    return [Vec3.of(row) for row in R.tolist()]


PLACEMENTS = made_up(placements, outputs=(Port(name="T", shape=("nb", 4, 4), doc="poses"),))


def check_placements(model: RobotModel) -> None:
    q = random_configuration(model, np.random.default_rng(0), 3)
    expected = forward_kinematics(model, q)
    got = traced(model, PLACEMENTS).evaluate({"q": q})["T"]
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(got, expected, rtol=0.0, atol=SNAPPED * scale)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("robot", SMALL, ids=lambda r: r.name)
def test_placements(robot: Robot, floating: bool) -> None:
    check_placements(robot.load(floating_base=floating))


@pytest.mark.parametrize("robot", example_params())
def test_placements_of_real_robots(robot: Robot) -> None:
    check_placements(robot.load())


def evaluate(model: RobotModel, name: str, inputs: dict[str, Any], **options: Any) -> Any:
    """Evaluate the program of an operation; inputs that it lacks are left out."""
    program = traced(model, name, {"qdd", "f_ext"} & set(inputs), **options)
    (result,) = program.evaluate(inputs).values()
    return result


@pytest.mark.parametrize("regroup", [True, False], ids=["regrouped", "as_given"])
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("robot", SMALL, ids=lambda r: r.name)
def test_dynamics_with_and_without_regrouping(
    robot: Robot, floating: bool, regroup: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = robot.load(floating_base=floating)
    tree = KinematicTree(model, regroup=regroup)
    monkeypatch.setattr(KinematicTree, "of", staticmethod(lambda *_, **__: tree))
    reference, s = Reference(model, use_joint_dynamics=True), random_state(model)
    everything: dict[str, Any] = {
        "q": s.q,
        "qd": s.qd,
        "qdd": s.qdd,
        "f_ext": s.f_ext,
        "gravity": -9.5,
    }
    for name, taken in {
        "crba": ("q",),
        "generalized_gravity": ("q", "gravity"),
        "nonlinear_effects": ("q", "qd", "gravity"),
        "inverse_dynamics": ("q", "qd", "qdd", "gravity", "f_ext"),
    }.items():
        inputs = {k: everything[k] for k in taken}
        got = evaluate(model, name, inputs, use_joint_dynamics=True)
        expected = reference(name, **inputs)
        scale = np.abs(expected).max(initial=1e-6)
        np.testing.assert_allclose(got, expected, rtol=0.0, atol=1e-11 * scale, err_msg=name)


@pytest.mark.parametrize("robot", SMALL, ids=lambda r: r.name)
def test_regrouping_keeps_the_total_mass_and_empties_what_turns(robot: Robot) -> None:
    model = robot.load(floating_base=True)
    tree = KinematicTree(model, regroup=True)
    for node in tree.nodes:
        if node.joint.kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS):
            assert (node.m, node.h.z, node.second.zz) == (0.0, 0.0, 0.0)
    # What a prismatic or a helical joint carries keeps its mass; the rest is on the base.
    total = sum(node.m for node in tree.nodes)
    assert total == pytest.approx(sum(b.inertia.mass for b in model.bodies), rel=1e-12)


@pytest.mark.parametrize("robot", SMALL, ids=lambda r: r.name)
def test_frames_are_rotations_and_axes_are_z(robot: Robot) -> None:
    for node in KinematicTree(robot.load(), regroup=False).nodes:
        P = np.array([list(row) for row in node.rotation])
        np.testing.assert_allclose(P @ P.T, np.eye(3), atol=SNAPPED)
        assert np.linalg.det(P) > 0.0
        if node.joint.kind is JointKind.PRISMATIC:
            assert np.linalg.norm(np.array([*node.axis], float)) == pytest.approx(1.0, abs=1e-14)
        elif node.joint.axis is not None:
            np.testing.assert_allclose(np.array([*node.axis], float), [0.0, 0.0, 1.0], atol=1e-11)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("robot", example_params())
def test_frames_stay_near_their_joints(robot: Robot, floating: bool) -> None:
    """Where two axes all but meet far away, a frame there would lose every digit."""
    model = robot.load(floating_base=floating)
    lengths = [np.linalg.norm(j.placement[:3, 3]) for j in model.joints]
    children: dict[int, list[int]] = {}
    for joint in model.joints:
        children.setdefault(joint.parent, []).append(joint.id)
    for joint, at in zip(
        model.joints, KinematicTree(model, regroup=False).attachments, strict=True
    ):
        if at.node >= 0 and joint.kind is not JointKind.PRISMATIC:
            longest = max(lengths[k] for k in (joint.id, *children.get(joint.id, [])))
            assert np.linalg.norm(np.array([*at.position], float)) <= 2.0 * longest + 1e-12


def _tilted(tilt: float, where: str) -> RobotModel:
    """Three joints; the axis or the frame of the second and third is off by `tilt` [rad]."""
    axis = (np.sin(tilt) if where == "axis" else 0.0, 1.0, 0.0)
    rpy = (tilt if where == "rpy" else 0.0, 0.0, 0.0)
    body: dict[str, Any] = {"mass": 1.5, "com": (0.1, 0.05, -0.3), "inertia": BODY}
    return load_urdf_string(
        urdf.robot(
            "tilted",
            urdf.link("base"),
            *(urdf.link(name, **body) for name in "abc"),
            urdf.joint("j1", "continuous", "base", "a", axis=(0.0, 0.0, 1.0)),
            urdf.joint("j2", "continuous", "a", "b", axis=axis, rpy=rpy, xyz=(0.2, 0.0, 0.5)),
            urdf.joint("j3", "prismatic", "b", "c", axis=axis, rpy=rpy, xyz=(0.2, 0.0, 0.5)),
        )
    )


@pytest.mark.parametrize("where", ["axis", "rpy"])
@pytest.mark.parametrize("tilt", [1e-10, 1e-8, 1e-6, 3.67e-6, 1e-4, 1e-2])
def test_a_tilted_axis_stays_tilted(where: str, tilt: float) -> None:
    """3.67e-6 is what is left of a quarter turn written as 1.5708."""
    rng = np.random.default_rng(0)
    inputs: dict[str, Any] = dict(zip(("q", "qd", "qdd"), rng.normal(size=(3, 4, 3)), strict=True))
    inputs["gravity"] = -9.81
    straight, tilted = _tilted(0.0, where), _tilted(tilt, where)
    expected = Reference(tilted)("inverse_dynamics", **inputs)
    effect = np.abs(Reference(straight)("inverse_dynamics", **inputs) - expected).max()
    got = evaluate(tilted, "inverse_dynamics", inputs)
    error = np.abs(got - expected).max()
    assert error < SNAPPED * np.abs(expected).max()
    assert error < 1e-2 * effect
    assert np.abs(evaluate(straight, "inverse_dynamics", inputs) - got).max() > 0.9 * effect


def test_a_quarter_turn_to_rounding_is_one() -> None:
    """A straight robot costs the same however its quarter turns are written."""
    costs = set()
    for angle in (np.pi / 2, 1.57079632679, 1.5707963267948966, -3 * np.pi / 2):
        body: dict[str, Any] = {"mass": 1.5, "com": (0.1, 0.05, -0.3), "inertia": BODY}
        model = load_urdf_string(
            urdf.robot(
                "elbow",
                urdf.link("base"),
                *(urdf.link(name, **body) for name in "ab"),
                urdf.joint("j1", "continuous", "base", "a", axis=(0.0, 0.0, 1.0)),
                urdf.joint(
                    "j2", "continuous", "a", "b", axis=(0, 0, 1), rpy=(angle, 0, 0), xyz=(1, 0, 0)
                ),
            )
        )
        costs.add(traced(model, "inverse_dynamics").counts.operations)
    assert len(costs) == 1


def _with_constant(kind: str, extra: dict[str, Any]) -> RobotModel:
    """A joint that mimics a fixed one, between two that move."""
    rng = np.random.default_rng(5)
    return load_urdf_string(
        urdf.robot(
            "constant",
            *(urdf.random_link(name, rng) for name in ("base", "a", "b", "c", "d")),
            urdf.joint("j0", "fixed", "base", "a"),
            urdf.joint("j1", "revolute", "a", "b", axis=(1.0, 2.0, 0.5), xyz=(0.1, 0.2, 0.3)),
            urdf.joint(
                "j2",
                kind,
                "b",
                "c",
                axis=(0.3, -0.5, 1.0),
                xyz=(0.3, 0.1, 0.2),
                rpy=(0.2, 0.4, -0.6),
                mimic=("j0", 2.0, 0.7),
                **extra,
            ),
            urdf.joint("j3", "revolute", "c", "d", axis=(0.0, 1.0, 1.0), xyz=(0.0, 0.1, 0.0)),
        )
    )


@pytest.mark.parametrize(
    ("kind", "extra"),
    [("revolute", {}), ("continuous", {}), ("prismatic", {}), ("helical", {"pitch": 0.3})],
)
def test_constant_joints_are_merged_away(kind: str, extra: dict[str, Any]) -> None:
    model = _with_constant(kind, extra)
    tree = KinematicTree(model, regroup=True)
    assert (len(tree.nodes), model.nj, model.nv) == (2, 3, 2)
    assert [a.node for a in tree.attachments] == [0, 0, 1]
    check_placements(model)
    s = random_state(model)
    for name in ("inverse_dynamics", "forward_dynamics", "aba"):
        inputs: dict[str, Any] = {"q": s.q, "qd": s.qd, "f_ext": s.f_ext, "gravity": -9.81}
        inputs |= {"qdd": s.qdd} if name == "inverse_dynamics" else {"u": s.u}
        expected = Reference(model)(name, **inputs)
        np.testing.assert_allclose(evaluate(model, name, inputs), expected, rtol=1e-10, atol=1e-12)


def test_trees_are_kept_by_model_and_by_regrouping() -> None:
    first, second = (HAND_MADE[name].load() for name in ("branching", "helical"))
    kept = KinematicTree.of(first, regroup=True)
    assert KinematicTree.of(first, regroup=True) is kept
    assert KinematicTree.of(first, regroup=False) is not kept
    assert KinematicTree.of(second, regroup=True).model is second
    assert [n.index for n in kept.children(-1)] == [0, 5]
    assert [n.parent for n in kept.children(0)] == [0, 0]
