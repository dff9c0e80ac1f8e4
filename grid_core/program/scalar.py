"""The symbolic scalar: ordinary Python arithmetic that writes itself down.

Constants stay Python floats until they meet a scalar, and a result that is known (``0·x``) is
a float again, so a value in a program is ``float | Scalar``: the type `Value`.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, NoReturn, TypeAlias, Union, overload

import numpy as np

from grid_core.errors import TraceError
from grid_core.program.ops import Op

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_core.program.graph import Graph

__all__ = [
    "Scalar",
    "Value",
    "absolute",
    "atan2",
    "cos",
    "is_zero",
    "maximum",
    "minimum",
    "sign",
    "sin",
    "sqrt",
]

Value: TypeAlias = Union[float, "Scalar"]


class Scalar:
    """A value that is known only at run time."""

    __slots__ = ("graph", "node")

    def __init__(self, graph: Graph, node: int) -> None:
        self.graph = graph
        self.node = node

    def _wrap(self, node: int) -> Value:
        known = self.graph.value(node)
        return Scalar(self.graph, node) if known is None else known

    def _operand(self, other: object) -> int | None:
        if isinstance(other, Scalar):
            if other.graph is not self.graph:
                raise TraceError("a symbolic scalar was carried over from another trace")
            return other.node
        if isinstance(other, np.ndarray):
            return None  # NumPy then takes it entry by entry
        if isinstance(other, (int, float)) or hasattr(other, "__float__"):
            return self.graph.constant(float(other))
        return None

    def __neg__(self) -> Value:
        return self._wrap(self.graph.neg(self.node))

    def __pos__(self) -> Value:
        return self

    def __add__(self, other: object) -> Value:
        y = self._operand(other)
        return NotImplemented if y is None else self._wrap(self.graph.add(self.node, y))

    __radd__ = __add__

    def __sub__(self, other: object) -> Value:
        y = self._operand(other)
        return NotImplemented if y is None else self._wrap(self.graph.sub(self.node, y))

    def __rsub__(self, other: object) -> Value:
        x = self._operand(other)
        return NotImplemented if x is None else self._wrap(self.graph.sub(x, self.node))

    def __mul__(self, other: object) -> Value:
        y = self._operand(other)
        return NotImplemented if y is None else self._wrap(self.graph.mul(self.node, y))

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Value:
        y = self._operand(other)
        return NotImplemented if y is None else self._wrap(self.graph.div(self.node, y))

    def __rtruediv__(self, other: object) -> Value:
        x = self._operand(other)
        return NotImplemented if x is None else self._wrap(self.graph.div(x, self.node))

    def __pow__(self, exponent: object) -> Value:
        try:
            n = operator.index(exponent)  # type: ignore[arg-type]
        except TypeError:
            n = -1
        if n < 0:
            raise TraceError("a symbolic scalar takes whole exponents from 0 on; use sqrt or /")
        result: Value = 1.0
        square: Value = self
        while n:
            if n & 1:
                result = result * square
            n >>= 1
            square = square * square if n else square
        return result

    def __abs__(self) -> Value:
        return self._wrap(self.graph.unary(Op.ABS, self.node))

    # NumPy calls these for np.sin(object_array) and the like.
    def sin(self) -> Value:
        """Return its sine."""
        return self._wrap(self.graph.unary(Op.SIN, self.node))

    def cos(self) -> Value:
        """Return its cosine."""
        return self._wrap(self.graph.unary(Op.COS, self.node))

    def sqrt(self) -> Value:
        """√x."""
        return self._wrap(self.graph.unary(Op.SQRT, self.node))

    def sign(self) -> Value:
        """-1, 0 or 1."""
        return self._wrap(self.graph.unary(Op.SIGN, self.node))

    def _branch(self, *_: object) -> NoReturn:
        raise TraceError(
            "a program cannot branch on a run-time value, compare it or make it a number: it is "
            "traced once and is then straight-line arithmetic for every state"
        )

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _branch
    __eq__ = __ne__ = _branch  # else `x == 0` would be False for every state
    __hash__ = object.__hash__
    __float__ = __int__ = __index__ = _branch

    def __repr__(self) -> str:
        return f"<Scalar {self.node}: {self.graph.ops[self.node].name.lower()}>"


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(*_: object) -> NoReturn:
        raise TraceError(
            f"np.{name} cannot take a run-time value: there are + - * /, powers, abs, and the "
            "sqrt, sin, cos, atan2, sign, minimum and maximum of grid_core.program"
        )

    return refuse


# NumPy calls a method of a function's own name on each entry of an object array.
for _name, _function in vars(np).items():
    if isinstance(_function, np.ufunc) and not hasattr(Scalar, _name):
        setattr(Scalar, _name, _refusing(_name))


def is_zero(x: Value) -> bool:
    """Whether x is the constant 0."""
    return not isinstance(x, Scalar) and x == 0.0


@overload
def sin(x: Scalar) -> Value: ...
@overload
def sin(x: float) -> float: ...
def sin(x: Value) -> Value:
    """Return the sine of x [rad]."""
    return x.sin() if isinstance(x, Scalar) else math.sin(x)


@overload
def cos(x: Scalar) -> Value: ...
@overload
def cos(x: float) -> float: ...
def cos(x: Value) -> Value:
    """Return the cosine of x [rad]."""
    return x.cos() if isinstance(x, Scalar) else math.cos(x)


def sqrt(x: Value) -> Value:
    """√x."""
    return x.sqrt() if isinstance(x, Scalar) else math.sqrt(x)


def absolute(x: Value) -> Value:
    """|x|."""
    return abs(x)


def sign(x: Value) -> Value:
    """-1, 0 or 1 as x is negative, zero or positive."""
    return x.sign() if isinstance(x, Scalar) else float((x > 0) - (x < 0))


def atan2(y: Value, x: Value) -> Value:
    """Return the angle of the point (x, y) from the x axis [rad], in [-π, π]."""
    graph = _graph(y, x)
    if graph is None:
        return math.atan2(y, x)
    return _of(graph, graph.atan2(_node(graph, y), _node(graph, x)))


def maximum(x: Value, y: Value) -> Value:
    """Return the greater of x and y."""
    graph = _graph(x, y)
    if graph is None:
        return max(x, y)
    return _of(graph, graph.extremum(Op.MAX, _node(graph, x), _node(graph, y)))


def minimum(x: Value, y: Value) -> Value:
    """Return the lesser of x and y."""
    graph = _graph(x, y)
    if graph is None:
        return min(x, y)
    return _of(graph, graph.extremum(Op.MIN, _node(graph, x), _node(graph, y)))


def _graph(*values: Value) -> Graph | None:
    return next((v.graph for v in values if isinstance(v, Scalar)), None)


def _node(graph: Graph, value: Value) -> int:
    if not isinstance(value, Scalar):
        return graph.constant(float(value))
    if value.graph is not graph:
        raise TraceError("a symbolic scalar was carried over from another trace")
    return value.node


def _of(graph: Graph, node: int) -> Value:
    known = graph.value(node)
    return Scalar(graph, node) if known is None else known
