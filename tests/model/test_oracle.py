"""Poses of two robots against an independent implementation's."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from grid_core.errors import ModelWarning
from grid_core.model import FrameKind, load_urdf, load_urdf_string
from tests.model.kinematics import body_poses

ORACLE = Path(__file__).parent.parent / "oracle"
RUNS = [
    ("m1_scalar_chain", False, 3, 3),
    ("m1_scalar_chain", True, 10, 9),
    ("m4_spherical_helical", False, 6, 5),
]


@pytest.mark.parametrize(("robot", "floating_base", "nq", "nv"), RUNS)
def test_poses(robot, floating_base, nq, nv):
    """Every joint's and every fixed frame's pose, and the common centre of mass."""
    # m1 says rpy="1.5708 ...", and its stored values are those of π/2, 3.7e-6 rad less.
    document = (ORACLE / f"{robot}.urdf").read_text(encoding="utf-8")
    document = document.replace('"1.5708 ', f'"{np.pi / 2!r} ')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        model = load_urdf_string(document, floating_base=floating_base)
    assert (model.nq, model.nv) == (nq, nv)
    base = "floating" if floating_base else "fixed"
    text = (ORACLE / f"{robot}.{base}.numeric.json").read_text(encoding="utf-8")
    for case in json.loads(text)["cases"]:
        poses = body_poses(model, np.array(case["q"]))
        names = [
            "floating_base_joint" if not joint.source else joint.name for joint in model.joints
        ]
        for joint, name in zip(model.joints, names, strict=True):
            np.testing.assert_allclose(poses[joint.id], case["world_T_joint"][name], atol=1e-12)
        for frame in model.frames:
            if frame.kind is FrameKind.FIXED:
                pose = poses[frame.body] @ frame.placement
                np.testing.assert_allclose(pose, case["world_T_fixed"][frame.name], atol=1e-12)
        masses = np.array([body.inertia.mass for body in model.bodies])
        coms = [(poses[body.id] @ np.append(body.inertia.com, 1))[:3] for body in model.bodies]
        np.testing.assert_allclose(masses @ coms / masses.sum(), case["com"], atol=1e-12)


def test_limits_of_the_scalar_chain():
    """A missing bound is none, with a warning; a continuous joint has a velocity alone."""
    with pytest.warns(ModelWarning, match="'rail': no lower"):
        model = load_urdf(ORACLE / "m1_scalar_chain.urdf")
    shoulder, elbow, rail = (joint.limits for joint in model.joints)
    assert (shoulder.lower, shoulder.upper, shoulder.velocity, shoulder.effort) == (
        -1.5,
        2.25,
        3.5,
        40,
    )
    assert (elbow.lower, elbow.upper, elbow.velocity, elbow.effort) == (None, None, 6, None)
    assert (rail.lower, rail.upper, rail.velocity, rail.effort) == (None, 0.4, None, 120)
    assert [joint.damping for joint in model.joints] == [0.5, 0, 0]
