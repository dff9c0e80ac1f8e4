"""Evaluate reference implementations without a handle or a plugin manager."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grid_core.algorithm import Algorithm, Options
from grid_core.evaluation import evaluate_reference, refusal
from grid_plugins.eepose import plugin as eepose
from grid_plugins.fd import plugin as fd
from grid_plugins.id import plugin as id_

if TYPE_CHECKING:
    from grid_core.model.types import Array, RobotModel

__all__ = ["ALGORITHMS", "Reference"]

ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for module in (id_, fd, eepose)
    for algorithm in module.grid_algorithms()
}
"""Our own algorithms under their standard names."""


class Reference:
    """The references of one model: ``Reference(model)("crba", q=q)`` is M, shape (B, nv, nv)."""

    def __init__(self, model: RobotModel, **options: Any) -> None:
        self.model = model
        self.options = Options(**options)

    def __call__(self, name: str, **inputs: Array | float | None) -> Array:
        """Return the operation's only output; optional inputs may be None or absent."""
        (result,) = evaluate_reference(
            ALGORITHMS[name], ALGORITHMS, self.model, self.options, inputs
        ).values()
        return result

    def refuse(self, name: str) -> str | None:
        """Return why the model cannot have the operation, or None."""
        return refusal(ALGORITHMS[name], ALGORITHMS, self.model, self.options)
