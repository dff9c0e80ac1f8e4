"""Random trees of every joint kind, against Pinocchio's model built from the same records."""

from __future__ import annotations

import pytest

from tests.support.compare import assert_accelerations_close, assert_close
from tests.support.evaluate import Reference
from tests.support.pinocchio_oracle import PinocchioOracle
from tests.support.random_trees import ALL_KINDS, SCALAR_KINDS, random_urdf
from tests.support.robots import Robot, hand_made_params
from tests.support.states import random_state

TREES = [
    *(Robot(f"tree_{n}", text=random_urdf(n, n)) for n in (1, 2, 3, 5, 8, 13, 21, 30)),
    Robot("chain_30", text=random_urdf(31, 30, branching=0.0)),
    Robot("bush_30", text=random_urdf(32, 30, branching=1.0)),
    *(Robot(f"mimic_{n}", text=random_urdf(40 + n, n, mimic=0.4)) for n in (4, 9, 20)),
    Robot("scalars", text=random_urdf(50, 12, kinds=SCALAR_KINDS)),
    Robot("decomposed", text=random_urdf(51, 9, kinds=(*ALL_KINDS, "planar", "floating"))),
]


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize(
    "robot", [*(pytest.param(t, id=t.name) for t in TREES), *hand_made_params()]
)
def test_dynamics(robot: Robot, floating: bool) -> None:
    model = robot.load(floating_base=floating)
    grid, oracle, s = Reference(model), PinocchioOracle.from_records(model), random_state(model)
    M = oracle.mass_matrix(s.q)
    assert_close(grid("crba", q=s.q), M)
    assert_close(grid("generalized_gravity", q=s.q), oracle.gravity(s.q))
    for f_ext in (None, s.f_ext):
        tau = grid("inverse_dynamics", q=s.q, qd=s.qd, qdd=s.qdd, f_ext=f_ext)
        assert_close(tau, oracle.inverse_dynamics(s.q, s.qd, s.qdd, f_ext))
    refusal = grid.refuse("aba")
    assert refusal is None
    expected = oracle.forward_dynamics(s.q, s.qd, s.u, s.f_ext)
    for name in ("forward_dynamics", "aba"):
        qdd = grid(name, q=s.q, qd=s.qd, u=s.u, f_ext=s.f_ext)
        assert_accelerations_close(qdd, expected, M)
    assert_accelerations_close(grid("minv", q=s.q), oracle.minv(s.q), M)
