"""The two-argument arctangent of vectors, in IR.

With a ≤ b the smaller and the larger of |y| and |x|, atan(a/b) comes from one division and a
polynomial (`grid_core.program.arctangent`); the octant says which multiple of π/2 is added. A
larger side that is no ordinary number (0, huge, tiny, infinite, NaN) takes a cold path through
the C library, lane by lane. Zeros keep their signs, and a NaN stays one. The result is within 2
units in the last place of the true one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_backend_cpu.polynomial import fma, polynomials
from grid_core.program.arctangent import ARCTANGENT, ARCTANGENT_OF_HALF, EDGE, HALF_PI

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_backend_cpu.vector import Emitter, Lanes

__all__ = ["arctangents2", "special_function"]

_ORDINARY = {"float64": (2.0**-1000, 2.0**1000), "float32": (2.0**-100, 2.0**100)}
"""Of the larger side: no sum overflows, and a quotient of 0 is as good as the true one."""


def arctangents2(e: Emitter, pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Emit atan2(y, x) in [-π, π] of each pair, step by step for all of them, with one branch.

    Leaves the emitter in a new basic block.
    """
    t = e.lanes
    ratios, larger, turned = [], [], []
    for y, x in pairs:
        rise, run = _call(e, "fabs", y), _call(e, "fabs", x)
        steep = e.let(f"fcmp ogt {t.vector} {rise}, {run}")
        small, large = _select(e, steep, run, rise), _select(e, steep, rise, run)
        edge = e.let(f"fmul {t.vector} {large}, {t.splat(EDGE)}")
        wide = e.let(f"fcmp ogt {t.vector} {small}, {edge}")
        numerator = _select(e, wide, fma(e, large, t.splat(-0.5), small), small)
        denominator = _select(e, wide, fma(e, small, t.splat(0.5), large), large)
        ratios.append(e.let(f"fdiv {t.vector} {numerator}, {denominator}"))
        larger.append(large)
        turned.append((steep, wide))
    angles = _angles(e, ratios)
    results = [
        _in_octant(e, angle, steep, wide, pair)
        for angle, (steep, wide), pair in zip(angles, turned, pairs, strict=True)
    ]
    return _mended(e, results, larger, pairs)


def _in_octant(e: Emitter, angle: str, steep: str, wide: str, pair: tuple[str, str]) -> str:
    """Take an angle from the first octant to where its coordinates y and x are."""
    t = e.lanes
    y, x = pair
    bits = e.let(f"bitcast {t.vector} {x} to {t.integers}")
    backward = e.let(f"icmp slt {t.integers} {bits}, zeroinitializer")
    mirrored = e.let(f"xor <{t.width} x i1> {steep}, {backward}")
    more = e.let(f"fadd {t.vector} {angle}, {t.splat(ARCTANGENT_OF_HALF)}")
    angle = _select(e, wide, more, angle)
    angle = _select(e, mirrored, e.let(f"fneg {t.vector} {angle}"), angle)
    flat = _select(e, backward, t.splat(2.0), t.splat(0.0))
    quarters = _select(e, steep, t.splat(1.0), flat)
    head, tail = HALF_PI[t.dtype]
    rest = fma(e, quarters, t.splat(tail), angle)
    positive = fma(e, quarters, t.splat(head), rest)
    arguments = f"{t.vector} {positive}, {t.vector} {y}"
    return e.let(f"call {t.vector} @llvm.copysign.{t.suffix}({arguments})")


def _mended(
    e: Emitter, results: Sequence[str], larger: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> list[str]:
    """Replace the lanes whose larger side is no ordinary number."""
    t = e.lanes
    least, most = (t.pattern(v) for v in _ORDINARY[t.dtype])
    above = []
    for large in larger:
        bits = e.let(f"bitcast {t.vector} {large} to {t.integers}")
        above.append(e.let(f"sub {t.integers} {bits}, splat (i{t.bits} {least})"))
    most_above = above[0]
    for other in above[1:]:
        arguments = f"{t.integers} {most_above}, {t.integers} {other}"
        most_above = e.let(f"call {t.integers} @llvm.umax.v{t.width}i{t.bits}({arguments})")
    any_odd = e.let(f"icmp ne i{t.width} {_odd(e, most_above, most - least)}, 0")
    tag = e.fresh()[1:]
    e.do(f"br label %angle{tag}")
    e.label(f"angle{tag}")
    e.do(f"br i1 {any_odd}, label %special{tag}, label %mended{tag}, !prof !0")
    e.label(f"special{tag}")
    mended = []
    for result, own, (y, x) in zip(results, above, pairs, strict=True):
        lanes = f"i{t.width} {_odd(e, own, most - least)}"
        arguments = f"ptr %scratch, {lanes}, {t.vector} {result}, {t.vector} {y}, {t.vector} {x}"
        mended.append(e.let(f"call {t.vector} @special_atan2({arguments})"))
    e.do(f"br label %mended{tag}")
    e.label(f"mended{tag}")
    return [
        e.let(f"phi {t.vector} [ {a}, %special{tag} ], [ {b}, %angle{tag} ]")
        for a, b in zip(mended, results, strict=True)
    ]


def _odd(e: Emitter, above: str, span: int) -> str:
    """Return which lanes are not ordinary, a bit each."""
    t = e.lanes
    odd = e.let(f"icmp ugt {t.integers} {above}, splat (i{t.bits} {span})")
    return e.let(f"bitcast <{t.width} x i1> {odd} to i{t.width}")


def special_function(t: Lanes) -> str:
    """The cold path, ``@special_atan2(scratch, lanes, result, y, x)``; see `layout`."""
    wide = "fpext float {} to double" if t.bits == 32 else "fadd double {}, -0.0"
    down = "fptrunc double %angle to float" if t.bits == 32 else "fadd double %angle, -0.0"
    return f"""
define internal {t.vector} @special_atan2(ptr %scratch, i{t.width} %lanes, {t.vector} %result,
    {t.vector} %y, {t.vector} %x) noinline cold {{
entry:
  %place = getelementptr ptr, ptr %scratch, i64 2
  %atan2 = load ptr, ptr %place
  %mask = bitcast i{t.width} %lanes to <{t.width} x i1>
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %keep ]
  %sum = phi {t.vector} [ %result, %entry ], [ %kept, %keep ]
  %here = extractelement <{t.width} x i1> %mask, i32 %i
  br i1 %here, label %mend, label %keep
mend:
  %y_i = extractelement {t.vector} %y, i32 %i
  %x_i = extractelement {t.vector} %x, i32 %i
  %y_wide = {wide.format("%y_i")}
  %x_wide = {wide.format("%x_i")}
  %angle = call double %atan2(double %y_wide, double %x_wide)
  %narrow = {down}
  %filled = insertelement {t.vector} %sum, {t.scalar} %narrow, i32 %i
  br label %keep
keep:
  %kept = phi {t.vector} [ %sum, %loop ], [ %filled, %mend ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, {t.width}
  br i1 %more, label %loop, label %end
end:
  ret {t.vector} %kept
}}
"""


def _angles(e: Emitter, ratios: Sequence[str]) -> list[str]:
    """Emit the arctangents of ratios, none above `EDGE`."""
    t = e.lanes
    squares = [e.let(f"fmul {t.vector} {x}, {x}") for x in ratios]
    (values,) = polynomials(e, squares, ARCTANGENT[t.dtype])
    scaled = [e.let(f"fmul {t.vector} {x}, {z}") for x, z in zip(ratios, squares, strict=True)]
    return [fma(e, s, p, x) for s, p, x in zip(scaled, values, ratios, strict=True)]


def _select(e: Emitter, choice: str, yes: str, no: str) -> str:
    t = e.lanes
    return e.let(f"select <{t.width} x i1> {choice}, {t.vector} {yes}, {t.vector} {no}")


def _call(e: Emitter, name: str, x: str) -> str:
    t = e.lanes
    return e.let(f"call {t.vector} @llvm.{name}.{t.suffix}({t.vector} {x})")
