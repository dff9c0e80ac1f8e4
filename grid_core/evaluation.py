"""Running an algorithm's NumPy reference, with its outputs checked against its ports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.algorithm import Algorithm, Context, Options
from grid_core.errors import ContractError
from grid_core.exits import exits_fail
from grid_core.program.convention import from_native, to_native, undeclared
from grid_core.uniform import UniformArray

if TYPE_CHECKING:
    from grid_core.model.types import Array, RobotModel

__all__ = ["evaluate_reference", "refusal"]


def evaluate_reference(
    algorithm: Algorithm,
    available: Mapping[str, Algorithm],
    model: RobotModel,
    options: Options,
    inputs: Mapping[str, Any],
) -> dict[str, Array]:
    """Evaluate `Algorithm.reference` on a batch.

    Args:
        algorithm: what to evaluate.
        available: every algorithm by name, for those that it needs.
        model: the robot.
        options: what changes the arithmetic.
        inputs: arrays of shape (B, *port.shape) and uniform numbers by name; optional inputs
            that are not given are left out.

    Returns:
        float64 arrays of shape (B, *port.shape) by output name.

    Raises:
        ContractError: the reference returns other names or shapes than its ports say.
    """
    values: dict[str, Any] = {}
    batch = 0
    for port in algorithm.inputs:
        if port.uniform:
            values[port.name] = UniformArray.of(port, model, options).gather(inputs)
            continue
        value = inputs.get(port.name)
        if value is None:
            values[port.name] = None
            continue
        values[port.name] = np.asarray(value, dtype=np.float64)
        batch = len(values[port.name])
    native = to_native(_context(algorithm, available, model, options, values))
    returned = _run(native)
    names = [port.name for port in algorithm.outputs]
    if not isinstance(returned, Mapping) or sorted(returned) != sorted(names):
        got = sorted(returned) if isinstance(returned, Mapping) else type(returned).__name__
        raise ContractError(f"{algorithm.name}: the reference must return {names}; got {got}")
    results = {}
    for port in algorithm.outputs:
        result = np.asarray(returned[port.name], dtype=np.float64)
        wanted = (batch, *port.dims(model, options))
        if result.shape != wanted:
            raise ContractError(
                f"{algorithm.name}: the reference returned {port.name} of shape {result.shape}; "
                f"its port says {('B', *port.shape)}, here {wanted}"
            )
        results[port.name] = result
    return from_native(native, results)


def refusal(
    algorithm: Algorithm,
    available: Mapping[str, Algorithm],
    model: RobotModel,
    options: Options,
) -> str | None:
    """Say why a robot cannot have an algorithm or one that it needs; None when it can.

    Raises:
        ContractError: `Algorithm.refuse` returns something that is neither text nor None.
    """
    if options.output_convention == "mujoco":
        reason = undeclared(algorithm, model)
        if reason:
            return reason
    if algorithm.refuse is not None:
        nothing: dict[str, Any] = {port.name: None for port in algorithm.inputs}
        context = _context(algorithm, available, model, options, nothing)
        with exits_fail(f"`refuse` of {algorithm.name!r}"):
            said: object = algorithm.refuse(context)
        if said is not None and not isinstance(said, str):
            raise ContractError(
                f"{algorithm.name}: `refuse` must return the reason as text, or None; it "
                f"returned an object of type {type(said).__name__}"
            )
        if said:
            return said
    for name in algorithm.needs:
        reason = refusal(available[name], available, model, options)
        if reason:
            return f"it needs {name}, and that cannot be: {reason}"
    return None


def _context(
    algorithm: Algorithm,
    available: Mapping[str, Algorithm],
    model: RobotModel,
    options: Options,
    inputs: Mapping[str, Any],
) -> Context[Any]:
    return Context(
        model=model,
        options=options,
        algorithm=algorithm,
        inputs=inputs,
        available=available,
        run=_run,
    )


def _run(ctx: Context[Any]) -> Mapping[str, Any]:
    with exits_fail(f"the reference of {ctx.algorithm.name!r}"):
        return ctx.algorithm.reference(ctx)
