"""The expression graph: every distinct value once, trivial arithmetic folded away.

Folding happens as a node is made, so a rotation's and an inertia's zeros and ones never reach
a backend. Signs are moved outwards (``(-a)·b`` is kept as ``-(a·b)``) and absorbed by sums,
so that values which differ only in sign are shared too.
"""

from __future__ import annotations

import math

import numpy as np

from grid_core.errors import TraceError
from grid_core.program.ops import COMMUTATIVE, NUMPY, Op
from grid_core.program.regions import current_region

__all__ = ["Graph"]


class Graph:
    """Nodes as parallel lists; a node's operands have smaller numbers than itself.

    A CONST's and an INPUT's first operand is its index into `constants` or among the inputs.

    Args:
        even_signs: keep a constant factor's sign with it. A mirrored limb, whose constants differ
            in sign, is then computed by the same steps as its twin (`grid_core.program.alike`),
            for about one instruction in a hundred more.
    """

    __slots__ = (
        "_constant_ids",
        "_nodes",
        "a",
        "b",
        "constants",
        "even_signs",
        "num_inputs",
        "ops",
        "regions",
    )

    def __init__(self, *, even_signs: bool = False) -> None:
        self.even_signs = even_signs
        self.ops: list[Op] = []
        self.regions: list[int] = []
        """Part of the robot each node was first traced for."""
        self.a: list[int] = []
        self.b: list[int] = []
        self.constants: list[float] = []
        self.num_inputs = 0
        self._nodes: dict[tuple[Op, int, int], int] = {}
        self._constant_ids: dict[float, int] = {}

    def __len__(self) -> int:
        return len(self.ops)

    def _append(self, op: Op, a: int, b: int) -> int:
        self.ops.append(op)
        self.regions.append(current_region())
        self.a.append(a)
        self.b.append(b)
        return len(self.ops) - 1

    def _node(self, op: Op, a: int, b: int = -1) -> int:
        if op in COMMUTATIVE and b < a:
            a, b = b, a
        key = (op, a, b)
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = self._append(op, a, b)
        return found

    def input(self) -> int:
        """Add the next input."""
        self.num_inputs += 1
        return self._append(Op.INPUT, self.num_inputs - 1, -1)

    def constant(self, value: float) -> int:
        """Return the node of a constant.

        Raises:
            TraceError: it is not finite, be it given or folded from finite ones.
        """
        value = float(value) + 0.0  # -0.0 becomes 0.0
        if not math.isfinite(value):
            raise TraceError(f"a program meets the constant {value}")
        found = self._constant_ids.get(value)
        if found is None:
            self.constants.append(value)
            found = self._append(Op.CONST, len(self.constants) - 1, -1)
            self._constant_ids[value] = found
        return found

    def value(self, node: int) -> float | None:
        """The number a constant node stands for, else None."""
        return self.constants[self.a[node]] if self.ops[node] is Op.CONST else None

    def neg(self, x: int) -> int:
        """Return -x."""
        op = self.ops[x]
        if op is Op.NEG:
            return self.a[x]
        if op is Op.CONST:
            return self.constant(-self.constants[self.a[x]])
        # Not b - a for a - b: were both needed, that would be a second subtraction, and a sign is
        # absorbed by whatever sum meets it.
        return self._node(Op.NEG, x)

    def add(self, x: int, y: int) -> int:
        """Return x + y."""
        ops = self.ops
        if ops[x] is Op.CONST:
            x, y = y, x
        if ops[y] is Op.CONST:
            c = self.constants[self.a[y]]
            if ops[x] is Op.CONST:
                return self.constant(self.constants[self.a[x]] + c)
            if c == 0.0:
                return x
        if ops[y] is Op.NEG:
            return self.sub(x, self.a[y])
        if ops[x] is Op.NEG:
            return self.sub(y, self.a[x])
        (base, c), (other, d) = self._scaled(x), self._scaled(y)
        if base == other and (c, d) != (1.0, 1.0):
            return self._scale(base, c + d)
        return self._node(Op.ADD, x, y)

    def _scaled(self, x: int) -> tuple[int, float]:
        """Read c·y as (y, c), and anything else as itself once."""
        if self.ops[x] is Op.MUL:
            for factor, rest in ((self.a[x], self.b[x]), (self.b[x], self.a[x])):
                c = self.value(factor)
                if c is not None:
                    return rest, c
        return x, 1.0

    def sub(self, x: int, y: int) -> int:  # noqa: PLR0911 - one return a rule
        """Return x - y."""
        ops = self.ops
        if x == y:
            return self.constant(0.0)
        if ops[y] is Op.CONST:
            return self.add(x, self.constant(-self.constants[self.a[y]]))
        if ops[x] is Op.CONST and self.constants[self.a[x]] == 0.0:
            return self.neg(y)
        if ops[y] is Op.NEG:
            return self.add(x, self.a[y])
        if ops[x] is Op.NEG:
            return self.neg(self.add(self.a[x], y))
        (base, c), (other, d) = self._scaled(x), self._scaled(y)
        if base == other:
            return self._scale(base, c - d)
        if (Op.SUB, y, x) in self._nodes:
            return self._node(Op.NEG, self._nodes[Op.SUB, y, x])
        return self._node(Op.SUB, x, y)

    def mul(self, x: int, y: int) -> int:
        """Return x · y."""
        ops = self.ops
        if ops[x] is Op.CONST:
            x, y = y, x
        if ops[y] is Op.CONST:
            return self._scale(x, self.constants[self.a[y]])
        if ops[x] is Op.NEG:
            return self.neg(self.mul(self.a[x], y))
        if ops[y] is Op.NEG:
            return self.neg(self.mul(x, self.a[y]))
        return self._node(Op.MUL, x, y)

    def _scale(self, x: int, c: float) -> int:  # noqa: PLR0911 - one return a rule
        op = self.ops[x]
        if op is Op.CONST:
            return self.constant(self.constants[self.a[x]] * c)
        if c == 0.0:
            return self.constant(0.0)
        if c == -1.0:
            return self.neg(x)
        if c < 0.0 and not self.even_signs:
            return self.neg(self._scale(x, -c))
        if op is Op.NEG:
            return (
                self._scale(self.a[x], -c)
                if self.even_signs
                else self.neg(self._scale(self.a[x], c))
            )
        if c == 1.0:
            return x
        if op is Op.MUL:
            for inner, other in ((self.b[x], self.a[x]), (self.a[x], self.b[x])):
                factor = self.value(inner)
                if factor is not None:
                    return self._scale(other, factor * c)
        return self._node(Op.MUL, x, self.constant(c))

    def div(self, x: int, y: int) -> int:
        """Return x / y; a constant divisor becomes a factor."""
        ops = self.ops
        c = self.value(y)
        if c is not None:
            if c == 0.0:
                raise TraceError("a program divides by the constant 0")
            return self._scale(x, 1.0 / c)
        if ops[x] is Op.CONST and self.constants[self.a[x]] == 0.0:
            return x
        if ops[y] is Op.NEG:
            return self.neg(self.div(x, self.a[y]))
        if ops[x] is Op.NEG:
            return self.neg(self.div(self.a[x], y))
        return self._node(Op.DIV, x, y)

    def unary(self, op: Op, x: int) -> int:
        """SQRT, SIN, COS, ABS or SIGN of x."""
        c = self.value(x)
        if c is not None:
            with np.errstate(invalid="ignore"):
                return self.constant(float(NUMPY[op](c)))
        if self.ops[x] is Op.NEG and op in (Op.COS, Op.ABS):
            return self.unary(op, self.a[x])
        if self.ops[x] is Op.NEG and op in (Op.SIN, Op.SIGN):
            return self.neg(self.unary(op, self.a[x]))
        return self._node(op, x)

    def atan2(self, y: int, x: int) -> int:
        """Angle of the point (x, y), in [-π, π]."""
        cy, cx = self.value(y), self.value(x)
        if cy is not None and cx is not None:
            return self.constant(math.atan2(cy, cx))
        if self.ops[y] is Op.NEG:
            return self.neg(self.atan2(self.a[y], x))
        return self._node(Op.ATAN2, y, x)

    def extremum(self, op: Op, x: int, y: int) -> int:
        """MIN or MAX of x and y."""
        cx, cy = self.value(x), self.value(y)
        if cx is not None and cy is not None:
            return self.constant(min(cx, cy) if op is Op.MIN else max(cx, cy))
        return x if x == y else self._node(op, x, y)
