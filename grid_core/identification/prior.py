"""The description's parameters as a starting point: made consistent, and with a scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from grid_core.identification.pseudo_inertia import (
    BASIS,
    body_factors,
    from_pseudo_inertia,
    is_consistent,
    pseudo_inertia,
)

if TYPE_CHECKING:
    from grid_core.identification.regressor import Layout
    from grid_core.model.types import Array

__all__ = ["Prior", "body_directions", "nearest_consistent", "through_bodies"]

_LEAST_SHARE = 0.01
"""Least mass of a body, of the mean of those that have any; all without mass have 1 kg."""
_LEAST_RADIUS = 1e-3
"""Least radius of gyration about each plane through the centre of mass [m]."""
_GUESSED_RADIUS = 0.05
"""Radius of gyration of a body whose description gives it no extent at all [m]."""
_MARGIN = 1e-10
"""Least eigenvalue of a pseudo-inertia of unit diagonal that is worked with."""
_LEAST_TERM = 0.01
"""Least scale of a term of a joint: what makes that share of the joint's torques."""


def nearest_consistent(bodies: Array) -> Array:
    """Return the parameters of bodies near the given ones whose pseudo-inertias are definite.

    A body that is consistent already stays. Of others the mass is raised to 1 % of the mean mass
    of those that have one (1 kg if none has), the centre of mass stays, and second moments about
    it that are too small, or negative, are raised to those of a radius of gyration of 1 mm; of
    5 cm where none is positive.

    Args:
        bodies: m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each, shape (nb, 10).
    """
    result = bodies.copy()
    masses = bodies[:, 0]
    positive = masses[masses > 0.0]
    least = _LEAST_SHARE * float(np.mean(positive)) if len(positive) else 1.0
    for i in np.flatnonzero(~is_consistent(bodies, _MARGIN)):
        P = pseudo_inertia(bodies[i])
        mass = max(float(masses[i]), least)
        com = P[:3, 3] / masses[i] if masses[i] > 0.0 else np.zeros(3)
        central = P[:3, :3] - max(float(masses[i]), 0.0) * np.outer(com, com)
        moments, axes = np.linalg.eigh(central)
        radius = _LEAST_RADIUS if moments[-1] > 0.0 else _GUESSED_RADIUS
        central = axes * np.maximum(moments, mass * radius**2) @ axes.T
        P[:3, :3] = central + mass * np.outer(com, com)
        P[:3, 3] = P[3, :3] = mass * com
        P[3, 3] = mass
        result[i] = from_pseudo_inertia(P)
    return result


@frozen(eq=False)
class Prior:
    """Where parameters are expected, and how far is far.

    Each group of parameters has coordinates u in which the prior has the unit as its scale: a
    body's pseudo-inertia moves to L (1 + Σ u_k S_k) Lᵀ, and a friction parameter to x (1 + u).
    """

    layout: Layout
    bodies: Array
    """Consistent parameters of each body, shape (nb, 10)."""
    repaired: tuple[int, ...]
    """Bodies whose description is not physically consistent."""
    scale: dict[str, Array]
    """Size of each term of the joints, by name, shape (nv,); of all but offsets it is expected."""
    offset: Array
    """Expected offsets, shape (nv,), or (0,) without that term."""

    @classmethod
    def of(
        cls, layout: Layout, parameters: Array, torque: Array, speed: Array, acceleration: Array
    ) -> Prior:
        """Make a prior of the description's parameters.

        Args:
            layout: which parameter is where.
            parameters: the description's, shape (p,).
            torque: root mean square of τ of each row, shape (nv,).
            speed: that of q̇.
            acceleration: that of q̈.
        """
        bodies = parameters[: 10 * layout.nb].reshape(layout.nb, 10)
        small = _LEAST_TERM * np.where(torque > 0.0, torque, np.max(torque, initial=1e-9))
        per = {
            "viscous": np.where(speed > 0.0, speed, 1.0),
            "coulomb": np.ones(layout.nv),
            "offset": np.ones(layout.nv),
            "rotor_inertia": np.where(acceleration > 0.0, acceleration, 1.0),
        }
        scale = {
            term: np.maximum(np.abs(parameters[layout.columns(term)]), small / per[term])
            for term in layout.terms
        }
        repaired = np.flatnonzero(~is_consistent(bodies, _MARGIN))
        return cls(
            layout=layout,
            bodies=nearest_consistent(bodies),
            repaired=tuple(int(i) for i in repaired),
            scale=scale,
            offset=parameters[layout.columns("offset")],
        )

    @property
    def parameters(self) -> Array:
        """The expected parameters, all of them consistent, shape (p,)."""
        result = np.empty(self.layout.width)
        result[: 10 * self.layout.nb] = self.bodies.reshape(-1)
        for term, size in self.scale.items():
            result[self.layout.columns(term)] = self.offset if term == "offset" else size
        return result

    def moved(self, u: Array) -> Array:
        """Return the parameters at u, shape (p,), to first order and so perhaps inconsistent."""
        bodies = 10 * self.layout.nb
        factor = body_factors(self.bodies)
        steps = body_directions(factor) @ u[:bodies].reshape(-1, 10, 1)
        result = self.parameters
        result[:bodies] += steps.reshape(-1)
        for term, size in self.scale.items():
            result[self.layout.columns(term)] += size * u[self.layout.columns(term)]
        return result

    def scaled(self, columns: Array) -> Array:
        """Return what a matrix M (r, p) that acts on π does to u: M ∂π/∂u, shape (r, p)."""
        factor = body_factors(self.bodies)
        result = columns.copy()
        result[:, : 10 * self.layout.nb] = through_bodies(columns, factor)
        for term, size in self.scale.items():
            result[:, self.layout.columns(term)] *= size
        return result


def body_directions(factor: Array) -> Array:
    """Return how a body's parameters change with u: π(L S_k Lᵀ), shape (nb, 10 of π, 10 of u)."""
    moved = factor[:, None] @ BASIS @ np.swapaxes(factor, -1, -2)[:, None]
    return np.swapaxes(from_pseudo_inertia(moved), -1, -2)


def through_bodies(columns: Array, factor: Array) -> Array:
    """Return a matrix (r, ≥ 10 nb) that acts on bodies, acting on their u, shape (r, 10 nb)."""
    nb = len(factor)
    blocks = columns[:, : 10 * nb].reshape(len(columns), nb, 10)
    through: Array = np.einsum("rbp,bpu->rbu", blocks, body_directions(factor))
    return through.reshape(len(columns), 10 * nb)
