"""Every file of ``tests/cases`` does what its ``.expected.json`` says a model can show."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from grid_core.errors import ModelError, ModelWarning
from grid_core.model import load_urdf
from tests.model.kinematics import link_poses, q_of
from tests.model.texts import CASES

EXPECTED = {
    path.name.removesuffix(".expected.json"): json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(CASES.glob("*.expected.json"))
}
REFUSED = [name for name, case in EXPECTED.items() if case["outcome"] == "refuse"]
LOADED = [name for name in EXPECTED if name not in REFUSED]
WARNED = {"21_default_axis_origin": "j2", "30_triangle_violation": "a"}
"""Cases that load with a warning, and what it names."""


def load(name, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load_urdf(CASES / f"{name}.urdf", **options)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    """A refusal names the file, the line and what the case asks for."""
    case = EXPECTED[name]
    with pytest.raises(ModelError) as caught:
        load(name)
    message = str(caught.value)
    found = [word in message for word in case["error_must_name"]]
    assert any(found) if case.get("error_must_name_any") else all(found)
    assert caught.value.line is not None
    assert message.startswith(f"{CASES / name}.urdf:{caught.value.line}: ")


@pytest.mark.parametrize("name", LOADED)
def test_warnings(name):
    """What loads warns where the case says so, and nowhere else."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        load_urdf(CASES / f"{name}.urdf")
    if name in WARNED:
        assert len(issued) == 1
        assert issued[0].category is ModelWarning
        assert repr(WARNED[name]) in str(issued[0].message)
    else:
        assert not issued


@pytest.mark.parametrize("name", WARNED)
def test_strict_refuses_what_warns(name):
    """A strict reading refuses what is otherwise warned about."""
    with pytest.raises(ModelError, match=f"'{WARNED[name]}'"):
        load(name, strict=True)


@pytest.mark.parametrize("name", [name for name in LOADED if "coords" in EXPECTED[name]])
def test_coordinates(name):
    """Widths, the order of joints, and the names of independent joints."""
    case, model = EXPECTED[name], load(name)
    assert (model.nq, model.nv) == (case["nq_scalar"], case["nv"])
    assert [joint.name for joint in model.joints] == case["pinocchio"]["joint_order"]
    independent = [joint.name for joint in model.joints if joint.q_start is not None]
    assert sorted(independent) == sorted(case["coords"])
    starts = [joint.q_start for joint in model.joints if joint.q_start is not None]
    assert starts == list(range(model.nq))


@pytest.mark.parametrize("name", [name for name in LOADED if "coords" in EXPECTED[name]])
def test_poses_and_masses(name):
    """Link poses, moving masses, and every body's inertia."""
    case, model = EXPECTED[name], load(name)
    poses = link_poses(model, q_of(model, case["q"]))
    for link, pose in case["link_poses_in_root"].items():
        np.testing.assert_allclose(poses[link][:3, 3], pose["xyz"], atol=1e-11)
        np.testing.assert_allclose(poses[link][:3, :3], pose["R"], atol=1e-11)
    assert sum(b.inertia.mass for b in model.bodies) == pytest.approx(case["mass_moving"])
    floating = load(name, floating_base=True)
    assert floating.bodies[0].inertia.mass == pytest.approx(case["mass_root_body"])
    inertias = case["body_inertias_joint_frame"]
    assert len(inertias) == min(model.nj, 7)
    bodies = {joint.name: model.bodies[joint.id] for joint in model.joints}
    for joint, expected in inertias.items():
        actual = bodies[joint].inertia
        assert actual.mass == pytest.approx(expected["mass"], abs=1e-12)
        np.testing.assert_allclose(actual.com, expected["com"], atol=1e-11)
        np.testing.assert_allclose(actual.rotational, expected["I_com"], atol=1e-11)


def test_mimic_followers_keep_their_place():
    """The angles of followers are what the case says, chains flattened."""
    case, model = EXPECTED["03_mimic_chain"], load("03_mimic_chain")
    (lead,) = model.joints[:1]
    for joint in model.joints[1:]:
        angle = joint.mimic.multiplier * case["q"]["lead"] + joint.mimic.offset
        assert joint.mimic.leader == lead.id
        assert (joint.q_start, joint.v_start) == (None, None)
        assert angle == pytest.approx(case["q_all"][joint.name])


def test_continuous_limits():
    """A continuous joint keeps effort and velocity but has no range."""
    model = load("05_continuous")
    for joint in model.joints:
        expected = EXPECTED["05_continuous"]["limits"][joint.name]
        for key, value in expected.items():
            assert getattr(joint.limits, key) == value


def test_missing_range_is_no_range():
    """Where lower and upper are missing the joint is unbounded: null, not zero."""
    j1, j2 = load("21_default_axis_origin").joints
    assert (j1.limits.lower, j1.limits.upper) == (-1.0, 1.0)
    assert (j2.limits.lower, j2.limits.upper) == (None, None)
    assert (j2.limits.velocity, j2.limits.effort) == (1.0, 1.0)


def test_unreachable_zero_is_noted():
    """A joint that cannot be at zero is noted; that is no fault of the file, even strictly."""
    model = load_urdf(CASES / "26b_zero_outside.urdf", strict=True)
    assert (model.joints[0].limits.lower, model.joints[0].limits.upper) == (-2.7, -0.9)
    assert len(model.warnings) == 1
    assert "'j1'" in model.warnings[0]


def test_floating_base_of_heavy_root():
    """A floating base counts the root link and what is fixed to it."""
    case = EXPECTED["18b_heavy_root"]["floating_base"]
    model = load("18b_heavy_root", floating_base=True)
    assert (model.nq, model.nv) == (case["nq"], case["nv"])
    masses = [body.inertia.mass for body in model.bodies]
    assert sum(masses) == pytest.approx(case["total_mass"])
    poses = link_poses(model, np.array([0, 0, 0, 0, 0, 0, 1, 0.4]))
    arm = poses["arm"] @ np.append(model.bodies[1].inertia.com, 1.0)
    com = (masses[0] * model.bodies[0].inertia.com + masses[1] * arm[:3]) / sum(masses)
    np.testing.assert_allclose(com, case["com_at_identity_base"], atol=1e-11)
    # The base's block of M is the inertia about its origin, seen at this configuration.
    M = np.array(case["M"])
    R = poses["arm"][:3, :3]
    moved = R @ model.bodies[1].inertia.rotational @ R.T
    moved += masses[1] * (arm[:3] @ arm[:3] * np.eye(3) - np.outer(arm[:3], arm[:3]))
    np.testing.assert_allclose(model.bodies[0].inertia.at_origin + moved, M[3:6, 3:6], atol=1e-11)


def test_floating_below_the_root():
    """A floating joint below a moving one is decomposed, its origin applied."""
    case, model = EXPECTED["20_floating_mid"], load("20_floating_mid")
    assert (model.nq, model.nv) == (case["nq"], case["nv"])
    names = [joint.name for joint in model.joints]
    assert names == ["turn", "loose.x", "loose.y", "loose.z", "loose.rotation", "wag"]
    poses = link_poses(model, np.array(case["q_pinocchio"]))
    for link, pose in case["link_poses_in_root"].items():
        np.testing.assert_allclose(poses[link][:3, 3], pose["xyz"], atol=1e-11)
        np.testing.assert_allclose(poses[link][:3, :3], pose["R"], atol=1e-11)


def test_names_are_of_their_kind():
    """A joint and a link may share a name."""
    model = load("22_shared_names")
    assert [(joint.name, model.bodies[joint.id].name) for joint in model.joints] == [
        ("knee", "foot"),
        ("foot", "knee"),
    ]
