"""The backend ``reference``: every algorithm's textbook NumPy, in float64.

Slow and plain; what the compiled backends are checked against.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from grid_core.evaluation import evaluate_reference
from grid_core.hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.backend import Backend, BuildSettings, Operation

__all__ = ["ReferenceBackend", "grid_backends"]


@frozen
class ReferenceKernel:
    """One algorithm's reference for one robot."""

    operation: Operation

    def __call__(self, batch: int, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Evaluate `batch` problems into `outputs`."""
        del batch  # the arrays tell
        op = self.operation
        results = evaluate_reference(op.algorithm, op.available, op.model, op.options, inputs)
        for name, result in results.items():
            np.copyto(outputs[name], result)


@frozen
class ReferenceBackend:
    """Interprets `Algorithm.reference`; nothing is compiled or cached."""

    name: str = "reference"
    summary: str = "each algorithm's textbook NumPy in float64; slow, for checking"
    priority: int = -1
    dtypes: tuple[str, ...] = ("float64",)

    def unavailable(self) -> str | None:
        """NumPy is always there."""
        return None

    def build(self, operation: Operation, settings: BuildSettings) -> ReferenceKernel:
        """Wrap the reference; `settings` change nothing."""
        del settings
        return ReferenceKernel(operation)


@hookimpl
def grid_backends() -> list[Backend]:
    """Offer the backend."""
    return [ReferenceBackend()]
