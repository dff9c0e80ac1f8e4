"""Damping and Coulomb friction, with ``use_joint_dynamics`` only."""

from __future__ import annotations

import numpy as np

from tests.support.evaluate import Reference
from tests.support.random_trees import random_urdf
from tests.support.robots import HAND_MADE, Robot
from tests.support.states import random_state


def test_a_follower_rubs_at_its_own_rate() -> None:
    """j2 turns at -2 times j1: its damping counts 4 times on j1, its friction 2 times."""
    model = HAND_MADE["dissipative"].load()
    s = random_state(model, batch=6)
    plain, lossy = Reference(model), Reference(model, use_joint_dynamics=True)
    qd = np.linspace(-2.0, 3.0, 6)[:, None]
    expected = (0.7 + 4.0 * 0.4) * qd + (0.3 + 2.0 * 0.2) * np.sign(qd)
    for name in ("inverse_dynamics", "nonlinear_effects"):
        extra = lossy(name, q=s.q, qd=qd) - plain(name, q=s.q, qd=qd)
        np.testing.assert_allclose(extra, expected, atol=1e-13)


def test_a_joint_at_rest_takes_no_friction() -> None:
    model = HAND_MADE["dissipative"].load()
    s = random_state(model)
    lossy, rest = Reference(model, use_joint_dynamics=True), np.zeros_like(s.qd)
    g = lossy("generalized_gravity", q=s.q)
    np.testing.assert_array_equal(g, Reference(model)("generalized_gravity", q=s.q))
    np.testing.assert_array_equal(g, lossy("nonlinear_effects", q=s.q, qd=rest))


def test_forward_dynamics_overcomes_what_inverse_dynamics_asks_for() -> None:
    for mimic in (0.0, 0.4):
        text = random_urdf(7, 8, mimic=mimic, dynamics=True)
        model = Robot("lossy", text=text).load(floating_base=True)
        grid, s = Reference(model, use_joint_dynamics=True), random_state(model)
        tau = grid("inverse_dynamics", q=s.q, qd=s.qd, qdd=s.qdd, f_ext=s.f_ext)
        for name in ("forward_dynamics", "aba"):
            qdd = grid(name, q=s.q, qd=s.qd, u=tau, f_ext=s.f_ext)
            np.testing.assert_allclose(qdd, s.qdd, atol=1e-9)


def test_the_option_is_off_by_default() -> None:
    model = HAND_MADE["dissipative"].load()
    s = random_state(model)
    off = Reference(model, use_joint_dynamics=False)
    np.testing.assert_array_equal(
        Reference(model)("inverse_dynamics", q=s.q, qd=s.qd),
        off("inverse_dynamics", q=s.q, qd=s.qd),
    )
