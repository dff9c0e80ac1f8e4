"""From an operation to its program: run the algorithm over symbolic scalars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.algorithm import Algorithm, Context, Port
from grid_core.errors import ContractError, TraceError
from grid_core.exits import exits_fail
from grid_core.program.convention import from_native, to_native
from grid_core.program.graph import Graph
from grid_core.program.program import Program, ProgramPort
from grid_core.program.runtime import runtime_model
from grid_core.program.scalar import Scalar, Value
from grid_core.program.schedule import schedule
from grid_core.uniform import UniformArray

if TYPE_CHECKING:
    from grid_core.backend import Operation

__all__ = ["run_program", "symbolic_inputs", "trace"]


def trace(operation: Operation, *, doors: bool = True, even_signs: bool = False) -> Program:
    """Trace an operation.

    Args:
        operation: what to trace.
        doors: whether inputs and outputs are in the convention of the options; else they are as
            an algorithm sees them.
        even_signs: whether limbs that are alike but for the signs of their constants are to come
            out alike (`grid_core.program.alike`).

    Raises:
        ContractError: the algorithm's program returns other outputs than it declares.
        TraceError: it branches on a run-time value, or meets a constant that is not finite.
    """
    algorithm, graph = operation.algorithm, Graph(even_signs=even_signs)
    ports = [p for p in algorithm.inputs if not p.optional or p.name in operation.present]
    inputs, declared = symbolic_inputs(graph, ports, operation)
    absent = {p.name: None for p in algorithm.inputs if p.name not in inputs}
    context: Context[Any] = Context(
        model=runtime_model(operation.model, inputs),
        options=operation.options,
        algorithm=algorithm,
        inputs={**inputs, **absent},
        available=operation.available,
        run=run_program,
    )
    native = to_native(context) if doors else context
    outputs = run_program(native)
    if doors:
        outputs = from_native(native, outputs)
    results: list[int] = []
    out_ports = []
    for port in algorithm.outputs:
        flat = np.asarray(outputs[port.name], dtype=object).reshape(-1)
        results += [node_of(graph, value) for value in flat]
        out_ports.append(ProgramPort(port.name, port.dims(operation.model, operation.options)))
    scheduled = schedule(graph, results)
    return Program(
        name=algorithm.name,
        inputs=declared,
        outputs=tuple(out_ports),
        constants=scheduled.constants,
        instructions=scheduled.instructions,
        results=scheduled.results,
        regions=scheduled.regions,
        traced=scheduled.traced,
    )


def node_of(graph: Graph, value: Value) -> int:
    """Node of a value in the graph; a plain number becomes a constant.

    Raises:
        TraceError: the value is of another trace, or not a finite number.
    """
    if not isinstance(value, Scalar):
        return graph.constant(float(value))
    if value.graph is not graph:
        raise TraceError("a program returned a symbolic scalar of another trace")
    return value.node


def symbolic_inputs(
    graph: Graph, ports: list[Port], operation: Operation
) -> tuple[dict[str, Any], tuple[ProgramPort, ...]]:
    """Make the input scalars of each port, shaped as the port says."""
    inputs: dict[str, Any] = {}
    declared = []
    for port in ports:
        dims = port.dims(operation.model, operation.options)
        inputs[port.name] = new_inputs(graph, dims)
        if port.uniform:
            names = UniformArray.of(port, operation.model, operation.options).names
            declared += [ProgramPort(name, (), uniform=True) for name in names]
        else:
            declared.append(ProgramPort(port.name, dims))
    return inputs, tuple(declared)


def new_inputs(graph: Graph, dims: tuple[int, ...]) -> Any:
    """Object array of new input scalars; one scalar for dims ()."""
    if not dims:
        return Scalar(graph, graph.input())
    array = np.empty(dims, dtype=object)
    for index in np.ndindex(*dims):
        array[index] = Scalar(graph, graph.input())
    return array


def run_program(context: Context[Any]) -> Mapping[str, Any]:
    """Run an algorithm's program and check what it returns against its ports."""
    algorithm = context.algorithm
    with exits_fail(f"the program of {algorithm.name!r}"):
        outputs = algorithm.program(context)
    return checked_outputs(algorithm, outputs, context)


def checked_outputs(
    algorithm: Algorithm, outputs: Mapping[str, Any], context: Context[Any]
) -> dict[str, Any]:
    """Shape every declared output; refuse missing, extra or misshapen ones."""
    expected = [p.name for p in algorithm.outputs]
    if not isinstance(outputs, Mapping) or sorted(outputs) != sorted(expected):
        got = sorted(outputs) if isinstance(outputs, Mapping) else type(outputs).__name__
        raise ContractError(
            f"{algorithm.name}: its program must return a mapping with outputs {expected}; "
            f"it returned {got}"
        )
    shaped: dict[str, Any] = {}
    for port in algorithm.outputs:
        dims = port.dims(context.model, context.options)
        array = np.empty(dims, dtype=object)
        value = np.asarray(outputs[port.name], dtype=object)
        if value.shape != dims and (value.size or array.size):
            raise ContractError(
                f"{algorithm.name}: output {port.name!r} must have shape {dims}; its program "
                f"returned {value.shape}"
            )
        array[...] = value.reshape(dims)
        shaped[port.name] = array
    return shaped
