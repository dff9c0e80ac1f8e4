"""Running an algorithm's NumPy reference, with its outputs checked against its ports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from grid_core.algorithm import Algorithm, Context, Options
from grid_core.errors import ContractError
from grid_core.exits import exits_fail
from grid_core.program.convention import from_native, to_native, undeclared
from grid_core.program.runtime import INERTIAS, PLACEMENTS, altered
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
    varied = {p.name: values.get(p.name) for p in (INERTIAS, PLACEMENTS) if p in algorithm.inputs}
    for_all = [p.name for p in algorithm.inputs if p.uniform and p.name in algorithm.constants]
    if for_all:
        model = altered(model, *(values[p.name] if p.name in for_all else None
                                 for p in (INERTIAS, PLACEMENTS)))  # fmt: skip
    if batch and any(value is not None for value in varied.values()):
        return _one_by_one(algorithm, available, model, options, (values, varied))
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


def _one_by_one(
    algorithm: Algorithm,
    available: Mapping[str, Algorithm],
    model: RobotModel,
    options: Options,
    given: tuple[Mapping[str, Any], Mapping[str, Any]],
) -> dict[str, Array]:
    """Evaluate problem by problem, each on a robot of its own."""
    values, varied = given
    batched = [p.name for p in algorithm.inputs if not p.uniform and p.name not in varied]
    plain = evolve(algorithm, inputs=tuple(p for p in algorithm.inputs if p.name not in varied))
    results = []
    for k in range(len(values[batched[0]])):
        numbers = {name: None if x is None else x[k] for name, x in varied.items()}
        own = altered(model, numbers.get(INERTIAS.name), numbers.get(PLACEMENTS.name))
        one = {n: x[k : k + 1] if n in batched and x is not None else x for n, x in values.items()}
        results.append(evaluate_reference(plain, available, own, options, one))
    return {name: np.concatenate([r[name] for r in results]) for name in results[0]}


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
