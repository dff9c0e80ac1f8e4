"""From a graph to instructions: dead values dropped, order chosen to keep few values alive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.program.greedy import greedy_order
from grid_core.program.ops import Op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.program.graph import Graph


__all__ = ["Scheduled", "reachable", "schedule"]

Instructions = tuple[tuple[Op, int, int], ...]


def reachable(graph: Graph, roots: Sequence[int]) -> list[int]:
    """Nodes that the roots need, themselves included, operands first."""
    needed = bytearray(len(graph))
    stack = list(roots)
    while stack:
        node = stack.pop()
        if needed[node]:
            continue
        needed[node] = 1
        stack += _operands(graph, node)
    return [node for node in range(len(graph)) if needed[node]]


@frozen
class Scheduled:
    """Instructions in order, in the numbering of `grid_core.program.program.Program`."""

    instructions: Instructions
    constants: tuple[float, ...]
    results: tuple[int, ...]
    """Value number of each root."""
    regions: tuple[int, ...]
    """Part of the robot each instruction belongs to."""
    traced: tuple[int, ...]
    """Numbers that rise in the order in which the instructions were traced."""


def schedule(graph: Graph, roots: Sequence[int]) -> Scheduled:
    """Order the nodes that the roots need and number the values.

    Three orders are tried, the one with the fewest values alive at once is kept: as traced;
    depth first from the results; and greedily, always what frees most.
    """
    nodes = reachable(graph, roots)
    work = [n for n in nodes if graph.ops[n] not in (Op.INPUT, Op.CONST)]
    orders = (work, _depth_first(graph, roots), _greedy(graph, work, roots))
    order = min(orders, key=lambda o: _peak(graph, o, roots))
    return _numbered(graph, nodes, order, roots)


def _operands(graph: Graph, node: int) -> tuple[int, ...]:
    if graph.ops[node] in (Op.INPUT, Op.CONST):
        return ()
    a, b = graph.a[node], graph.b[node]
    return (a,) if b < 0 or a == b else (a, b)


def _depth_first(graph: Graph, roots: Sequence[int]) -> list[int]:
    done = bytearray(len(graph))
    order = []
    for root in roots:
        stack = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if done[node]:
                continue
            if ready:
                done[node] = 1
                order.append(node)
                continue
            operands = _operands(graph, node)
            if not operands:
                done[node] = 1
                continue
            stack.append((node, True))
            # Operands traced later hold more of the robot: do them first.
            stack += [(x, False) for x in sorted(operands) if not done[x]]
    return order


def _greedy(graph: Graph, work: Sequence[int], roots: Sequence[int]) -> list[int]:
    kept = set(roots)

    def freed(node: int) -> list[int]:
        return [x for x in _operands(graph, node) if graph.ops[x] is not Op.CONST]

    left: dict[int, int] = {}
    for node in work:
        for x in freed(node):
            left[x] = left.get(x, int(x in kept)) + 1
    return greedy_order(work, freed, left)


def _peak(graph: Graph, order: Sequence[int], roots: Sequence[int]) -> int:
    last = {}
    for index, node in enumerate(order):
        for x in _operands(graph, node):
            last[x] = index
    for root in roots:
        last[root] = len(order)
    live = most = 0
    seen: set[int] = set()
    for index, node in enumerate(order):
        for x in _operands(graph, node):
            if graph.ops[x] is Op.INPUT and x not in seen:
                seen.add(x)
                live += 1
        live += 1
        most = max(most, live)
        live -= sum(
            last[x] == index and graph.ops[x] is not Op.CONST for x in _operands(graph, node)
        )
    return most


def _numbered(
    graph: Graph, nodes: Sequence[int], order: Sequence[int], roots: Sequence[int]
) -> Scheduled:
    number = [-1] * len(graph)
    constants: list[float] = []
    for node in range(len(graph)):
        if graph.ops[node] is Op.INPUT:
            number[node] = graph.a[node]
    for node in nodes:
        if graph.ops[node] is Op.CONST:
            number[node] = graph.num_inputs + len(constants)
            constants.append(graph.constants[graph.a[node]])
    base = graph.num_inputs + len(constants)
    instructions = []
    for index, node in enumerate(order):
        number[node] = base + index
        b = graph.b[node]
        instructions.append((graph.ops[node], number[graph.a[node]], number[b] if b >= 0 else -1))
    return Scheduled(
        instructions=tuple(instructions),
        constants=tuple(constants),
        results=tuple(number[r] for r in roots),
        regions=tuple(graph.regions[node] for node in order),
        traced=tuple(order),
    )
