"""Scalar joints on a fixed base against MuJoCo, which reads the same URDF by its own rules."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tests.support.compare import assert_close
from tests.support.evaluate import Reference
from tests.support.random_trees import random_urdf
from tests.support.robots import Robot, hand_made_params
from tests.support.states import random_state

KINDS = ("revolute", "continuous", "prismatic")
ROBOTS = [
    *hand_made_params("axis_aligned", "skew_axes", "prismatic", "branching"),
    *(
        pytest.param(Robot(f"t{n}", text=random_urdf(60 + n, n, kinds=KINDS)), id=f"t{n}")
        for n in (5, 20)
    ),
]


@pytest.mark.parametrize("robot", ROBOTS)
def test_mass_matrix_and_inverse_dynamics(robot: Robot) -> None:
    model = robot.load()
    grid, s = Reference(model), random_state(model, batch=3)
    theirs = mujoco.MjModel.from_xml_string(robot.source())
    # Joint limits act as contacts do, and have no part in the equations of motion.
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(theirs)
    at = [theirs.joint(j.name).qposadr[0] for j in model.joints]
    M, tau = grid("crba", q=s.q), grid("inverse_dynamics", q=s.q, qd=s.qd, qdd=s.qdd)
    for b in range(3):
        data.qpos[at], data.qvel[at], data.qacc[at] = s.q[b], s.qd[b], s.qdd[b]
        mujoco.mj_inverse(theirs, data)
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(theirs, data, full)
        assert_close(M[b : b + 1], full[np.ix_(at, at)][None], noise=1e-10)
        assert_close(tau[b : b + 1], data.qfrc_inverse[at][None], noise=1e-10)
