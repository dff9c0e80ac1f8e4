"""Every URDF that example-robot-data and frax ship, against Pinocchio's reading of it."""

from __future__ import annotations

import importlib.metadata
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from grid_core.errors import ModelError, ModelWarning
from grid_core.model import JointKind, load_urdf

REFUSED = {
    "ur3": "no <link> in this robot",  # a xacro file without anything to expand
    "alex_psyonic_hands": "'Left_index_q2' mimics 'index_q1', which does not exist",
}
"""Files that describe no robot, by stem, with the reason; Pinocchio refuses the first as well."""


def _robots() -> dict[str, Path]:
    found = {}
    for package in ("example-robot-data", "frax"):
        for file in importlib.metadata.files(package) or ():
            if file.suffix == ".urdf":
                path = Path(file.locate()).resolve()
                found[f"{package}-{path.parent.parent.name}-{path.stem}"] = path
    return found


ROBOTS = _robots()
LOADED = {name: path for name, path in ROBOTS.items() if path.stem not in REFUSED}


def load(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load_urdf(path, **options)


def test_robots_are_there():
    """The packages hold the robots that these tests are about."""
    assert len(ROBOTS) > 70


@pytest.mark.parametrize("name", [name for name in ROBOTS if name not in LOADED])
def test_refused(name):
    """What describes no robot is refused with the reason."""
    with pytest.raises(ModelError, match=REFUSED[ROBOTS[name].stem]):
        load(ROBOTS[name])


@pytest.mark.parametrize("floating_base", [False, True])
@pytest.mark.parametrize("name", LOADED)
def test_same_as_pinocchio(name, floating_base):
    """Joints, their order, placements, axes, inertias, limits and links are Pinocchio's."""
    model = load(LOADED[name], floating_base=floating_base)
    root = [pin.JointModelFreeFlyer()] if floating_base else []
    theirs = pin.buildModelFromUrdf(str(LOADED[name]), *root)
    assert [joint.name for joint in model.joints] == list(theirs.names)[1:]
    mimics = [joint for joint in model.joints if joint.mimic is not None]
    circles = [joint for joint in model.joints if joint.kind is JointKind.CONTINUOUS]
    assert model.nv == theirs.nv - len(mimics)
    # Pinocchio's continuous joints have two entries, its mimic joints entries of their own.
    assert model.nq == theirs.nq - len(mimics) - len(circles)
    for joint in model.joints:
        _check_joint(model, joint, theirs)
    _check_links(model, theirs)


def _check_joint(model, joint, theirs):
    number = joint.id + 1
    assert theirs.parents[number] == joint.parent + 1
    placement = theirs.jointPlacements[number].homogeneous
    np.testing.assert_allclose(joint.placement, placement, atol=1e-12)
    inertia, expected = model.bodies[joint.id].inertia, theirs.inertias[number]
    np.testing.assert_allclose(inertia.mass, expected.mass, rtol=1e-12)
    np.testing.assert_allclose(inertia.com, expected.lever, atol=1e-12)
    np.testing.assert_allclose(inertia.rotational, expected.inertia, atol=1e-12)
    _check_motion(joint, theirs.joints[number])
    if joint.nq == 1:
        _check_limits(joint, theirs)


def _check_motion(joint, theirs):
    """Compare the joint's motion subspace, which shows kind and axis."""
    if joint.nq != 1:
        assert joint.kind is JointKind.FLOATING
        assert theirs.shortname() == "JointModelFreeFlyer"
        return
    data = theirs.createData()
    theirs.calc(data, pin.neutral(_alone(theirs)))
    S = np.asarray(data.S).ravel()
    slides = joint.kind is JointKind.PRISMATIC
    np.testing.assert_allclose(S[:3] if slides else S[3:], joint.axis, atol=1e-12)
    assert not (S[3:] if slides else S[:3]).any()


def _alone(joint):
    model = pin.Model()
    model.addJoint(0, joint, pin.SE3.Identity(), "j")
    return model


def _check_limits(joint, theirs):
    number = joint.id + 1
    q, v = theirs.idx_qs[number], theirs.idx_vs[number]
    if joint.kind is not JointKind.CONTINUOUS:
        lower, upper = theirs.lowerPositionLimit[q], theirs.upperPositionLimit[q]
        # Where a bound is missing Pinocchio has 0, the URDF wiki's default.
        assert (joint.limits.lower or 0.0) == pytest.approx(lower, abs=1e-15)
        assert (joint.limits.upper or 0.0) == pytest.approx(upper, abs=1e-15)
    for bound, value in (
        (joint.limits.velocity, theirs.velocityLimit[v]),
        (joint.limits.effort, theirs.upperEffortLimit[v]),
    ):
        assert (np.inf if bound is None else bound) == pytest.approx(value)
    assert joint.damping == pytest.approx(theirs.damping[v])


def _check_links(model, theirs):
    for link in model.links:
        frame = theirs.frames[theirs.getFrameId(link.name, pin.FrameType.BODY)]
        assert frame.parentJoint == link.body + 1
        np.testing.assert_allclose(link.placement, frame.placement.homogeneous, atol=1e-12)
