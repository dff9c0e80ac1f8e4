"""Logs of robots that differ from their descriptions, with torques from Pinocchio."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin
from attrs import frozen

import grid_core
from grid_core.assets import asset_path
from grid_core.errors import ModelWarning
from grid_core.identification import from_log_cholesky, log_cholesky
from grid_core.identification.prior import nearest_consistent
from tests.support.pinocchio_oracle import PinocchioOracle
from tests.support.robots import EXAMPLES, HAND_MADE

if TYPE_CHECKING:
    from grid_core.handle import RobotHandle
    from grid_core.model.types import Array

__all__ = ["TERMS", "Log", "handle", "perturbed", "random_states", "simulate", "smooth_states"]

TERMS = ("viscous", "coulomb", "offset", "rotor_inertia")


@functools.cache
def handle(name: str, *, floating_base: bool = False, terms: tuple[str, ...] = ()) -> RobotHandle:
    """Return a robot's handle, which the tests of a process share."""
    source: Any
    if name in HAND_MADE:
        source = HAND_MADE[name].text
    else:
        source = EXAMPLES[name].path if name in EXAMPLES else asset_path(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return grid_core.load_robot(
            source,
            dtype="float64",
            backend="reference",
            algorithm_list=["inverse_dynamics_regressor", "regressor_gram"],
            floating_base=floating_base,
            regressor_terms=terms,
        )


@frozen(eq=False)
class Log:
    """Motion, torques, and what made them."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    noise: Array
    """Standard deviation of each row's noise, shape (nv,)."""
    true: Array
    """The parameters that the torques came from, shape (p,)."""
    trajectory: Array

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array]:
        return self.q, self.qd, self.qdd, self.tau


def perturbed(robot: RobotHandle, rng: np.random.Generator, by: float = 0.2) -> Array:
    """Return parameters of consistent bodies near the description's, and some friction."""
    pi = robot.parameters()
    bodies = nearest_consistent(pi[: 10 * robot.nb].reshape(-1, 10))
    theta = log_cholesky(bodies)
    size = np.where(np.arange(10) < 7, by, 0.1 * by)  # metres, for the centre of mass
    pi[: 10 * robot.nb] = from_log_cholesky(theta + size * rng.normal(size=theta.shape)).ravel()
    for k in range(len(robot.options.regressor_terms)):
        start = 10 * robot.nb + k * robot.nv
        pi[start : start + robot.nv] = rng.uniform(0.1, 0.6, robot.nv)
    return pi


def random_states(
    robot: RobotHandle, rng: np.random.Generator, batch: int
) -> tuple[Array, Array, Array]:
    """Return states that do not follow each other."""
    q = robot.integrate(
        robot.random_configuration(rng, batch), rng.uniform(-0.5, 0.5, (batch, robot.nv))
    )
    qd, qdd = rng.normal(size=(2, batch, robot.nv)) * np.array([1.5, 4.0])[:, None, None]
    return q, qd, qdd


def smooth_states(
    robot: RobotHandle, rng: np.random.Generator, batch: int, dt: float = 2e-3
) -> tuple[Array, Array, Array]:
    """Return a trajectory of sums of sines, for a robot with nq = nv."""
    time = dt * np.arange(batch)[:, None, None]
    w = 2.0 * np.pi * 0.3 * np.arange(1, 5)[:, None]
    a, phase = 0.35 * rng.normal(size=(4, robot.nv)), rng.uniform(0.0, 6.0, (4, robot.nv))
    angle = w * time + phase
    q = np.sum(a * np.sin(angle), axis=1)
    qd = np.sum(a * w * np.cos(angle), axis=1)
    return q, qd, np.sum(-a * w**2 * np.sin(angle), axis=1)


def simulate(
    robot: RobotHandle,
    true: Array,
    states: list[tuple[Array, Array, Array]],
    rng: np.random.Generator,
    noise: float | Array = 0.01,
    gravity: float = -9.81,
) -> Log:
    """Let Pinocchio say the torques, and add friction and noise.

    Args:
        robot: whose tree and terms.
        true: its real parameters.
        states: q, qd and qdd of each trajectory.
        rng: of the noise.
        noise: of each row's root mean square torque.
        gravity: along the world's z.
    """
    q, qd, qdd = (np.concatenate(parts) for parts in zip(*states, strict=True))
    oracle = PinocchioOracle.from_records(robot.model)
    oracle.pin.gravity.linear = np.array([0.0, 0.0, gravity])
    for i in range(robot.nb):
        body = true[10 * i : 10 * i + 10]
        oracle.pin.inertias[i + 1] = pin.Inertia.FromDynamicParameters(body)
    tau = oracle.inverse_dynamics(q, qd, qdd)
    of = {"viscous": qd, "coulomb": np.sign(qd), "offset": np.ones_like(qd), "rotor_inertia": qdd}
    for k, term in enumerate(robot.options.regressor_terms):
        start = 10 * robot.nb + k * robot.nv
        tau += of[term] * true[start : start + robot.nv]
    sigma = noise * np.sqrt(np.mean(tau**2, axis=0))
    trajectory = np.repeat(np.arange(len(states)), [len(s[0]) for s in states])
    return Log(q, qd, qdd, tau + sigma * rng.normal(size=tau.shape), sigma, true, trajectory)
