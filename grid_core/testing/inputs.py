"""Inputs for any algorithm, made from its ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.model.configuration import random_configuration
from grid_core.model.lie import quaternion_rotate
from grid_core.uniform import UniformArray

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grid_core.algorithm import Algorithm, Options, Port
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

    Uniform arrays come entry by entry; one of bodies' IDs is one of IDs, and one of placements
    (..., 3, 4) of rigid motions. Ports of shape ``("nq",)`` get configurations within the limits,
    other arrays standard normal numbers, and uniform ports a number near their default.

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
            result |= _uniform(port, model, options, rng)
        elif port.optional and port.name not in wanted:
            continue
        elif port.shape == ("nq",):
            result[port.name] = random_configuration(model, rng, batch)
        else:
            result[port.name] = rng.standard_normal((batch, *port.dims(model, options)))
    return result


def _uniform(
    port: Port, model: RobotModel, options: Options, rng: np.random.Generator
) -> dict[str, float]:
    """Draw the numbers of a uniform port, by name."""
    dims = port.dims(model, options)
    if port.unit == "body ID":
        array = rng.integers(-1, model.nb, dims).astype(np.float64)
    elif dims[-2:] == (3, 4):
        turn = rng.standard_normal((*dims[:-2], 1, 4))
        turn /= np.linalg.norm(turn, axis=-1, keepdims=True)
        columns = quaternion_rotate(turn, np.eye(3))
        shift = rng.standard_normal((*dims[:-2], 3, 1))
        array = np.concatenate([columns.swapaxes(-1, -2), shift], axis=-1)
    else:
        array = (port.default or 0.0) + rng.standard_normal(dims)
    return UniformArray.of(port, model, options).spread(port.name, array)
