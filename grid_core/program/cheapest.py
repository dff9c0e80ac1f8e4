"""Choosing between two ways to the same result by their own instruction counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from grid_core.algorithm import Context
from grid_core.program.graph import Graph
from grid_core.program.ops import Op
from grid_core.program.runtime import renewed
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
    model = renewed(ctx.model, lambda name, old: inputs.get(name, _stand_in(graph, old)))
    outputs = way(attrs.evolve(ctx, inputs=inputs, model=model))
    nodes = [
        node_of(graph, value)
        for output in outputs.values()
        for value in np.asarray(output, dtype=object).reshape(-1)
    ]
    return _instructions(graph, reachable(graph, nodes))


def _instructions(graph: Graph, nodes: Sequence[int]) -> float:
    """Instructions of a processor with fused multiply-add; sums take in their products."""
    uses: dict[int, int] = {}
    work = [n for n in nodes if graph.ops[n] not in (Op.INPUT, Op.CONST, Op.NEG)]
    for n in work:
        for x in (graph.a[n], graph.b[n]):
            uses[x] = uses.get(x, 0) + 1
    price = 0.0
    for n in work:
        op = graph.ops[n]
        price += _DIVISION if op is Op.DIV else 1.0
        if op in (Op.ADD, Op.SUB):
            products = (graph.ops[x] is Op.MUL and uses[x] == 1 for x in (graph.a[n], graph.b[n]))
            price -= any(products)
    return price


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
