"""Base parameters: what a robot's torques can tell about its inertias at all.

Many parameters have no effect on the torques, or only together with others: the regressor's
columns are dependent, Y = Y_b G, whatever the motion. The torques then know β = G π only, a
smallest set of combinations (Gautier & Khalil 1990, Direct calculation of minimum set of inertial
parameters of serial robots). They are found numerically, from random states (Gautier 1991,
Numerical calculation of the base inertial parameters of robots).
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import cmp_using, field, frozen

from grid_core.arrays import to_array
from grid_core.errors import InputError
from grid_core.identification.blas import one_blas_thread
from grid_core.identification.factors import Columns, independent_columns, stacked_r
from grid_core.identification.regressor import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from grid_core.identification.regressor import Regressor
    from grid_core.model.types import Array

__all__ = [
    "INDEPENDENT",
    "BaseParameters",
    "Identifiability",
    "base_parameters",
    "grouped",
]

INDEPENDENT = 3e-5
"""What a column must have beside the others, of its length, to count as independent.

Rounding leaves 1e-14 of dependent ones, independent ones have some tenths; in between are a right
angle that a description rounds to 1.5708, whose 4e-6 no torque sensor sees, and what a log barely
excites.
"""
_STATES_A_BLOCK = 64


class Identifiability(enum.Enum):
    """What motions and torques can tell about one parameter."""

    ALONE = "alone"
    COMBINED = "combined"
    NONE = "none"


@frozen
class BaseParameters:
    """The combinations β = G π that determine the torques."""

    names: tuple[str, ...]
    """Names of the parameters π, by column."""
    independent: tuple[int, ...]
    """The columns whose parameters stand for a combination each: Y = Y[:, independent] G."""
    combinations: Array = field(eq=cmp_using(eq=np.array_equal), hash=False)
    """G, shape (rank, p); the independent columns of it are the identity."""
    least_kept: float
    """How independent the least independent of them is, of 1."""
    largest_dropped: float
    """How far from a combination the farthest of the other columns is, of 1."""

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return len(self.independent)

    def of(self, parameters: ArrayLike) -> Array:
        """Return β of parameters, shape (..., p) to (..., rank).

        Raises:
            InputError: an array of another shape, or of something else than real numbers.
        """
        pi = to_array("BaseParameters.of", "parameters", parameters, np.dtype(np.float64))
        if pi.shape[-1:] != (len(self.names),):
            raise InputError(
                f"BaseParameters.of: parameters must be (..., {len(self.names)}); got {pi.shape}"
            )
        beta: Array = pi @ self.combinations.T
        return beta

    def reduced(self, columns: Columns) -> BaseParameters:
        """Return the fewer combinations that are left where base parameters depend on others.

        Args:
            columns: which base parameters are independent, and how they make up the others.
        """
        return BaseParameters(
            names=self.names,
            independent=tuple(self.independent[k] for k in columns.independent),
            combinations=columns.combinations @ self.combinations,
            least_kept=columns.least_kept,
            largest_dropped=columns.largest_dropped,
        )

    @property
    def identifiability(self) -> tuple[Identifiability, ...]:
        """What can be told of each parameter, by column."""
        G = self.combinations
        shared = np.count_nonzero(G, axis=1) > 1
        affects = np.any(G != 0.0, axis=0)
        row = {column: r for r, column in enumerate(self.independent)}
        return tuple(
            Identifiability.NONE
            if not affects[j]
            else Identifiability.ALONE
            if j in row and not shared[row[j]]
            else Identifiability.COMBINED
            for j in range(len(self.names))
        )

    @property
    def groupings(self) -> tuple[str, ...]:
        """Each base parameter in words, such as ``Izz_1 + Iyy_2 - 0.3·my_3``."""
        return tuple(self._grouping(r) for r in range(self.rank))

    def _grouping(self, r: int) -> str:
        own = self.independent[r]
        text = self.names[own]
        for j in np.flatnonzero(self.combinations[r]):
            if j == own:
                continue
            factor = float(f"{self.combinations[r, j]:.6g}")
            size = "" if abs(factor) == 1.0 else f"{abs(factor):.6g}·"
            text += f" {'-' if factor < 0.0 else '+'} {size}{self.names[j]}"
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return what a JSON document can hold."""
        return {
            "rank": self.rank,
            "names": list(self.names),
            "independent": list(self.independent),
            "groupings": list(self.groupings),
            "combinations": self.combinations.tolist(),
            "identifiability": [kind.value for kind in self.identifiability],
        }


def grouped(R: Array, names: tuple[str, ...], tolerance: float) -> BaseParameters:
    """Return the base parameters that the triangular factor of some regressors shows.

    Args:
        R: factor of the stacked regressors, shape (..., p).
        names: the parameters' names, by column.
        tolerance: what is shorter than that, of a column's length, counts as dependent.
    """
    columns = independent_columns(R, tolerance)
    return BaseParameters(
        names=names,
        independent=columns.independent,
        combinations=columns.combinations,
        least_kept=columns.least_kept,
        largest_dropped=columns.largest_dropped,
    )


def base_parameters(
    robot: Regressor,
    *,
    gravity: float = -9.81,
    states: int | None = None,
    rng: np.random.Generator | int | None = 0,
) -> BaseParameters:
    """Return the base parameters of a robot, whatever its motions.

    Independent columns are preferred in the parameters' order, so that what cannot be told apart
    is gathered in the body that is nearest to the base.

    Args:
        robot: a handle with `inverse_dynamics_regressor`, in float64.
        gravity: along the world's z [m/s²]; without any, torques tell less.
        states: how many random states to look at; None is as many as there are parameters and 20.
        rng: a generator, or its seed.

    Raises:
        ArgumentError: `robot` is no handle.
        OptionError: a handle in float32.
    """
    Layout.of(robot)
    names = tuple(robot.parameter_names())
    count = len(names) + 20 if states is None else states
    blocks = _random_blocks(robot, np.random.default_rng(rng), count, gravity)
    with one_blas_thread():
        return grouped(stacked_r(blocks, len(names)), names, INDEPENDENT)


def _random_regressors(
    robot: Regressor, rng: np.random.Generator, states: int, gravity: float
) -> Array:
    """Return Y of random states, shape (states, nv, p)."""
    q = np.asarray(robot.random_configuration(rng, states))
    # A joint whose limits leave it no room moves all the same: dependence is of the mechanism,
    # and any open set of configurations shows it.
    q = robot.integrate(q, rng.uniform(-1.0, 1.0, (states, robot.nv)))
    qd, qdd = rng.normal(size=(2, states, robot.nv)) * np.array([2.0, 5.0])[:, None, None]
    Y: Array = np.asarray(
        robot.inverse_dynamics_regressor(q, qd, qdd, gravity=gravity), dtype=np.float64
    )
    return Y


def _random_blocks(
    robot: Regressor, rng: np.random.Generator, states: int, gravity: float
) -> Iterator[Array]:
    for start in range(0, states, _STATES_A_BLOCK):
        Y = _random_regressors(robot, rng, min(_STATES_A_BLOCK, states - start), gravity)
        yield Y.reshape(Y.shape[0] * Y.shape[1], Y.shape[2])
