"""The consistent fit's problem: a least-squares term over definite matrices and positive numbers.

Its parameters π are the bodies', whose pseudo-inertias P must be definite, positive ones x and
free ones f. Steps are taken in coordinates u about a point: P = R (Λ + Σ u_k S_k) Rᵀ for some R,
with S_k the orthonormal `BASIS`, x = w (l + u), and f moved by a scale times u.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from grid_core.identification.prior import through_bodies
from grid_core.identification.pseudo_inertia import BASIS, body_factors, from_pseudo_inertia
from grid_core.identification.regressor import POSITIVE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grid_core.identification.prior import Prior
    from grid_core.model.types import Array

__all__ = ["ConeProgram", "Point", "coordinates", "matrices", "transposed"]


def transposed(matrices: Array) -> Array:
    """Return the transpose of each matrix."""
    return np.swapaxes(matrices, -1, -2)


def coordinates(symmetric: Array) -> Array:
    """Return the coordinates of symmetric matrices in `BASIS`, shape (nb, 4, 4) to (10 nb,)."""
    vector: Array = np.einsum("bij,kij->bk", symmetric, BASIS).reshape(-1)
    return vector


def matrices(coordinates: Array) -> Array:
    """Return the symmetric matrices of coordinates, shape (10 nb,) to (nb, 4, 4)."""
    symmetric: Array = np.einsum("bk,kij->bij", coordinates.reshape(-1, 10), BASIS)
    return symmetric


@frozen(eq=False)
class Point:
    """Parameters strictly inside: the bodies' triangular factors and the joints' terms."""

    factors: Array
    """L of each body, P = L Lᵀ, shape (nb, 4, 4)."""
    positive: Array
    """x: the terms that are positive, shape (n,)."""
    free: Array
    """f: offsets, shape (nv,), or (0,)."""


@frozen(eq=False)
class ConeProgram:
    """½ ‖M π - z‖² over consistent parameters, and the prior."""

    M: Array
    """Shape (n, p), n as many as directions are in the data."""
    target: Array
    """z, shape (n,)."""
    prior: Point
    free_scale: Array
    """Size of the free parameters, shape of f."""
    positive: NDArray[np.intp]
    """Columns of x."""
    free: NDArray[np.intp]
    """Columns of f."""

    @classmethod
    def of(cls, M: Array, target: Array, prior: Prior) -> ConeProgram:
        """State the problem with the description as the prior."""
        layout = prior.layout
        terms = [term for term in layout.terms if term in POSITIVE]
        columns = np.arange(layout.width)
        return cls(
            M=M,
            target=target,
            prior=Point(
                body_factors(prior.bodies),
                np.concatenate([np.zeros(0), *(prior.scale[term] for term in terms)]),
                prior.offset,
            ),
            free_scale=prior.scale.get("offset", np.zeros(0)),
            positive=np.concatenate(
                [columns[:0], *(columns[layout.columns(term)] for term in terms)]
            ),
            free=columns[layout.columns("offset")],
        )

    @property
    def bodies(self) -> slice:
        """Columns of the bodies."""
        return slice(0, 10 * len(self.prior.factors))

    def parameters(self, point: Point) -> Array:
        """Return π, shape (p,)."""
        pi = np.empty(self.M.shape[1])
        pi[self.bodies] = from_pseudo_inertia(point.factors @ transposed(point.factors)).reshape(-1)
        pi[self.positive] = point.positive
        pi[self.free] = point.free
        return pi

    def residual(self, point: Point) -> Array:
        """Return M π - z, shape (rank,)."""
        return self.M @ self.parameters(point) - self.target

    def through(self, factors: Array, positive: Array, free: Array) -> Array:
        """Return M ∂π/∂u, shape (rank, p), for R, w and the free parameters' scale."""
        scaled = self.M.copy()
        scaled[:, self.bodies] = through_bodies(self.M, factors)
        scaled[:, self.positive] *= positive
        scaled[:, self.free] *= free
        return scaled

    def packed(self, bodies: Array, positive: Array, free: Array) -> Array:
        """Return a vector by column, shape (p,), of symmetric matrices and the terms' numbers."""
        vector = np.empty(self.M.shape[1])
        vector[self.bodies] = coordinates(bodies)
        vector[self.positive] = positive
        vector[self.free] = free
        return vector

    def split(self, vector: Array) -> tuple[Array, Array, Array]:
        """Return the symmetric matrices, and the terms' numbers, of a vector by column."""
        return matrices(vector[self.bodies]), vector[self.positive], vector[self.free]
