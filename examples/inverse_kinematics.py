"""Batched inverse kinematics by damped least squares, on the public interface alone.

Reachable poses of an arm's flange are drawn at random, and joint angles within the limits are
sought for each, all at once. A problem that gets stuck starts again elsewhere.

    python examples/inverse_kinematics.py --targets 10000
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

import grid_core
from grid_core.assets import asset_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["Solution", "load", "random_targets", "solve"]

STEPS = 20
"""Iterations of one start."""
STARTS = 8
DAMPING = 0.2
"""Times the squared error: steps get bolder as it falls."""
LONGEST = 1.0
"""Longest step [rad]."""


@frozen
class Solution:
    """Joint angles, and how near they come."""

    q: Array
    """Shape (B, nq) [rad]."""
    position: Array
    """Distance from the target, shape (B,) [m]."""
    rotation: Array
    """Angle from the target, shape (B,) [rad]."""

    def reached(self, position: float = 1e-4, rotation: float = 1e-3) -> NDArray[np.bool_]:
        """Say which targets are reached to within a distance [m] and an angle [rad]."""
        return (self.position <= position) & (self.rotation <= rotation)


def load(backend: str = "auto") -> grid_core.RobotHandle:
    """Load the arm with the two operations that are needed."""
    return grid_core.load_robot(
        asset_path("iiwa14"),
        algorithm_list=["frame_placement", "frame_jacobian"],
        backend=backend,
        dtype="float64",
    )


def random_targets(robot: grid_core.RobotHandle, count: int, seed: int = 0) -> Array:
    """Return reachable placements of the flange, shape (count, 4, 4)."""
    placements: Array = robot.frame_placement(robot.random_configuration(seed, count))
    return placements


def solve(robot: grid_core.RobotHandle, targets: Array, seed: int = 1) -> Solution:
    """Find joint angles within the limits for every target.

    Args:
        robot: the arm.
        targets: T_root_flange, shape (B, 4, 4).
        seed: of the starts.
    """
    rng = np.random.default_rng(seed)
    best = np.empty((len(targets), robot.nq))
    errors = np.full((len(targets), 2), np.inf)
    for _ in range(STARTS):
        left = np.flatnonzero(~Solution(best, *errors.T).reached(1e-6, 1e-5))
        if not len(left):
            break
        start = robot.random_configuration(rng, len(left))
        q, found = _descend(robot, targets[left], start)
        better = found.sum(axis=1) < errors[left].sum(axis=1)
        best[left[better]], errors[left[better]] = q[better], found[better]
    return Solution(best, *errors.T)


def _descend(robot: grid_core.RobotHandle, targets: Array, q: Array) -> tuple[Array, Array]:
    """Iterate from one start; problems that have arrived are left out of later steps."""
    low, high = robot.joint_pos_limits.T
    errors = np.full((len(q), 2), np.inf)
    active = np.arange(len(q))
    for _ in range(STEPS):
        twist = _twist(robot.frame_placement(q[active]), targets[active])
        errors[active] = np.linalg.norm(twist.reshape(-1, 2, 3), axis=2)
        going = (errors[active, 0] > 1e-7) | (errors[active, 1] > 1e-6)
        active, twist = active[going], twist[going]
        if not len(active):
            break
        J = robot.frame_jacobian(q[active], reference_frame="local")
        Jt = J.swapaxes(1, 2)
        size = np.einsum("bi,bi->b", twist, twist)
        damped = J @ Jt + (DAMPING * size)[:, None, None] * np.eye(6) + 1e-9 * np.eye(6)
        step = (Jt @ np.linalg.solve(damped, twist[..., None]))[..., 0]
        length = np.linalg.norm(step, axis=1, keepdims=True)
        step *= np.minimum(1.0, LONGEST / np.maximum(length, 1e-12))
        q[active] = np.clip(q[active] + step, low, high)
    return q, errors


def _twist(T: Array, target: Array) -> Array:
    """[linear; angular] that leads from a frame to its target, in the frame's axes (B, 6)."""
    back = T[:, :3, :3].swapaxes(1, 2)
    shift = np.einsum("bij,bj->bi", back, target[:, :3, 3] - T[:, :3, 3])
    R = back @ target[:, :3, :3]
    skew = R - R.swapaxes(1, 2)
    axis = 0.5 * np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)
    sine = np.linalg.norm(axis, axis=1)
    angle = np.arctan2(sine, 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0))
    scale = np.where(sine > 1e-9, angle / np.maximum(sine, 1e-9), 1.0)
    return np.concatenate([shift, axis * scale[:, None]], axis=1)


def main() -> None:
    """Solve and print how many were reached, and how fast."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", type=int, default=10_000)
    parser.add_argument("--backend", default="auto")
    options = parser.parse_args()
    with load(options.backend) as robot:
        targets = random_targets(robot, options.targets)
        solve(robot, targets[:8])  # compiles
        start = time.perf_counter()
        reached = solve(robot, targets).reached()
        elapsed = time.perf_counter() - start
    print(
        f"{reached.mean():.2%} of {len(targets)} targets reached to 0.1 mm and 1 mrad, "
        f"{len(targets) / elapsed:,.0f} targets/s on {robot.backend}"
    )


if __name__ == "__main__":
    main()
