"""What grid-rbd returns, in Grid's order of joints, end effectors and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from grid_core.model.parameters import inertial_permutation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grid_core.model.types import Array

__all__ = ["METHODS", "Method", "Order"]


@frozen
class Order:
    """Where in grid-rbd's vectors Grid's entries are."""

    joints: tuple[int, ...]
    """For each entry of Grid's velocities, the place in its own."""
    ends: tuple[int, ...] = (0,)
    """For each of Grid's end effectors, the place among its own."""

    @property
    def same(self) -> bool:
        """Whether both have one order."""
        return all(list(x) == list(range(len(x))) for x in (self.joints, self.ends))

    def vectors(self, result: Array) -> Array:
        """(B, nv), or (B, nv, nv) on both axes."""
        rows = result[:, list(self.joints)]
        return rows if rows.ndim < 3 else rows[:, :, list(self.joints)]

    def gradient(self, result: Array) -> Array:
        """(B, nv, 2·nv): the rows, and the columns of each half."""
        nv = len(self.joints)
        columns = [*self.joints, *(nv + k for k in self.joints)]
        return result[:, list(self.joints)][:, :, columns]

    def regressor(self, result: Array) -> Array:
        """(B, nv, 10·nb): the rows as vectors, the columns by body and within each body.

        It has the inertia row by row: Ixx, Ixy, Ixz, Iyy, Iyz, Izz. A free base is its body 0.
        """
        own = np.argsort(inertial_permutation("grid"))
        back = list(self.joints)
        several = len(back) - result.shape[2] // 10
        bodies = [v - several for v in back if v >= 6] if several else back
        bodies = [0, *bodies] if several else bodies
        columns = [10 * body + k for body in bodies for k in own.tolist()]
        return result[:, back][:, :, columns]

    def poses(self, result: Array) -> Array:
        """(B, 6·nee), and derivatives of it: six rows an end effector, axes of nv behind."""
        rows = [6 * end + k for end in self.ends for k in range(6)]
        found = result[:, rows]
        for axis in range(2, found.ndim):
            found = found[(slice(None),) * axis + (list(self.joints),)]
        return found

    def targets(self, result: Array) -> Array:
        """(B, nee, 6) or (B, nee, 6, nv) of targets that the call named: only columns differ."""
        return result if result.ndim < 4 else result[..., list(self.joints)]


@frozen
class Method:
    """A method of grid-rbd that has an operation's name."""

    takes: tuple[str, ...]
    """Inputs, in order."""
    arrange: Callable[[Order, Array], Array]
    """Puts a result into Grid's order."""

    def in_order(self, results: Sequence[Array], *, order: Order) -> list[Array]:
        """Return results in Grid's order."""
        return [self.arrange(order, result) for result in results]


_MOTION, _FORCED = ("q", "qd", "qdd"), ("q", "qd", "u")
METHODS = {
    "inverse_dynamics": Method(_MOTION, Order.vectors),
    "nonlinear_effects": Method(("q", "qd"), Order.vectors),
    "generalized_gravity": Method(("q",), Order.vectors),
    "forward_dynamics": Method(_FORCED, Order.vectors),
    "aba": Method(_FORCED, Order.vectors),
    "crba": Method(("q",), Order.vectors),
    "minv": Method(("q",), Order.vectors),
    "inverse_dynamics_gradient": Method(_MOTION, Order.gradient),
    "forward_dynamics_gradient": Method(_FORCED, Order.gradient),
    "inverse_dynamics_regressor": Method(_MOTION, Order.regressor),
    "end_effector_pose": Method(("q",), Order.poses),
    "end_effector_pose_gradient": Method(("q",), Order.poses),
    "end_effector_pose_hessian": Method(("q",), Order.poses),
    "end_effector_pose_runtime": Method(("q",), Order.targets),
    "end_effector_pose_gradient_runtime": Method(("q",), Order.targets),
}
"""Its methods that have the same name and results as operations."""
