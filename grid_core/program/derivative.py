"""Forward and reverse mode over programs: derivatives of any traced values, as further values.

Both walk the graph of values once. Forward mode carries the change of each value along one
direction of the inputs; reverse mode carries back what each value is worth to one weighting of
the outputs, at a small multiple of the program's own cost, however many inputs there are.

Where a value has no derivative, one is chosen: |x| and the sign of x have slope 0 at 0, and of
two equal values minimum and maximum take half each. √x has none at 0, nor has the angle of the
origin: there a NaN or an infinity comes out.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from grid_core.program.graph import Graph
from grid_core.program.ops import Op
from grid_core.program.regions import visit
from grid_core.program.scalar import (
    Scalar,
    Value,
    absolute,
    atan2,
    cos,
    is_zero,
    maximum,
    minimum,
    sign,
    sin,
    sqrt,
)
from grid_core.program.schedule import reachable
from grid_core.program.trace import new_inputs, node_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Function"]

Arrays = Mapping[str, Any]
"""Object arrays of values, by name."""


@frozen(eq=False)
class Function:
    """Values traced apart, with the inputs they depend on, ready to be differentiated.

    Traced apart, so that two inputs stay two even where a caller gives one value for both.
    """

    graph: Graph
    inputs: Arrays
    outputs: Arrays

    @classmethod
    def trace(cls, function: Callable[[Arrays], Arrays], shapes: Mapping[str, Any]) -> Function:
        """Trace a function of inputs of these shapes."""
        graph = Graph()
        inputs = {name: new_inputs(graph, tuple(shape)) for name, shape in shapes.items()}
        outputs = function(inputs)
        return cls(graph, inputs, {k: np.asarray(v, dtype=object) for k, v in outputs.items()})

    def jvp(self, tangents: Arrays) -> dict[str, Any]:
        """Return the change of every output along a direction.

        Args:
            tangents: change of some inputs, of their shapes; the others stay.
        """
        graph = self.graph
        change: dict[int, Value] = {}
        for name, tangent in tangents.items():
            change |= zip(_nodes(graph, self.inputs[name]), _flat(tangent), strict=True)
        for node in self._walk():
            total: Value = 0.0
            for operand, slope in _slopes(graph, node):
                moved = change.get(operand, 0.0)
                if not is_zero(moved):
                    total = total + moved * slope
            if not is_zero(total):
                change[node] = total
        return {
            name: _shaped([change.get(n, 0.0) for n in _nodes(graph, output)], output.shape)
            for name, output in self.outputs.items()
        }

    def vjp(self, cotangents: Arrays, wrt: Sequence[str]) -> dict[str, Any]:
        """Return what every input is worth, for outputs that are worth this.

        Args:
            cotangents: weight of some outputs, of their shapes; the others have none.
            wrt: inputs whose share is wanted.
        """
        graph = self.graph
        worth: dict[int, Value] = {}
        for name, weights in cotangents.items():
            for node, weight in zip(_nodes(graph, self.outputs[name]), _flat(weights), strict=True):
                worth[node] = worth.get(node, 0.0) + weight
        for node in self._walk(backward=True):
            own = worth.get(node, 0.0)
            if is_zero(own):
                continue
            for operand, slope in _slopes(graph, node):
                worth[operand] = worth.get(operand, 0.0) + own * slope
        return {
            name: _shaped(
                [worth.get(n, 0.0) for n in _nodes(graph, self.inputs[name])],
                np.shape(self.inputs[name]),
            )
            for name in wrt
        }

    def replay(self, values: Arrays, given: Arrays) -> dict[str, Any]:
        """Write values of this function's graph into another, over other inputs.

        Args:
            values: arrays of this graph's values, such as `jvp` returns.
            given: for each input, values of the other graph, or numbers.
        """
        graph = self.graph
        found: dict[int, Value] = {}
        for name, array in given.items():
            found |= zip(_nodes(graph, self.inputs[name]), _flat(array), strict=True)
        roots = [n for array in values.values() for n in _nodes(graph, array)]
        work = ((n, graph.regions[n]) for n in reachable(graph, roots) if n not in found)
        for node in visit(work):
            found[node] = _again(graph, node, found)
        return {
            name: _shaped([found[n] for n in _nodes(graph, array)], np.shape(array))
            for name, array in values.items()
        }

    def _walk(self, *, backward: bool = False) -> Iterator[int]:
        """Every node behind the outputs, operands first; what is traced takes its region."""
        graph = self.graph
        roots = [n for output in self.outputs.values() for n in _nodes(graph, output)]
        order = reachable(graph, roots)
        if backward:
            order.reverse()
        return visit([(node, graph.regions[node]) for node in order])


def _slopes(graph: Graph, node: int) -> list[tuple[int, Value]]:
    """Operands of a node with the derivative of its value by each."""
    op, a, b = graph.ops[node], graph.a[node], graph.b[node]
    if op in (Op.INPUT, Op.CONST, Op.SIGN):
        return []
    x, own = Scalar(graph, a), Scalar(graph, node)
    if b < 0:
        return [(a, _UNARY[op](x, own))]
    y = Scalar(graph, b)
    return list(zip((a, b), _BINARY[op](_known(x), _known(y), own), strict=True))


_UNARY: dict[Op, Callable[[Any, Any], Any]] = {
    Op.NEG: lambda _x, _own: -1.0,
    Op.SQRT: lambda _x, own: 0.5 / own,
    Op.SIN: lambda x, _own: x.cos(),
    Op.COS: lambda x, _own: -x.sin(),
    Op.ABS: lambda x, _own: x.sign(),
}


def _chosen(x: Any, y: Any) -> tuple[Value, Value]:
    """Slopes of the greater of x and y."""
    lead = 0.5 * sign(x - y)
    return 0.5 + lead, 0.5 - lead


def _quotient(x: Any, y: Any, own: Any) -> tuple[Value, Value]:
    # The reciprocal of a pivot is its own slope's root: no second division.
    inverse = 1.0 / y if isinstance(x, Scalar) else own * (1.0 / x)
    return inverse, -(own * inverse)


def _angle(y: Any, x: Any) -> tuple[Value, Value]:
    square = x * x + y * y
    return x / square, -(y / square)


_BINARY: dict[Op, Callable[[Any, Any, Any], tuple[Value, Value]]] = {
    Op.ADD: lambda _x, _y, _own: (1.0, 1.0),
    Op.SUB: lambda _x, _y, _own: (1.0, -1.0),
    Op.MUL: lambda x, y, _own: (y, x),
    Op.DIV: _quotient,
    Op.MAX: lambda x, y, _own: _chosen(x, y),
    Op.MIN: lambda x, y, _own: _chosen(y, x),
    Op.ATAN2: lambda y, x, _own: _angle(y, x),
}


_APPLY: dict[Op, Callable[..., Value]] = {
    Op.NEG: operator.neg,
    Op.ADD: operator.add,
    Op.SUB: operator.sub,
    Op.MUL: operator.mul,
    Op.DIV: operator.truediv,
    Op.SQRT: sqrt,
    Op.SIN: sin,
    Op.COS: cos,
    Op.ABS: absolute,
    Op.SIGN: sign,
    Op.MIN: minimum,
    Op.MAX: maximum,
    Op.ATAN2: atan2,
}


def _again(graph: Graph, node: int, found: Mapping[int, Value]) -> Value:
    """A node's value over what its operands became."""
    op, a, b = graph.ops[node], graph.a[node], graph.b[node]
    if op is Op.CONST:
        return graph.constants[a]
    return _APPLY[op](found[a]) if b < 0 else _APPLY[op](found[a], found[b])


def _known(x: Scalar) -> Value:
    value = x.graph.value(x.node)
    return x if value is None else value


def _flat(array: Any) -> list[Value]:
    return list(np.asarray(array, dtype=object).reshape(-1))


def _nodes(graph: Graph, array: Any) -> list[int]:
    return [node_of(graph, value) for value in _flat(array)]


def _shaped(values: list[Value], shape: tuple[int, ...]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape) if shape else values[0]
