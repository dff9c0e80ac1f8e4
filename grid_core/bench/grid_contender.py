"""Grid itself: the handle's call, with its outputs allocated before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from grid_core.bench.contender import Declined, Prepared
from grid_core.errors import OperationRefused

if TYPE_CHECKING:
    from pathlib import Path

    from grid_core.bench.case import Case
    from grid_core.model.types import Array

__all__ = ["GridContender"]


@frozen
class GridContender:
    """One backend in one precision."""

    name: str
    """Name of the backend."""
    dtype: str
    cache_dir: Path | None = None
    peer: bool = field(default=False, init=False)

    def prepare(self, case: Case) -> Prepared:
        """Load the robot with the operation compiled; bind states and outputs."""
        operation = case.algorithm.name
        try:
            handle = case.robot.load(
                algorithm_list=[operation],
                backend=self.name,
                dtype=self.dtype,
                num_threads=case.threads,
                cache_dir=self.cache_dir,
            )
            (call,) = handle.calls()
            call.require_possible()
        except OperationRefused as error:
            raise Declined(str(error)) from error
        inputs = {name: np.array(x, handle.dtype) for name, x in case.inputs.items()}
        outputs = [
            np.empty((case.batch, *port.dims(handle.model, handle.options)), handle.dtype)
            for port in case.algorithm.outputs
        ]
        out = outputs[0] if len(outputs) == 1 else tuple(outputs)

        def run() -> None:
            call(**inputs, **case.shared, out=out)

        def results() -> list[Array]:
            run()
            return [np.array(output, np.float64) for output in outputs]

        return Prepared(run=run, boundary="call", problems=case.batch, outputs=results)
