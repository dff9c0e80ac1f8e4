"""One thing to time: a robot, an operation, a batch and the states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, field, frozen

from grid_core.testing.inputs import random_inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.algorithm import Algorithm, BenchmarkCase, Options
    from grid_core.bench.robot import Robot
    from grid_core.handle import RobotHandle
    from grid_core.model.types import Array, RobotModel

__all__ = ["Case"]


@frozen(kw_only=True)
class Case:
    """What every contender of a trial is given."""

    robot: Robot
    model: RobotModel = field(repr=False)
    options: Options = field(repr=False)
    algorithm: Algorithm = field(repr=False)
    benchmark: BenchmarkCase
    batch: int
    threads: int
    inputs: Mapping[str, Array] = field(repr=False)
    """float64 arrays of shape (drawn, *port.shape) by name, in the order of the ports.

    Numbers for the whole batch, such as gravity, are left at their defaults.
    """
    shared: Mapping[str, Any] = field(factory=dict, repr=False)
    """Arrays for the whole batch by name, as the benchmark draws them."""

    @property
    def drawn(self) -> int:
        """States in `inputs`: the batch, or fewer, which then repeat."""
        return min([self.batch, *(len(array) for array in self.inputs.values())])

    @classmethod
    def draw(
        cls,
        robot: Robot,
        handle: RobotHandle,
        algorithm: Algorithm,
        benchmark: BenchmarkCase,
        *,
        batch: int,
        threads: int,
        seed: int = 0,
        drawn: int | None = None,
    ) -> Case:
        """Make a case with random states, the same for the same arguments; `drawn` at most."""
        inputs = random_inputs(
            algorithm,
            handle.model,
            handle.options,
            batch=batch if drawn is None else min(batch, drawn),
            present=benchmark.inputs,
            seed=seed,
        )
        draw = benchmark.shared
        rng = np.random.default_rng(seed)
        return cls(
            robot=robot,
            model=handle.model,
            options=handle.options,
            algorithm=algorithm,
            benchmark=benchmark,
            batch=batch,
            threads=threads,
            inputs={name: x for name, x in inputs.items() if isinstance(x, np.ndarray)},
            shared={} if draw is None else draw(handle.model, handle.options, rng),
        )

    def first(self, batch: int) -> Case:
        """Return the case of the first `batch` problems; only those that were drawn."""
        short = {name: array[:batch] for name, array in self.inputs.items()}
        return evolve(self, batch=min(batch, self.drawn), inputs=short)
