"""What identification found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from grid_core.identification.pseudo_inertia import is_consistent

if TYPE_CHECKING:
    from grid_core.identification.base_parameters import BaseParameters
    from grid_core.identification.least_squares import BaseFit
    from grid_core.identification.validation import Validation
    from grid_core.model.types import Array

__all__ = ["METHODS", "IdentificationResult"]

METHODS = ("ols", "wls", "consistent")
"""Ways to fit: ordinary and weighted least squares, and weighted with consistent bodies."""


@frozen(eq=False)
class IdentificationResult:
    """A robot's parameters from a log, how well they are known and how well they predict.

    Forces are in N m, or N for a joint that slides; a row is an entry of τ.
    """

    robot: str
    method: str
    """The fit that `parameters` is of, one of `METHODS`."""
    parameter_names: tuple[str, ...]
    """By column of the regressor."""
    body_names: tuple[str, ...]
    row_names: tuple[str, ...]
    """The joint, and where it has several the coordinate, of each row of τ."""
    initial: Array
    """The description's own parameters, shape (p,)."""
    estimates: dict[str, Array]
    """Parameters π of each method, shape (p,). Of `ols` and `wls`, which know base parameters only,
    those that are nearest to the description; their bodies may be impossible ones."""
    standard_deviations: Array
    """Of the consistent parameters, given log and description, shape (p,)."""
    structure: BaseParameters
    """The base parameters of the robot, whatever its motion."""
    base: BaseParameters
    """Those that this log determines: the same, or fewer where it does not excite some."""
    fits: dict[str, BaseFit]
    """``ols`` and ``wls``, by base parameters."""
    condition_number: float
    """Of the weighted regressor of the base parameters."""
    scaled_condition_number: float
    """The same with columns of unit length: what the motion, not the units, is to blame for."""
    prior_weight: float
    """λ, what the description weighed in the consistent fit."""
    converged: bool
    """Whether the consistent fit is at its minimum."""
    rms: dict[str, Array]
    """Root mean square error of ``description`` and each method on the whole log, shape (nv,)."""
    validation: Validation | None
    """Errors on trajectories that were held out; None if they were too few, or not wanted."""
    noise: Array
    """Standard deviation of what no parameters explain: the weighted fit's, shape (nv,)."""
    white_noise: Array | None
    """Standard deviation of what is not smooth in the measured τ, from its second differences,
    shape (nv,); None without times. Meaningful if the log was not filtered."""
    samples: int
    excluded: int
    """Samples that were left out for a NaN or an infinity."""
    trajectories: int
    repaired: tuple[int, ...]
    """Bodies of the description that are not physically consistent; the prior's are."""
    warnings: tuple[str, ...]

    @property
    def parameters(self) -> Array:
        """The identified parameters π, shape (p,)."""
        return self.estimates[self.method]

    @property
    def bodies(self) -> Array:
        """The identified m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each body, shape (nb, 10)."""
        nb = len(self.body_names)
        return self.parameters[: 10 * nb].reshape(nb, 10)

    @property
    def base_values(self) -> Array:
        """The weighted fit's base parameters β, shape (rank,)."""
        return self.base.of(self.initial) + self.fits["wls"].delta

    @property
    def inconsistent(self) -> tuple[int, ...]:
        """Bodies of the identified parameters that no distribution of mass can have."""
        return tuple(int(i) for i in np.flatnonzero(~is_consistent(self.bodies)))

    def to_dict(self) -> dict[str, Any]:
        """Return what a JSON document can hold; infinite condition numbers are None."""
        reference = self.base.of(self.initial)
        return {
            "robot": self.robot,
            "method": self.method,
            "parameter_names": list(self.parameter_names),
            "body_names": list(self.body_names),
            "row_names": list(self.row_names),
            "initial": self.initial.tolist(),
            "parameters": self.parameters.tolist(),
            "estimates": {name: values.tolist() for name, values in self.estimates.items()},
            "standard_deviations": self.standard_deviations.tolist(),
            "structure": self.structure.to_dict(),
            "base": self.base.to_dict(),
            "fits": {name: fit.to_dict(reference) for name, fit in self.fits.items()},
            "condition_number": _finite(self.condition_number),
            "scaled_condition_number": _finite(self.scaled_condition_number),
            "prior_weight": self.prior_weight,
            "converged": self.converged,
            "rms": {name: values.tolist() for name, values in self.rms.items()},
            "validation": None if self.validation is None else self.validation.to_dict(),
            "noise": self.noise.tolist(),
            "white_noise": None if self.white_noise is None else self.white_noise.tolist(),
            "samples": self.samples,
            "excluded": self.excluded,
            "trajectories": self.trajectories,
            "repaired": [self.body_names[i] for i in self.repaired],
            "inconsistent": [self.body_names[i] for i in self.inconsistent],
            "warnings": list(self.warnings),
        }


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
