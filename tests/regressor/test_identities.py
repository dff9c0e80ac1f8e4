"""What holds of regressors whatever the robot: Y π = τ for any π, and so do their derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from attrs import evolve

from grid_core.algorithm import Options
from grid_core.model.parameters import TERMS, parameters
from grid_core.model.types import Inertia
from tests.regressor.evaluate import evaluated
from tests.support.compare import assert_close
from tests.support.robots import HAND_MADE
from tests.support.states import random_state

if TYPE_CHECKING:
    from grid_core.model.types import Array, RobotModel

ROBOTS = ("mimic_chain", "mimic_branches", "helical", "spherical", "planar", "dissipative")
each_robot = pytest.mark.parametrize("name", ROBOTS)
each_base = pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])


def reweighed(model: RobotModel, rng: np.random.Generator) -> RobotModel:
    """The same robot with other bodies: any mass, centre of mass and inertia."""
    bodies = []
    for body in model.bodies:
        root = rng.normal(size=(3, 3))
        inertia = Inertia(rng.uniform(0.1, 5.0), rng.normal(size=3), root @ root.T)
        bodies.append(evolve(body, inertia=inertia))
    return evolve(model, bodies=tuple(bodies))


def loaded(name: str, floating: bool) -> tuple[RobotModel, RobotModel, Array]:
    """A robot, the same with random bodies, and the parameters of that."""
    model = HAND_MADE[name].load(floating_base=floating)
    other = reweighed(model, np.random.default_rng(len(name)))
    return model, other, parameters(other)


@each_robot
@each_base
def test_torques_are_linear_in_any_parameters(name: str, floating: bool) -> None:
    model, other, pi = loaded(name, floating)
    s = random_state(model, batch=3)
    motion = {"q": s.q, "qd": s.qd, "qdd": s.qdd, "gravity": -3.7}
    Y = evaluated(model, "inverse_dynamics_regressor", **motion)
    assert_close(Y @ pi, evaluated(other, "inverse_dynamics", **motion))


@each_robot
@each_base
def test_their_derivatives_are_those_of_inverse_dynamics(name: str, floating: bool) -> None:
    model, other, pi = loaded(name, floating)
    s = random_state(model, batch=3)
    motion = {"q": s.q, "qd": s.qd, "qdd": s.qdd}
    expected = evaluated(other, "inverse_dynamics_gradient", **motion)
    dY = evaluated(model, "inverse_dynamics_regressor_gradient_whole", **motion)
    assert_close(np.einsum("bvpk,p->bvk", dY, pi), expected)
    given = np.tile(pi, (3, 1))
    dtau = evaluated(model, "inverse_dynamics_regressor_gradient", **motion, pi=given)
    assert_close(dtau, expected)


@each_robot
@each_base
def test_momenta_are_linear_in_any_parameters(name: str, floating: bool) -> None:
    model, other, pi = loaded(name, floating)
    s = random_state(model, batch=3)
    P = evaluated(model, "generalized_momentum_regressor", q=s.q, qd=s.qd)
    M = evaluated(other, "crba", q=s.q)
    assert_close(P @ pi, np.einsum("bij,bj->bi", M, s.qd))
    # Twice the kinetic energy is the power of the momenta, and what energies' regressors say.
    T = evaluated(model, "kinetic_energy_regressor", q=s.q, qd=s.qd) @ pi
    np.testing.assert_allclose(2.0 * T, np.einsum("bi,bi->b", s.qd, P @ pi), rtol=1e-11)


def test_momentum_changes_by_the_force_on_a_free_robot() -> None:
    """A floating robot's momentum about the world's origin obeys Newton and Euler."""
    from grid_core.model.configuration import integrate  # noqa: PLC0415

    model = HAND_MADE["branching"].load(floating_base=True)
    s, dt, pi = random_state(model, batch=2), 1e-6, parameters(model)

    def momentum(t: float) -> Array:
        q = integrate(model, s.q, t * s.qd + 0.5 * t * t * s.qdd)
        return evaluated(model, "momentum_regressor", q=q, qd=s.qd + t * s.qdd) @ pi

    rate = (momentum(dt) - momentum(-dt)) / (2.0 * dt)
    base = evaluated(model, "inverse_dynamics", q=s.q, qd=s.qd, qdd=s.qdd, gravity=0.0)[:, :6]
    # The base's own wrench, carried to the world's origin and axes.
    T = np.array([_placement(q) for q in s.q])
    force = np.einsum("bij,bj->bi", T[:, :3, :3], base[:, :3])
    about = np.einsum("bij,bj->bi", T[:, :3, :3], base[:, 3:])
    expected = np.hstack([force, about + np.cross(T[:, :3, 3], force)])
    np.testing.assert_allclose(rate, expected, rtol=1e-6, atol=1e-6)


def _placement(q: Array) -> Array:
    from grid_core.reference.rotations import quaternion_rotation  # noqa: PLC0415

    T = np.eye(4)
    T[:3, :3], T[:3, 3] = quaternion_rotation(q[None, 3:7])[0], q[:3]
    return T


@pytest.mark.parametrize("name", ["branching", "dissipative", "mimic_chain"])
def test_accelerations_change_with_parameters_as_differences_say(name: str) -> None:
    model = HAND_MADE[name].load(floating_base=False)
    s, step = random_state(model, batch=2), 1e-6
    actual = evaluated(
        model, "forward_dynamics_parameter_gradient", q=s.q, qd=s.qd, u=s.u, f_ext=s.f_ext
    )
    pi = parameters(model)
    expected = np.empty_like(actual)
    for k in range(len(pi)):
        ends = [
            evaluated(
                _with(model, pi + sign * step * np.eye(len(pi))[k]),
                "forward_dynamics",
                q=s.q,
                qd=s.qd,
                u=s.u,
                f_ext=s.f_ext,
            )
            for sign in (1.0, -1.0)
        ]
        expected[:, :, k] = (ends[0] - ends[1]) / (2.0 * step)
    assert np.abs(actual - expected).max() < 1e-6 * np.abs(expected).max()


def _with(model: RobotModel, pi: Array) -> RobotModel:
    """The same robot with these parameters."""
    bodies = []
    for body, (m, x, y, z, xx, xy, yy, xz, yz, zz) in zip(
        model.bodies, pi.reshape(-1, 10), strict=True
    ):
        c = np.array([x, y, z]) / m
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        about = I - m * (c @ c * np.eye(3) - np.outer(c, c))
        bodies.append(evolve(body, inertia=Inertia(m, c, about)))
    return evolve(model, bodies=tuple(bodies))


@pytest.mark.parametrize("name", ["dissipative", "mimic_chain", "spherical"])
def test_friction_is_linear_in_its_own_parameters(name: str) -> None:
    """With viscous and Coulomb columns Y π has what `use_joint_dynamics` adds, mimics folded."""
    model = HAND_MADE[name].load(floating_base=False)
    s = random_state(model, batch=4)
    s.qd[0] = 0.0
    motion = {"q": s.q, "qd": s.qd, "qdd": s.qdd}
    options = Options(regressor_terms=("viscous", "coulomb"), use_joint_dynamics=True)
    pi = parameters(model, terms=options.regressor_terms)
    Y = evaluated(model, "inverse_dynamics_regressor", options, **motion)
    assert_close(Y @ pi, evaluated(model, "inverse_dynamics", options, **motion))
    expected = evaluated(model, "inverse_dynamics_gradient", options, **motion)
    dtau = evaluated(model, "inverse_dynamics_regressor_gradient", options, **motion)
    assert_close(dtau, expected)


def test_columns_of_the_terms() -> None:
    """Rates, their signs with 0 at 0, ones, and accelerations, in the order that is asked for."""
    model = HAND_MADE["dissipative"].load(floating_base=True)
    s = random_state(model, batch=2)
    s.qd[0, 3] = 0.0
    for terms in (TERMS, TERMS[::-1], TERMS[1:2]):
        options = Options(regressor_terms=terms)
        motion = {"q": s.q, "qd": s.qd, "qdd": s.qdd}
        Y = evaluated(model, "inverse_dynamics_regressor", options, **motion)
        expected = {
            "viscous": s.qd,
            "coulomb": np.sign(s.qd),
            "offset": np.ones_like(s.qd),
            "rotor_inertia": s.qdd,
        }
        blocks = np.split(Y[:, :, 10 * model.nb :], len(terms), axis=2)
        for term, block in zip(terms, blocks, strict=True):
            np.testing.assert_array_equal(block, expected[term][:, :, None] * np.eye(model.nv))
