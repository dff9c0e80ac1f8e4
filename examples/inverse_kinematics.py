"""Batched inverse kinematics by damped least squares, in a plugin of its own.

Reachable poses of an arm's flange are drawn at random, and joint angles within the limits are
sought for each, all at once. `ik_steps` is a plugin that compiles four steps into one program; here
it is called until a problem arrives, and one that gets stuck, or ends outside the limits, starts
again elsewhere.

    python examples/inverse_kinematics.py --targets 100000
    python examples/inverse_kinematics.py --compare
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import TYPE_CHECKING

import ik_steps
import numpy as np
from attrs import frozen

import grid_core
from grid_core.assets import asset_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grid_core import RobotHandle

    Array = NDArray[np.float64]

__all__ = ["ROBOT", "Solution", "load", "random_targets", "solve"]

ROBOT = asset_path("iiwa14")
CALLS = 4
"""Calls of `ik_steps` from one start."""
STARTS = 24
POSITION, ROTATION = 1e-4, 1e-3
"""How near a target counts as reached [m, rad]."""
ARRIVED = 1e-5
"""Where a descent ends [m and rad]."""


@frozen
class Solution:
    """Joint angles, and how near they come."""

    q: Array
    """Shape (B, nq) [rad]; NaN where none was found."""
    error: Array
    """Distance [m] and angle [rad] from the target, shape (B, 2)."""

    def reached(self) -> NDArray[np.bool_]:
        """Say which targets are reached."""
        return (self.error[:, 0] <= POSITION) & (self.error[:, 1] <= ROTATION)


def load(backend: str = "auto", threads: int | None = None) -> RobotHandle:
    """Load the arm with the plugin beside those that are installed."""
    grid_core.register_plugin(ik_steps, "ik")
    return grid_core.load_robot(
        ROBOT,
        algorithm_list=["ik_steps", "frame_placement"],
        backend=backend,
        dtype="float64",
        num_threads=threads,
    )


def random_targets(robot: RobotHandle, count: int, seed: int = 0) -> Array:
    """Return reachable placements of the flange, shape (count, 4, 4)."""
    placements: Array = robot.frame_placement(robot.random_configuration(seed, count))
    return placements


def solve(robot: RobotHandle, targets: Array, seed: int = 1) -> Solution:
    """Find joint angles within the limits for every target.

    Args:
        robot: the arm.
        targets: T_root_flange, shape (B, 4, 4).
        seed: of the starts.
    """
    rng = np.random.default_rng(seed)
    found = Solution(np.full((len(targets), robot.nq), np.nan), np.full((len(targets), 2), np.inf))
    left = np.arange(len(targets))
    for _ in range(STARTS):
        left = _descend(robot, targets, found, left, rng)
        if not len(left):
            break
    return found


def _descend(
    robot: RobotHandle, targets: Array, found: Solution, left: Array, rng: np.random.Generator
) -> Array:
    """Go down once from random starts; writes what arrives, and returns what is left."""
    low, high = robot.joint_pos_limits.T
    going, q, goals = left, robot.random_configuration(rng, len(left)), targets[left]
    failed = []
    for _ in range(CALLS):
        q, error = robot.ik_steps(q, goals)
        q -= 2.0 * np.pi * np.round(q / (2.0 * np.pi))  # whole turns
        arrived = (error < ARRIVED).all(axis=1)
        good = arrived & (q >= low).all(axis=1) & (q <= high).all(axis=1)
        found.q[going[good]], found.error[going[good]] = q[good], error[good]
        failed.append(going[arrived & ~good])
        going, q, goals = going[~arrived], q[~arrived], goals[~arrived]
        if not len(going):
            break
    return np.concatenate([*failed, going])


def _rate(run: Callable[[], object], count: int, repeats: int) -> float:
    """Return the median of targets a second."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return count / statistics.median(seconds)


def _compare(robot: RobotHandle, targets: Array) -> None:
    """Print what others reach on the first of the same targets, by the same measure."""
    from ik_peers import PEERS  # noqa: PLC0415 - what it imports is optional

    low, high = robot.joint_pos_limits.T
    for peer in PEERS:
        count = min(len(targets), peer.targets)
        try:
            solve_one = peer.prepare(ROBOT, robot.ee_joint_names[0])
        except ImportError as error:
            print(f"{peer.name}: not installed ({error})")
            continue
        start = time.perf_counter()
        q = np.array([solve_one(target) for target in targets[:count]])
        elapsed = time.perf_counter() - start
        error = ik_steps.distances(robot.frame_placement(q), targets[:count])
        inside = ((q >= low - 1e-9) & (q <= high + 1e-9)).all(axis=1)
        share = (Solution(q, error).reached() & inside).mean()
        print(f"{peer.name}: {share:.2%} of {count}, {count / elapsed:,.0f} targets/s")


def main() -> None:
    """Solve and print how many were reached, and how fast."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", type=int, default=100_000)
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--compare", action="store_true", help="with solvers from PyPI")
    options = parser.parse_args()
    with load(options.backend, options.threads) as robot:
        targets = random_targets(robot, options.targets)
        reached = solve(robot, targets).reached()  # compiles, too
        rate = _rate(lambda: solve(robot, targets), len(targets), options.repeat)
        print(
            f"grid on {robot.backend}: {reached.mean():.2%} of {len(targets)} targets reached to "
            f"0.1 mm and 1 mrad, {rate:,.0f} targets/s"
        )
        if options.compare:
            _compare(robot, targets)


if __name__ == "__main__":
    main()
