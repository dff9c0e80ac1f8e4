"""Regressors of a model without a handle: their references, and their programs on numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.algorithm import Options
from grid_core.evaluation import evaluate_reference
from grid_plugins.regressor import plugin
from grid_plugins.regressor.plugin_derivatives import INVERSE_DYNAMICS_REGRESSOR_GRADIENT_WHOLE
from tests.support.evaluate import ALGORITHMS

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_core.model.types import Array, RobotModel
    from grid_plugins.regressor.rows import Moment

__all__ = ["ALL", "REGRESSORS", "TERMS", "evaluated", "on_numbers"]

REGRESSORS = {
    algorithm.name: algorithm
    for algorithm in (*plugin.grid_algorithms(), INVERSE_DYNAMICS_REGRESSOR_GRADIENT_WHOLE)
}
"""The family's algorithms by name."""
ALL = {**ALGORITHMS, **REGRESSORS}
TERMS = ("coulomb", "viscous", "rotor_inertia", "offset")
"""Every term of the joints, in an order of no list's own."""


def evaluated(model: RobotModel, name: str, options: Options | None = None, **inputs: Any) -> Array:
    """Return the only output of a reference."""
    chosen = Options() if options is None else options
    (result,) = evaluate_reference(ALL[name], ALL, model, chosen, inputs).values()
    return result


def on_numbers(way: Callable[[Moment], Any], moments: list[Moment]) -> Array:
    """Run a program's rows on plain numbers, one state after the other: nothing is traced."""
    return np.array([np.array(way(moment), dtype=np.float64) for moment in moments])
