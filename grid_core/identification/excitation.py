"""Exciting trajectories: motions from which parameters can be told well.

A periodic motion, each joint a Fourier series (Swevers, Ganseman, Tükel, de Schutter & van
Brussel 1997, Optimal robot excitation and identification), chosen within the robot's limits such
that the condition number of the base regressor is small (Gautier & Khalil 1992, Exciting
trajectories for the identification of base inertial parameters of robots).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import cmp_using, field, frozen

from grid_core.errors import ArgumentError, OperationRefused, OptionError
from grid_core.identification.blas import one_blas_thread
from grid_core.identification.excitation_bounds import bounds
from grid_core.identification.excitation_entries import Entries
from grid_core.identification.excitation_search import STAGES, Search, Shapes
from grid_core.identification.options import is_count, is_finite
from grid_core.wording import brief

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from grid_core.handle import RobotHandle
    from grid_core.identification.excitation_series import FourierSeries
    from grid_core.model.types import Array

__all__ = ["Excitation", "excite"]

_RANDOM = 100
"""Random motions that the search starts from the best of, and is compared with."""
_COARSE, _FINE = 10, 50
"""Instants for each harmonic, in the search and in the verdict."""
_TRIED = 20
"""Random motions that tell which base parameters can be excited."""
_SHRINKS = tuple(0.97**k for k in range(1, 100))

_by_value = cmp_using(eq=np.array_equal)


@frozen
class Excitation:
    """A trajectory that excites the parameters, one period of it."""

    robot: str
    joint_names: tuple[str, ...]
    """The joints that move, in the order of q."""
    series: FourierSeries
    """The motion at any time; it is periodic."""
    time: Array = field(eq=_by_value, hash=False, repr=False)
    """Sampling times, the period's end among them, shape (n,) [s]."""
    q: Array = field(eq=_by_value, hash=False, repr=False)
    """Positions, shape (n, nv) [rad or m]."""
    qd: Array = field(eq=_by_value, hash=False, repr=False)
    """Velocities, shape (n, nv) [rad/s or m/s]."""
    qdd: Array = field(eq=_by_value, hash=False, repr=False)
    """Accelerations, shape (n, nv) [rad/s² or m/s²]."""
    tau: Array = field(eq=_by_value, hash=False, repr=False)
    """Joint forces that the description predicts, shape (n, nv) [N m or N]."""
    condition: float
    """σ_max / σ_min of the base regressor, stacked over a period, in SI units."""
    random_condition: float
    """The least of it among 100 random Fourier series within the limits; infinite without one."""
    stretched_condition: float
    """The same, each joint of them moving as far as the limits allow."""
    rank: int
    """Base parameters that motions within the limits can tell apart."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trajectory as an ``.npz``.

        Arrays ``t``, ``q``, ``qd``, ``qdd`` and ``joint_names``, as a log has them; the torques
        are called ``tau_predicted``, for nobody measured them. The series is ``period``,
        ``offset``, ``cosines`` and ``sines``.

        Raises:
            OptionError: the file cannot be written.
        """
        try:
            with Path(path).open("wb") as file:
                np.savez(
                    file,
                    t=self.time,
                    q=self.q,
                    qd=self.qd,
                    qdd=self.qdd,
                    tau_predicted=self.tau,
                    joint_names=np.array(self.joint_names),
                    period=np.float64(self.series.period),
                    offset=self.series.offset,
                    cosines=self.series.cosines,
                    sines=self.series.sines,
                    condition=np.float64(self.condition),
                )
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OptionError(f"{path} cannot be written: {error.strerror or error}") from error

    def to_dict(self) -> dict[str, Any]:
        """Return what a JSON document can hold, without the samples."""
        series = self.series
        return {
            "robot": self.robot,
            "joints": list(self.joint_names),
            "period_s": series.period,
            "harmonics": len(series.sines),
            "samples": len(self.time),
            "condition": self.condition,
            "random_condition": self.random_condition,
            "stretched_condition": self.stretched_condition,
            "base_parameters": self.rank,
            "offset": series.offset.tolist(),
            "cosines": series.cosines.tolist(),
            "sines": series.sines.tolist(),
            "largest": {
                "velocity": np.abs(self.qd).max(axis=0).tolist(),
                "acceleration": np.abs(self.qdd).max(axis=0).tolist(),
                "effort": np.abs(self.tau).max(axis=0).tolist(),
            },
        }


def excite(
    robot: RobotHandle,
    *,
    period: float = 10.0,
    harmonics: int = 10,
    rate: float = 1000.0,
    margin: float = 0.05,
    acceleration: float | None = None,
    gravity: float = -9.81,
    starts: int = 2,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Excitation:
    """Find an exciting trajectory within a robot's limits.

    The condition number is that of W_b, the base regressor at equally spaced instants of a period
    stacked on each other, in SI units and without any scaling of rows or columns. It bounds how
    much noise in the torques grows in the base parameters.

    Args:
        robot: a fixed-base handle in float64 whose joints have one coordinate each. Columns of
            its ``regressor_terms`` count as well. If it has `inverse_dynamics_regressor_packed`,
            robots of many joints take a fraction of the time.
        period: after which the motion repeats [s].
        harmonics: sines and cosines of each joint; the highest frequency is harmonics / period.
        rate: samples a second of the result [Hz].
        margin: which part of each limit of position, velocity and effort is left free.
        acceleration: no coordinate's exceeds it [rad/s² or m/s²]; None: no such limit, a URDF has
            none.
        gravity: along the world's z [m/s²].
        starts: how many of the best random motions are improved.
        seed: of the random motions.
        progress: told which part is done, of 1.

    Raises:
        OperationRefused: the base floats, a joint has several coordinates, or no motion was found
            whose torques keep to their limits.
        ArgumentError: `robot` is no handle.
        OptionError: an option of a value that it cannot have, or SciPy is not installed.
    """
    with one_blas_thread():
        return _excite(
            robot,
            period=period,
            harmonics=harmonics,
            rate=rate,
            margin=margin,
            acceleration=acceleration,
            gravity=gravity,
            starts=starts,
            seed=seed,
            progress=progress,
        )


def _excite(
    robot: RobotHandle,
    *,
    period: float,
    harmonics: int,
    rate: float,
    margin: float,
    acceleration: float | None,
    gravity: float,
    starts: int,
    seed: int,
    progress: Callable[[float], None] | None,
) -> Excitation:
    _check(robot, period=period, harmonics=harmonics, rate=rate, starts=starts)
    if not is_count(seed, 0):
        raise OptionError(f"seed must be an integer from 0 on; got {brief(seed)}")
    if not is_finite(gravity):
        raise OptionError(f"gravity must be finite; got {brief(gravity)}")
    limits = bounds(robot.model, margin=margin, acceleration=acceleration)
    rng = np.random.default_rng(seed)
    coarse, fine = (
        Shapes(period, harmonics, each * max(harmonics, 10), limits) for each in (_COARSE, _FINE)
    )
    entries = Entries.of(robot, gravity)
    tried = (coarse.motion(coarse.random(rng, stretched=True)) for _ in range(_TRIED))
    columns = entries.excited(tried)
    if not columns:
        raise OperationRefused(f"an exciting trajectory of {robot.name!r}: nothing can be excited")
    search, verdict = (Search(entries, columns, shapes) for shapes in (coarse, fine))
    usual = _best(verdict, [fine.random(rng, stretched=False) for _ in range(_RANDOM)])
    stretched = _best(verdict, [fine.random(rng, stretched=True) for _ in range(_RANDOM)])
    done = 0

    def told() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done / (starts * len(STAGES)))

    improved = _best(verdict, [search.improve(X, told=told) for _, _, X in stretched[:starts]])
    condition, series, _ = min(improved[0], stretched[0], usual[0], key=lambda one: one[0])
    if series is None:
        raise OperationRefused(
            f"an exciting trajectory of {robot.name!r}: no motion was found whose torques keep to "
            "the effort limits; they may not hold the robot against gravity"
        )
    conditions = (condition, usual[0][0], stretched[0][0])
    return _result(entries, series, rate, conditions, len(columns))


def _best(
    search: Search, candidates: list[Array]
) -> list[tuple[float, FourierSeries | None, Array]]:
    """Return condition number, series and variables of motions, the best first."""
    return sorted(((*_judge(search, X), X) for X in candidates), key=lambda one: one[0])


def _judge(search: Search, X: Array) -> tuple[float, FourierSeries | None]:
    """Return a motion's condition number and series, shrunk until its torques are allowed."""
    for shrink in (1.0, *_SHRINKS):
        series = search.shapes.series(X, shrink=shrink)
        condition, efforts = search.judge(*series.at(search.shapes.time))
        if np.all(efforts <= 1.0):
            return condition, series
    return np.inf, None


def _check(robot: RobotHandle, *, period: float, harmonics: int, rate: float, starts: int) -> None:
    if not hasattr(robot, "model"):
        raise ArgumentError(
            f"excite: robot must be a handle, as load_robot gives it; got {brief(robot)}"
        )
    for name, value in (("period", period), ("rate", rate)):
        if not (is_finite(value) and value > 0.0):
            raise OptionError(f"{name} must be above 0; got {brief(value)}")
    if not is_count(harmonics, 3):
        raise OptionError(
            f"harmonics must be at least 3, or nothing is left to choose; got {brief(harmonics)}"
        )
    if rate < 2.0 * harmonics / period:
        raise OptionError(
            f"rate must be above {2.0 * harmonics / period:g} Hz, twice the highest frequency; got "
            f"{rate:g} Hz"
        )
    if not is_count(starts, 1):
        raise OptionError(f"starts must be at least 1; got {brief(starts)}")
    if robot.dtype != np.float64:
        raise OptionError(
            f"an exciting trajectory is looked for in float64, and {robot.name!r} was loaded as "
            f"{robot.dtype}: load it with dtype='float64'"
        )


def _result(
    entries: Entries,
    series: FourierSeries,
    rate: float,
    conditions: tuple[float, float, float],
    rank: int,
) -> Excitation:
    # The last sample is the period's end, at rest, also where the rate does not divide it.
    time = np.linspace(0.0, series.period, round(series.period * rate) + 1)
    q, qd, qdd = series.at(time)
    robot = entries.robot
    names = tuple(joint.name for joint in robot.model.joints if joint.v_start is not None)
    return Excitation(
        robot=robot.name,
        joint_names=names,
        series=series,
        time=time,
        q=q,
        qd=qd,
        qdd=qdd,
        tau=entries.torques(entries(q, qd, qdd)),
        condition=conditions[0],
        random_condition=conditions[1],
        stretched_condition=conditions[2],
        rank=rank,
    )
