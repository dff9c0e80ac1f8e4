"""The two-argument arctangent of vectors, in IR, without a branch.

With a ≤ b the smaller and the larger of |y| and |x|, atan(a/b) comes from one division and a
polynomial (`grid_core.program.arctangent`); the octant says what it is added to. Zeros keep
their signs, infinities give multiples of π/4, and a NaN stays one. The result is within 2 units
in the last place of the true one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grid_core.program.arctangent import ARCTANGENT, EDGE, MULTIPLES_OF_PI

if TYPE_CHECKING:
    from grid_backend_cpu.vector import Emitter

__all__ = ["arctangent2"]

_LARGE = {"float64": 2.0**1022, "float32": 2.0**126}
"""Above this a + b could overflow."""


def arctangent2(e: Emitter, y: str, x: str) -> str:
    """Emit atan2(y, x) in [-π, π]."""
    t = e.lanes
    rise, run = _call(e, "fabs", y), _call(e, "fabs", x)
    steep = e.let(f"fcmp ogt {t.vector} {rise}, {run}")
    small, large = _select(e, steep, run, rise), _select(e, steep, rise, run)
    small, large = _safe(e, small, large)
    edge = e.let(f"fmul {t.vector} {large}, {t.splat(EDGE)}")
    wide = e.let(f"fcmp ogt {t.vector} {small}, {edge}")
    numerator = _select(e, wide, e.let(f"fsub {t.vector} {small}, {large}"), small)
    denominator = _select(e, wide, e.let(f"fadd {t.vector} {small}, {large}"), large)
    ratio = e.let(f"fdiv {t.vector} {numerator}, {denominator}")
    angle = _polynomial(e, ratio)
    bits = e.let(f"bitcast {t.vector} {x} to {t.integers}")
    backward = e.let(f"icmp slt {t.integers} {bits}, zeroinitializer")
    mirrored = e.let(f"xor <{t.width} x i1> {steep}, {backward}")
    angle = _select(e, mirrored, e.let(f"fneg {t.vector} {angle}"), angle)
    head, tail = (_start(e, part, wide, steep, backward) for part in (0, 1))
    rest = e.let(f"fadd {t.vector} {angle}, {tail}")
    positive = e.let(f"fadd {t.vector} {head}, {rest}")
    return e.let(
        f"call {t.vector} @llvm.copysign.{t.suffix}({t.vector} {positive}, {t.vector} {y})"
    )


def _safe(e: Emitter, small: str, large: str) -> tuple[str, str]:
    """Keep the ratio where a quotient would be undefined or a sum overflow."""
    t = e.lanes
    one = t.splat(1.0)
    both = (e.let(f"fcmp oeq {t.vector} {v}, {t.splat(math.inf)}") for v in (small, large))
    infinite = e.let(f"and <{t.width} x i1> {', '.join(both)}")
    small, large = _select(e, infinite, one, small), _select(e, infinite, one, large)
    nothing = e.let(f"fcmp oeq {t.vector} {large}, zeroinitializer")
    large = _select(e, nothing, one, large)
    huge = e.let(f"fcmp ogt {t.vector} {large}, {t.splat(_LARGE[t.dtype])}")
    scale = _select(e, huge, t.splat(0.25), one)
    return (
        e.let(f"fmul {t.vector} {small}, {scale}"),
        e.let(f"fmul {t.vector} {large}, {scale}"),
    )


def _polynomial(e: Emitter, ratio: str) -> str:
    t = e.lanes
    z = e.let(f"fmul {t.vector} {ratio}, {ratio}")
    *rest, highest = ARCTANGENT[t.dtype]
    value = t.splat(highest)
    for c in reversed(rest):
        value = _fma(e, value, z, t.splat(c))
    scaled = e.let(f"fmul {t.vector} {ratio}, {z}")
    return _fma(e, scaled, value, ratio)


def _start(e: Emitter, part: int, wide: str, steep: str, backward: str) -> str:
    """The multiple of π/4 that the octant begins or ends at, its head or its tail."""
    t = e.lanes
    parts = [t.splat(MULTIPLES_OF_PI[t.dtype][k][part]) for k in range(5)]
    diagonal = _select(e, backward, parts[3], parts[1])
    flat = _select(e, backward, parts[4], parts[0])
    return _select(e, wide, diagonal, _select(e, steep, parts[2], flat))


def _select(e: Emitter, choice: str, yes: str, no: str) -> str:
    t = e.lanes
    return e.let(f"select <{t.width} x i1> {choice}, {t.vector} {yes}, {t.vector} {no}")


def _call(e: Emitter, name: str, x: str) -> str:
    t = e.lanes
    return e.let(f"call {t.vector} @llvm.{name}.{t.suffix}({t.vector} {x})")


def _fma(e: Emitter, a: str, b: str, c: str) -> str:
    t = e.lanes
    args = ", ".join(f"{t.vector} {v}" for v in (a, b, c))
    return e.let(f"call {t.vector} @llvm.fma.{t.suffix}({args})")
