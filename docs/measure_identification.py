"""Identify an arm from a made-up log of many samples: ``python docs/measure_identification.py``.

Prints the time, without what making the log took, and the greatest memory of the process.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from typing import TYPE_CHECKING

import numpy as np

import grid_core
from grid_core.assets import asset_path
from grid_core.identification import Samples, from_log_cholesky, identify_stream, log_cholesky

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grid_core.handle import RobotHandle
    from grid_core.model.types import Array

TERMS = ("viscous", "coulomb", "offset", "rotor_inertia")
CHUNK = 50_000
STEP = 1e-3


class MadeUpLog:
    """Sums of sines, their torques with 1 % of noise, and how long it took to make them."""

    def __init__(self, robot: RobotHandle, samples: int) -> None:
        self.robot, self.samples = robot, samples
        self.rng = np.random.default_rng(0)
        self.seconds = 0.0
        self.true = robot.parameters()
        bodies = log_cholesky(self.true[: 10 * robot.nb].reshape(-1, 10))
        moved = bodies + 0.05 * self.rng.normal(size=bodies.shape)
        self.true[: 10 * robot.nb] = from_log_cholesky(moved).ravel()
        self.true[10 * robot.nb :] = self.rng.uniform(0.1, 0.6, 4 * robot.nv)

    def chunks(self) -> Iterator[Samples]:
        """Make the log, a recording of 50 s at a time."""
        for k, start in enumerate(range(0, self.samples, CHUNK)):
            before = time.perf_counter()
            samples = self._recording(k, min(CHUNK, self.samples - start))
            self.seconds += time.perf_counter() - before
            yield samples

    def _recording(self, k: int, batch: int) -> Samples:
        t = STEP * np.arange(batch)
        q, qd, qdd = np.zeros((3, batch, self.robot.nv))
        for j in range(self.robot.nv):
            for w in self.rng.uniform(0.5, 6.0, 3):
                amplitude, phase = self.rng.normal(scale=1.5 / w), self.rng.uniform(0.0, 6.0)
                sine, cosine = np.sin(w * t + phase), np.cos(w * t + phase)
                q[:, j] += amplitude * sine
                qd[:, j] += amplitude * w * cosine
                qdd[:, j] -= amplitude * w**2 * sine
        tau = self._torques(q, qd, qdd)
        noise = 0.01 * np.sqrt(np.mean(tau**2, axis=0))
        tau += noise * self.rng.standard_normal(tau.shape)
        return Samples(q, qd, qdd, tau, time=t, trajectory=k)

    def _torques(self, q: Array, qd: Array, qdd: Array) -> Array:
        tau = np.empty_like(q)
        for part in np.array_split(np.arange(len(q)), max(1, len(q) // 5000)):
            Y = self.robot.inverse_dynamics_regressor(q[part], qd[part], qdd[part])
            tau[part] = Y @ self.true
        return tau


def main() -> None:
    """Measure once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--robot", default="iiwa14")
    arguments = parser.parse_args()
    robot = grid_core.load_robot(
        asset_path(arguments.robot),
        dtype="float64",
        algorithm_list=["inverse_dynamics_regressor", "regressor_gram"],
        regressor_terms=TERMS,
    )
    log = MadeUpLog(robot, arguments.samples)
    start = time.perf_counter()
    result = identify_stream(robot, log.chunks())
    seconds = time.perf_counter() - start - log.seconds
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    held_out = result.validation.rms["consistent"] if result.validation else result.noise
    error = result.base_values - result.base.of(log.true)
    distance = error @ np.linalg.solve(result.fits["wls"].covariance, error)
    sys.stdout.write(
        f"{result.samples:,} samples of {robot.name}, {result.base.rank} base parameters, "
        f"{robot.backend}\n"
        f"identified in {seconds:.1f} s ({log.seconds:.1f} s more to make the log)\n"
        f"peak memory {peak / 2**30:.2f} GiB\n"
        f"held-out error {np.max(held_out / result.noise):.3f} times the noise, at worst\n"
        f"χ² of the base parameters {distance:.1f} of {result.base.rank}\n"
    )


if __name__ == "__main__":
    main()
