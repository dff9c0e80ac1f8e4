"""A regressor's entries, those only that are not always zero where the robot knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from grid_core.identification.extra import require
from grid_core.identification.factors import independent_columns, stacked_r

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from grid_core.handle import RobotHandle
    from grid_core.model.types import Array

__all__ = ["Entries"]

PACKED = "inverse_dynamics_regressor_packed"
_EXCITED = 1e-5
"""Of the longest column's length, in SI units, what a column must have to count; and of its own,
what it must have beside the others."""


@frozen(eq=False)
class Entries:
    """Evaluates Y; row and column of each of its entries."""

    robot: RobotHandle
    packed: bool
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    parameters: Array
    """π, shape (p,)."""
    gravity: float
    """Along the world's z [m/s²]."""
    _torques: Array = field(init=False, repr=False)
    """What makes τ of entries, shape (entries, nv)."""

    def __attrs_post_init__(self) -> None:
        torques = np.zeros((len(self.rows), self.robot.nv))
        torques[np.arange(len(self.rows)), self.rows] = self.parameters[self.columns]
        object.__setattr__(self, "_torques", torques)

    @classmethod
    def of(cls, robot: RobotHandle, gravity: float = -9.81) -> Entries:
        """Return all entries, or where the handle has the packed regressor those that vary."""
        pi = np.asarray(robot.parameters(), dtype=np.float64)
        if PACKED in robot.algorithms:
            rows, columns = robot.inverse_dynamics_regressor_packed.indices()
            return cls(robot, True, rows, columns, pi, gravity)  # noqa: FBT003 - attrs' own order
        rows, columns = (x.ravel() for x in np.indices((robot.nv, len(pi))))
        return cls(robot, False, rows, columns, pi, gravity)  # noqa: FBT003

    def __call__(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the entries at states, shape (B, entries)."""
        operation: Any = getattr(
            self.robot, PACKED if self.packed else "inverse_dynamics_regressor"
        )
        return np.asarray(operation(q, qd, qdd, gravity=self.gravity)).reshape(len(q), -1)

    def torques(self, entries: Array) -> Array:
        """Return Y π, shape (B, nv)."""
        tau: Array = entries @ self._torques
        return tau

    def pull_torques(self, weights: Array) -> Array:
        """Return what weights of τ, shape (B, nv), are as weights of the entries."""
        pulled: Array = weights @ self._torques.T
        return pulled

    def chosen(self, columns: tuple[int, ...]) -> Chosen:
        """Return where some columns of Y are among the entries."""
        place = np.full(len(self.parameters), -1)
        place[list(columns)] = np.arange(len(columns))
        own = np.flatnonzero(place[self.columns] >= 0)
        return Chosen(self.robot.nv, len(columns), own, self.rows[own], place[self.columns[own]])

    def excited(self, motions: Iterable[tuple[Array, Array, Array]]) -> tuple[int, ...]:
        """Return columns that stand for all combinations which motions tell apart.

        They are those of `base_parameters`, but for what only the rounded numbers of a description
        set off from nothing: no torque that anybody could measure tells that, and it would decide
        the condition number.
        """
        width = len(self.parameters)
        every = self.chosen(tuple(range(width)))
        R = stacked_r((every.matrix(self(*x)).reshape(-1, width) for x in motions), width)
        lengths = np.linalg.norm(R, axis=0)
        R[:, lengths < _EXCITED * np.max(lengths, initial=0.0)] = 0.0
        kept = np.array(independent_columns(R, _EXCITED).independent, dtype=np.intp)
        # The longest that is left first: what comes last is small beside all others.
        (linalg,) = require("scipy.linalg")
        left, order = linalg.qr(R[:, kept], mode="r", pivoting=True)
        large = np.abs(np.diagonal(left)) > _EXCITED * np.max(lengths, initial=0.0)
        return tuple(sorted(int(column) for column in kept[order[large]]))


@frozen(eq=False)
class Chosen:
    """Some columns of Y, as matrices."""

    nv: int
    width: int
    own: NDArray[np.intp]
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]

    def matrix(self, entries: Array) -> Array:
        """Return the columns, shape (B, nv, width)."""
        W = np.zeros((len(entries), self.nv, self.width))
        W[:, self.rows, self.columns] = entries[:, self.own]
        return W

    def add(self, weights: Array, of_matrix: Array) -> None:
        """Add weights of the matrix's entries to weights of all entries."""
        weights[:, self.own] += of_matrix[:, self.rows, self.columns]
