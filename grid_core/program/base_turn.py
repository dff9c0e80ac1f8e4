"""An algorithm beside itself with its floating base turned, for derivatives in MuJoCo's convention.

There a configuration's tangent turns the base while velocities, accelerations and forces along the
world's axes stay; seen from the base they turn the other way. So an algorithm of values along
the base's axes becomes one of the base's turn φ too, which is zero where it is evaluated: only
its derivatives are of use, and the rest folds away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from grid_core.program.convention import rest_of, times_nv
from grid_core.program.trace import run_program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.algorithm import Algorithm, Context, Port

__all__ = ["HELD", "TURN", "held_fixed", "run_turned", "turn_shapes", "turn_values"]

TURN = "turn of the base"
"""Name of φ among a function's inputs; no port can be called that."""
HELD = "held velocity"
"""Name of the velocity once more: what an acceleration at the doors was made with."""


def held_fixed(ctx: Context[Any]) -> bool:
    """Whether what is along the world's axes stays as the base turns."""
    return ctx.options.output_convention == "mujoco" and ctx.model.floating_base


def turn_shapes(algorithm: Algorithm, ctx: Context[Any]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the inputs that `run_turned` takes beside the algorithm's own."""
    shapes: dict[str, tuple[int, ...]] = {TURN: (3,)}
    if _velocity(algorithm) is not None:
        shapes[HELD] = (ctx.model.nv,)
    return shapes


def turn_values(algorithm: Algorithm, ctx: Context[Any]) -> dict[str, Any]:
    """Return the values of those inputs where derivatives are wanted."""
    values: dict[str, Any] = {TURN: np.zeros(3)}
    name = _velocity(algorithm)
    if name is not None:
        values[HELD] = ctx[name]
    return values


def run_turned(
    algorithm: Algorithm, ctx: Context[Any], given: Mapping[str, Any], inputs: Mapping[str, Any]
) -> dict[str, Any]:
    """Run an algorithm's program on a base that is turned by φ, and turn its outputs back.

    Args:
        algorithm: what to run.
        ctx: where; its inputs do not count.
        given: the algorithm's inputs along the base's axes as they were before the turn.
        inputs: what `turn_shapes` names.
    """
    turn, name = inputs[TURN], _velocity(algorithm)
    native = {
        port.name: _leant(port, given[port.name], turn, -1.0)
        for port in algorithm.inputs
        if port.role != "acceleration"
    }
    rest = None
    if name is not None:
        before, rest = rest_of(inputs[HELD]), rest_of(native[name])
    for port in algorithm.inputs:
        if port.role == "acceleration":
            value = given[port.name]
            if value is not None and rest is not None:
                value = _leant(port, value - before, turn, -1.0) + rest
            native[port.name] = value
    outputs = run_program(
        evolve(ctx, algorithm=algorithm, inputs=native, rest=rest, run=run_program)
    )
    results = {}
    for port in algorithm.outputs:
        value = outputs[port.name]
        if port.role == "acceleration" and rest is not None:
            value = value - rest
        results[port.name] = _leant(port, value, turn, 1.0)
    return results


def _velocity(algorithm: Algorithm) -> str | None:
    return next((port.name for port in algorithm.inputs if port.role == "velocity"), None)


def _leant(port: Port, value: Any, turn: Any, way: float) -> Any:
    """Add the change of a small turn along every axis that counts velocities."""
    if value is None or port.role in {"", "own"}:
        return value
    a, b, c = (way * angle for angle in turn)
    for axis, dim in enumerate(port.shape):
        count = times_nv(dim)
        parts = np.array(np.moveaxis(value, axis, 0))
        for k in range(0, len(parts), len(parts) // count) if count else ():
            x, y, z = (np.array(part, dtype=object) for part in parts[k : k + 3])
            parts[k : k + 3] = x + b * z - c * y, y + c * x - a * z, z + a * y - b * x
        value = np.moveaxis(parts, 0, axis)
    return value
