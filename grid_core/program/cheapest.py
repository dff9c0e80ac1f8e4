"""Choosing between two ways to the same result by their own instruction counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from grid_core.algorithm import Context
from grid_core.program.graph import Graph
from grid_core.program.ops import Op
from grid_core.program.scalar import Scalar
from grid_core.program.schedule import reachable
from grid_core.program.trace import new_inputs, node_of

__all__ = ["cheapest"]

Way = Callable[[Context[Any]], Mapping[str, Any]]

_DIVISION = 8
"""Products that a division costs, roughly, on both kinds of processor."""


def cheapest(ctx: Context[Any], ways: Sequence[Way]) -> Mapping[str, Any]:
    """Trace each way apart, and the one with the fewest instructions into the program."""
    return min(ways, key=lambda way: _price(ctx, way))(ctx)


def _price(ctx: Context[Any], way: Way) -> float:
    graph = Graph()
    inputs = {
        name: _stand_in(graph, value) if value is not None else None
        for name, value in ctx.inputs.items()
    }
    outputs = way(attrs.evolve(ctx, inputs=inputs))
    nodes = [
        node_of(graph, value)
        for output in outputs.values()
        for value in np.asarray(output, dtype=object).reshape(-1)
    ]
    return sum(
        _DIVISION if graph.ops[n] is Op.DIV else 1.0
        for n in reachable(graph, nodes)
        if graph.ops[n] not in (Op.INPUT, Op.CONST, Op.NEG)
    )


def _stand_in(graph: Graph, value: Any) -> Any:
    """Inputs of the same shape; what is a constant stays one."""
    if isinstance(value, Scalar):
        return Scalar(graph, graph.input())
    array = np.asarray(value, dtype=object)
    if not array.ndim:
        return value
    result = new_inputs(graph, array.shape)
    for index in np.ndindex(*array.shape):
        if not isinstance(array[index], Scalar):
            result[index] = array[index]
    return result
