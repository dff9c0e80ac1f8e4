"""A program's operations on vectors, in IR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.program.ops import Op

if TYPE_CHECKING:
    from grid_backend_cpu.vector import Emitter

__all__ = ["arithmetic"]

_INFIX = {Op.ADD: "fadd", Op.SUB: "fsub", Op.MUL: "fmul", Op.DIV: "fdiv"}
_CALLS = {Op.SQRT: "sqrt", Op.ABS: "fabs", Op.MIN: "minnum", Op.MAX: "maxnum"}
"""Intrinsics; those of MIN and MAX ignore a NaN, see `arithmetic`."""
_FLAGS = "contract reassoc nsz"
"""Products may join sums, and sums be ordered anew: an eighth quicker, all within rounding."""


def arithmetic(e: Emitter, op: Op, *operands: str) -> str:
    """Emit one operation; sines, cosines and arctangents are `Body`'s, several at once."""
    t = e.lanes
    if op in _INFIX:
        return e.let(f"{_INFIX[op]} {_FLAGS} {t.vector} {', '.join(operands)}")
    if op is Op.NEG:
        return e.let(f"fneg {_FLAGS} {t.vector} {operands[0]}")
    if op is Op.SIGN:
        return _sign(e, operands[0])
    given = ", ".join(f"{t.vector} {x}" for x in operands)
    result = e.let(f"call {t.vector} @llvm.{_CALLS[op]}.{t.suffix}({given})")
    return _with_nan(e, result, *operands) if len(operands) == 2 else result


def _with_nan(e: Emitter, result: str, a: str, b: str) -> str:
    """Let a NaN of either operand through, as NumPy does: it must not pass for a number."""
    t = e.lanes
    unordered = e.let(f"fcmp uno {t.vector} {a}, {b}")
    both = e.let(f"fadd {t.vector} {a}, {b}")
    return e.let(f"select <{t.width} x i1> {unordered}, {t.vector} {both}, {t.vector} {result}")


def _sign(e: Emitter, x: str) -> str:
    """-1, 0 or 1; NaN stays NaN."""
    t = e.lanes
    args = f"{t.vector} {t.splat(1.0)}, {t.vector} {x}"
    one = e.let(f"call {t.vector} @llvm.copysign.{t.suffix}({args})")
    nonzero = e.let(f"fcmp one {t.vector} {x}, zeroinitializer")
    return e.let(f"select <{t.width} x i1> {nonzero}, {t.vector} {one}, {t.vector} {x}")
