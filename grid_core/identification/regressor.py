"""What identification asks of a robot, and how its columns are laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from attrs import frozen

from grid_core.errors import ArgumentError, OptionError
from grid_core.wording import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from grid_core.algorithm import Options
    from grid_core.gram import Gram
    from grid_core.model.types import RobotModel

__all__ = ["POSITIVE", "Layout", "Regressor", "row_names"]

POSITIVE = ("viscous", "coulomb", "rotor_inertia")
"""Terms of the joints that cannot be negative; an offset can."""


class Regressor(Protocol):
    """The part of `RobotHandle` that identification calls: τ = Y(q, q̇, q̈) π."""

    @property
    def name(self) -> str:
        """The robot's name."""

    @property
    def nq(self) -> int:
        """Entries in q."""

    @property
    def nv(self) -> int:
        """Entries in every velocity-like vector."""

    @property
    def nb(self) -> int:
        """Bodies."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the arithmetic."""

    @property
    def model(self) -> RobotModel:
        """The kinematic tree."""

    @property
    def options(self) -> Options:
        """The options that it was loaded with."""

    def random_configuration(
        self, rng: np.random.Generator | int | None = None, batch: int | None = None
    ) -> NDArray[Any]:
        """Return random configurations, shape (batch, nq)."""

    def integrate(self, q: ArrayLike, v: ArrayLike) -> NDArray[Any]:
        """Return q ⊕ v."""

    def inverse_dynamics_regressor(
        self, q: Any, qd: Any, qdd: Any, *, gravity: float = -9.81
    ) -> Any:
        """Return Y, shape (B, nv, p)."""

    def regressor_gram(
        self, q: Any, qd: Any, qdd: Any, tau: Any, *, initial: Gram | None, gravity: float = -9.81
    ) -> Gram:
        """Return the sums of squares of [Y τ] over samples, added to initial ones."""

    def parameter_names(self) -> Sequence[str]:
        """Return the parameters' names, by column of Y."""

    def parameters(self) -> Any:
        """Return π as the description has it, shape (p,)."""


@frozen
class Layout:
    """Which columns of Y are which: ten a body, then nv of each term of the joints."""

    nb: int
    nv: int
    terms: tuple[str, ...]
    """The terms, in the order of their columns."""

    @classmethod
    def of(cls, robot: Regressor) -> Layout:
        """Read the layout off a robot's options.

        Raises:
            ArgumentError: it is no robot.
            OptionError: the regressor is not in float64.
        """
        if not hasattr(robot, "parameter_names"):
            raise ArgumentError(
                "identification: robot must be a handle, as load_robot gives it; "
                f"got {brief(robot)}"
            )
        if robot.dtype != np.float64:
            raise OptionError(
                f"identification of {robot.name!r} needs float64, to tell what is dependent from "
                f'what is nearly so; load the robot with dtype="float64", not {robot.dtype}'
            )
        return cls(robot.nb, robot.nv, tuple(robot.options.regressor_terms))

    @property
    def width(self) -> int:
        """Number of columns, p."""
        return 10 * self.nb + len(self.terms) * self.nv

    def columns(self, term: str) -> slice:
        """Return the columns of a term, one a row of τ; none where the regressor has none."""
        if term not in self.terms:
            return slice(self.width, self.width)
        start = 10 * self.nb + self.terms.index(term) * self.nv
        return slice(start, start + self.nv)


def row_names(model: RobotModel) -> tuple[str, ...]:
    """Return a name for each row of τ: its joint's, with its coordinate where there are several."""
    names = [""] * model.nv
    for joint in model.joints:
        if joint.v_start is None:
            continue
        for k in range(joint.nv):
            names[joint.v_start + k] = joint.name if joint.nv == 1 else f"{joint.name}[{k}]"
    return tuple(names)
