"""Ordinary and weighted least squares of the base parameters, with their uncertainty."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from grid_core.errors import OptionError
from grid_core.wording import brief

if TYPE_CHECKING:
    from grid_core.identification.information import Quadratic
    from grid_core.model.types import Array

__all__ = ["BaseFit", "Normal", "ordinary_delta", "ordinary_fit", "row_scale", "weighted_fit"]

_RELATIVE_FLOOR = 1e-7
"""Least residual, of the torques: sums of squares have half of the digits."""
_SINGULAR = 1e-12
"""Eigenvalues of the scaled normal matrix below that, of the largest, are not inverted."""
_MOST_ITERATIONS = 100
_SETTLED = 1e-10


@frozen(eq=False)
class Normal:
    """A symmetric normal matrix A = D V Λ Vᵀ D, D its diagonal's root; what is singular left out.

    Where a direction is not in the data, δ stays zero along it: the reference's value holds.
    """

    root: Array
    """F with FᵀF = A, shape (n, rank), n as many as directions are in the data."""
    inverse: Array
    """Pseudo-inverse of A, shape (rank, rank)."""
    scaled_condition: float
    """Condition number of the regressor with columns of unit length; inf where singular."""

    @classmethod
    def of(cls, A: Array) -> Normal:
        """Decompose A."""
        diagonal = np.sqrt(np.maximum(np.diagonal(A), 0.0))
        safe = np.where(diagonal > 0.0, diagonal, 1.0)
        values, vectors = np.linalg.eigh(A / np.outer(safe, safe))
        most = float(np.max(values, initial=0.0))
        good = values > _SINGULAR * most
        kept = vectors[:, good] / safe[:, None]
        regular = bool(np.all(good)) and len(values) > 0
        return cls(
            root=np.sqrt(values[good])[:, None] * vectors[:, good].T * diagonal,
            inverse=(kept / values[good]) @ kept.T,
            scaled_condition=float(np.sqrt(most / values[0])) if regular else np.inf,
        )

    @property
    def condition(self) -> float:
        """Condition number of the regressor as it is, units and all; inf where singular."""
        values = np.linalg.svd(self.root, compute_uv=False)
        whole = 0 < len(self.inverse) == len(values)
        return float(values[0] / values[-1]) if whole and values[-1] > 0.0 else np.inf


@frozen(eq=False)
class BaseFit:
    """Base parameters that fit a log, and how well they are known."""

    delta: Array
    """β - β_ref, shape (rank,)."""
    covariance: Array
    """Covariance of β, shape (rank, rank)."""
    noise: Array
    """Standard deviation of the residual of each row of τ, shape (nv,) [N m or N]."""
    degrees_of_freedom: Array
    """Samples less the parameters that each row of τ decides, shape (nv,)."""
    weights: Array
    """What the rows were weighted with, shape (nv,)."""
    normal: Normal
    """The normal matrix."""
    log_likelihoods: tuple[float, ...]
    """After each choice of weights; never falling."""

    @property
    def standard_errors(self) -> Array:
        """Standard deviation of each base parameter, shape (rank,)."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    def confidence(self, level: float = 0.95) -> Array:
        """Return how far each base parameter is from its estimate at most, shape (rank,).

        Args:
            level: how often that is true, of a normal distribution: logs have so many samples that
                Student's is the same.

        Raises:
            OptionError: the level is not between 0 and 1.
        """
        number = isinstance(level, float | int | np.floating | np.integer)
        if not (number and 0.0 < level < 1.0):
            raise OptionError(f"confidence: level must be between 0 and 1; got {brief(level)}")
        half: Array = NormalDist().inv_cdf(0.5 * (1.0 + level)) * self.standard_errors
        return half

    def relative_deviations(self, reference: Array) -> Array:
        """Return the standard errors in per cent of β, shape (rank,); inf where β is 0.

        Args:
            reference: β_ref, shape (rank,).
        """
        beta = np.abs(reference + self.delta)
        relative: Array = np.full(beta.shape, np.inf)
        np.divide(100.0 * self.standard_errors, beta, out=relative, where=beta > 0.0)
        return relative

    def to_dict(self, reference: Array) -> dict[str, Any]:
        """Return what a JSON document can hold, with β rather than δ.

        Args:
            reference: β_ref, shape (rank,).
        """
        beta = reference + self.delta
        relative = self.relative_deviations(reference).tolist()
        return {
            "base_parameters": beta.tolist(),
            "standard_errors": self.standard_errors.tolist(),
            "confidence_95_percent": self.confidence().tolist(),
            "relative_standard_deviations_percent": [
                value if np.isfinite(value) else None for value in relative
            ],
            "noise": self.noise.tolist(),
            "degrees_of_freedom": self.degrees_of_freedom.tolist(),
        }


def row_scale(data: Quadratic) -> Array:
    """Return the root mean square torque of each row, shape (nv,), without zeros."""
    torque = np.sqrt(data.torque / data.samples)
    typical = float(np.max(torque, initial=0.0))
    return np.where(torque > 0.0, torque, typical if typical > 0.0 else 1.0)


def ordinary_delta(data: Quadratic) -> Array:
    """Return β - β_ref of the ordinary fit alone, shape (rank,)."""
    return _solve(data, np.ones(len(data.grams)))[1]


def ordinary_fit(data: Quadratic) -> BaseFit:
    """Fit β with all rows alike.

    The covariance allows for noise of another size in each row: A⁻¹ (Σ σ_j² X_jᵀ X_j) A⁻¹ (White
    1980, A heteroskedasticity-consistent covariance matrix estimator).
    """
    weights = np.ones(len(data.grams))
    normal, delta = _solve(data, weights)
    squares = data.residuals(delta)
    freedom = _degrees_of_freedom(data, weights, normal)
    noise = _unmixed_noise(data, squares, normal)
    middle, _ = data.normal(noise**2)
    return BaseFit(
        delta=delta,
        covariance=normal.inverse @ middle @ normal.inverse,
        noise=noise,
        degrees_of_freedom=freedom,
        weights=weights,
        normal=normal,
        log_likelihoods=(_log_likelihood(data, squares),),
    )


def weighted_fit(data: Quadratic) -> BaseFit:
    """Fit β with each row weighted by the variance of its residual, until both agree.

    Weights and parameters are improved in turns, which climbs the likelihood of normal noise with
    a variance of its own in each row (Gautier 1997, Dynamic identification of robots with power
    model, weights its rows so, once).
    """
    least = _least_noise(data)
    weights = 1.0 / row_scale(data) ** 2
    history: list[float] = []
    while True:
        normal, delta = _solve(data, weights)
        squares = np.maximum(data.residuals(delta), data.samples * least**2)
        history.append(_log_likelihood(data, squares))
        settled = len(history) > 1 and history[-1] - history[-2] <= _SETTLED * data.samples
        if settled or len(history) == _MOST_ITERATIONS:
            break
        weights = data.samples / squares
    freedom = _degrees_of_freedom(data, weights, normal)
    noise = np.maximum(_noise(squares, freedom), least)
    # The likelihood's variances know nothing of the parameters that were fitted; these do.
    final = Normal.of(data.normal(1.0 / noise**2)[0])
    return BaseFit(
        delta=delta,
        covariance=final.inverse,
        noise=noise,
        degrees_of_freedom=freedom,
        weights=1.0 / noise**2,
        normal=final,
        log_likelihoods=tuple(history),
    )


def _solve(data: Quadratic, weights: Array) -> tuple[Normal, Array]:
    A, b = data.normal(weights)
    normal = Normal.of(A)
    delta = normal.inverse @ b
    # One step of refinement wins back what forming the inverse lost.
    return normal, delta + normal.inverse @ (b - A @ delta)


def _degrees_of_freedom(data: Quadratic, weights: Array, normal: Normal) -> Array:
    """Return N - tr(w X_j A⁻¹ X_jᵀ) of each row: the traces add up to the rank."""
    used = [
        weight * float(np.sum(gram[:-1, :-1] * normal.inverse[np.ix_(columns, columns)]))
        for columns, gram, weight in zip(data.columns, data.grams, weights, strict=True)
    ]
    freedom: Array = np.maximum(data.samples - np.array(used), 1.0)
    return freedom


def _noise(squares: Array, freedom: Array) -> Array:
    noise: Array = np.sqrt(squares / freedom)
    return noise


def _unmixed_noise(data: Quadratic, squares: Array, normal: Normal) -> Array:
    """Return the noise of each row where a fit with wrong weights carried it into the others.

    E ‖e_j‖² = Σ_k T_jk σ_k², T_jk = tr(C_j C_k) + δ_jk (N - 2 tr C_j), C_j = A⁻¹ X_jᵀ X_j.
    """
    rank, rows = data.rank, len(data.grams)
    C = np.zeros((rows, rank, rank))
    for k, (columns, gram) in enumerate(zip(data.columns, data.grams, strict=True)):
        C[k][:, columns] = normal.inverse[:, columns] @ gram[:-1, :-1]
    mixing = C.reshape(rows, -1) @ C.transpose(0, 2, 1).reshape(rows, -1).T
    mixing += np.diag(data.samples - 2.0 * np.trace(C, axis1=1, axis2=2))
    if np.linalg.cond(mixing) > 1.0 / _SINGULAR:  # too few samples to tell rows apart
        return _noise(squares, np.full(rows, float(data.samples)))
    variances = np.linalg.solve(mixing, squares)
    noise: Array = np.sqrt(np.maximum(variances, _least_noise(data) ** 2))
    return noise


def _least_noise(data: Quadratic) -> Array:
    """Return what no residual is believed to be below: rounding, of the torques."""
    return _RELATIVE_FLOOR * row_scale(data)


def _log_likelihood(data: Quadratic, squares: Array) -> float:
    """Return the greatest log-likelihood over the rows' variances, but for a constant."""
    with np.errstate(divide="ignore"):
        return float(-0.5 * data.samples * np.sum(np.log(squares / data.samples)))
