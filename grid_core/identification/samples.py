"""Measured motion and torques, checked at the edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from grid_core.arrays import to_array
from grid_core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from grid_core.identification.regressor import Regressor
    from grid_core.model.types import Array

__all__ = ["Samples", "checked", "finite", "split_at_gaps"]

_LARGEST = 1e60
"""Sums have fourth powers of speeds, which float64 holds of this and of no more."""
_GAP = 10.0
"""Times the usual step, after which a log is taken to have been interrupted."""


@frozen(eq=False)
class Samples:
    """A chunk of a log: states and the torques that were measured in them."""

    q: ArrayLike
    """Configurations, shape (B, nq)."""
    qd: ArrayLike
    """Velocities, shape (B, nv) [rad/s or m/s]."""
    qdd: ArrayLike
    """Accelerations, shape (B, nv) [rad/s² or m/s²]."""
    tau: ArrayLike
    """Measured joint forces, shape (B, nv) [N m or N]."""
    time: ArrayLike | None = None
    """Times, shape (B,) [s]; only where samples follow each other in time."""
    trajectory: ArrayLike | None = None
    """Which recording each sample is of, numbers or names, shape (B,), or one for all."""


@frozen(eq=False)
class Checked:
    """Samples as float64 arrays of one length."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    time: Array | None
    trajectory: NDArray[np.generic] | None

    def __len__(self) -> int:
        return len(self.q)

    def rows(self, which: slice | NDArray[np.generic]) -> Checked:
        """Return some of the samples."""
        return Checked(
            self.q[which],
            self.qd[which],
            self.qdd[which],
            self.tau[which],
            None if self.time is None else self.time[which],
            None if self.trajectory is None else self.trajectory[which],
        )


def checked(robot: Regressor, samples: Samples) -> Checked:
    """Return samples as arrays of the robot's widths.

    Raises:
        InputError: an array of another shape, or of another length than q, of something else than
            real numbers, or with some too large to be summed.
    """
    q = _numbers(robot, "q", samples.q)
    if q.ndim != 2 or q.shape[1] != robot.nq:
        raise _wrong(robot, "q", f"(B, nq={robot.nq})", q.shape)
    length = len(q)
    wide = {"qd": samples.qd, "qdd": samples.qdd, "tau": samples.tau}
    qd, qdd, tau = (_numbers(robot, name, value) for name, value in wide.items())
    for name, array in zip(wide, (qd, qdd, tau), strict=True):
        if array.shape != (length, robot.nv):
            raise _wrong(robot, name, f"({length}, nv={robot.nv})", array.shape)
    time = None
    if samples.time is not None:
        time = _numbers(robot, "time", samples.time)
        if time.shape != (length,):
            raise _wrong(robot, "time", f"({length},)", time.shape)
    trajectory = None
    if samples.trajectory is not None:
        trajectory = np.asarray(samples.trajectory)
        if trajectory.ndim == 0:
            trajectory = np.broadcast_to(trajectory, (length,))
        if trajectory.shape != (length,) or trajectory.dtype == object:
            raise _wrong(robot, "trajectory", f"({length},) of numbers or names", trajectory.shape)
    return Checked(q, qd, qdd, tau, time, trajectory)


def finite(samples: Checked) -> tuple[Checked, int]:
    """Return the samples without NaN or infinity, and how many had some."""
    good = np.ones(len(samples), dtype=bool)
    for array in (samples.q, samples.qd, samples.qdd, samples.tau):
        good &= np.all(np.isfinite(array), axis=1)
    if samples.time is not None:
        good &= np.isfinite(samples.time)
    missing = int(np.count_nonzero(~good))
    return (samples.rows(good) if missing else samples), missing


def split_at_gaps(time: Array) -> NDArray[np.int64]:
    """Number the uninterrupted stretches of a log, shape (B,): a step back or a long one ends one.

    Args:
        time: times in order of recording, shape (B,) [s].
    """
    steps = np.diff(time)
    forward = steps[steps > 0.0]
    usual = float(np.median(forward)) if len(forward) else 0.0
    breaks = (steps <= 0.0) | (steps > _GAP * usual)
    return np.concatenate([[0], np.cumsum(breaks)]).astype(np.int64)[: len(time)]


def _numbers(robot: Regressor, name: str, value: ArrayLike) -> Array:
    whose = f"identification of {robot.name!r}"
    array: Array = to_array(whose, name, value, np.dtype(np.float64))
    with np.errstate(invalid="ignore"):
        large = np.isfinite(array) & (np.abs(array) > _LARGEST)
    if np.any(large):
        where = tuple(np.argwhere(large)[0])
        row = f" in row {where[0]} of {len(array)}" if where else ""
        raise InputError(
            f"{whose}: {name} is {array[where]:g}{row}; numbers above {_LARGEST:g} cannot be summed"
        )
    return array


def _wrong(robot: Regressor, name: str, wanted: str, got: tuple[int, ...]) -> InputError:
    return InputError(f"identification of {robot.name!r}: {name} must be {wanted}; got {got}")
