"""Inputs for any algorithm, made from its ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.model.configuration import random_configuration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grid_core.algorithm import Algorithm, Options
    from grid_core.model.types import RobotModel

__all__ = ["random_inputs"]


def random_inputs(
    algorithm: Algorithm,
    model: RobotModel,
    options: Options,
    *,
    batch: int,
    present: Iterable[str] = (),
    seed: int = 0,
) -> dict[str, Any]:
    """Draw inputs, the same for the same arguments.

    Ports of shape ``("nq",)`` get configurations within the limits, other arrays standard normal
    numbers, and uniform ports a number near their default.

    Args:
        algorithm: whose ports to fill.
        model: the robot.
        options: with the targets, which widths may depend on.
        batch: problems.
        present: names of the optional inputs to fill.
        seed: of the numbers.

    Returns:
        float64 arrays of shape (batch, *port.shape) and plain floats by name.
    """
    wanted = set(present)
    result: dict[str, Any] = {}
    for k, port in enumerate(algorithm.inputs):
        # A generator for each port: what one gets does not depend on the others being there.
        rng = np.random.default_rng((seed, k))
        if port.uniform:
            result[port.name] = (port.default or 0.0) + float(rng.normal())
        elif port.optional and port.name not in wanted:
            continue
        elif port.shape == ("nq",):
            result[port.name] = random_configuration(model, rng, batch)
        else:
            result[port.name] = rng.standard_normal((batch, *port.dims(model, options)))
    return result
