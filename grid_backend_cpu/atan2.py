"""The two-argument arctangent of vectors, in IR.

With a ≤ b the smaller and the larger of |y| and |x|, atan(a/b) comes from one division and a
polynomial (`grid_core.program.arctangent`); the octant says which multiple of π/4 is added. A
larger side that is no ordinary number (0, huge, tiny, infinite, NaN) takes a cold path through
the C library, lane by lane. Zeros keep their signs, and a NaN stays one. The result is within 2
units in the last place of the true one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.program.arctangent import ARCTANGENT, EDGE, MULTIPLES_OF_PI

if TYPE_CHECKING:
    from grid_backend_cpu.vector import Emitter, Lanes

__all__ = ["arctangent2", "special_function"]

_ORDINARY = {"float64": (2.0**-1000, 2.0**1000), "float32": (2.0**-100, 2.0**100)}
"""Of the larger side: no sum overflows, and a quotient of 0 is as good as the true one."""


def arctangent2(e: Emitter, y: str, x: str) -> str:
    """Emit atan2(y, x) in [-π, π]. Leaves the emitter in a new basic block."""
    t = e.lanes
    rise, run = _call(e, "fabs", y), _call(e, "fabs", x)
    steep = e.let(f"fcmp ogt {t.vector} {rise}, {run}")
    small, large = _select(e, steep, run, rise), _select(e, steep, rise, run)
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
    flat = _select(e, backward, t.splat(4.0), t.splat(0.0))
    diagonal = _select(e, backward, t.splat(3.0), t.splat(1.0))
    eighths = _select(e, wide, diagonal, _select(e, steep, t.splat(2.0), flat))
    head, tail = MULTIPLES_OF_PI[t.dtype][1]
    rest = _fma(e, eighths, t.splat(tail), angle)
    positive = _fma(e, eighths, t.splat(head), rest)
    result = e.let(
        f"call {t.vector} @llvm.copysign.{t.suffix}({t.vector} {positive}, {t.vector} {y})"
    )
    return _mended(e, result, large, y, x)


def _mended(e: Emitter, result: str, large: str, y: str, x: str) -> str:
    """Replace the lanes whose larger side is no ordinary number."""
    t = e.lanes
    least, most = (t.pattern(v) for v in _ORDINARY[t.dtype])
    bits = e.let(f"bitcast {t.vector} {large} to {t.integers}")
    above = e.let(f"sub {t.integers} {bits}, splat (i{t.bits} {least})")
    odd = e.let(f"icmp ugt {t.integers} {above}, splat (i{t.bits} {most - least})")
    mask = e.let(f"bitcast <{t.width} x i1> {odd} to i{t.width}")
    any_odd = e.let(f"icmp ne i{t.width} {mask}, 0")
    tag = e.fresh()[1:]
    e.do(f"br label %angle{tag}")
    e.label(f"angle{tag}")
    e.do(f"br i1 {any_odd}, label %special{tag}, label %mended{tag}, !prof !0")
    e.label(f"special{tag}")
    arguments = f"ptr %scratch, i{t.width} {mask}, {t.vector} {result}"
    mended = e.let(f"call {t.vector} @special_atan2({arguments}, {t.vector} {y}, {t.vector} {x})")
    e.do(f"br label %mended{tag}")
    e.label(f"mended{tag}")
    return e.let(f"phi {t.vector} [ {mended}, %special{tag} ], [ {result}, %angle{tag} ]")


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


def _polynomial(e: Emitter, ratio: str) -> str:
    t = e.lanes
    z = e.let(f"fmul {t.vector} {ratio}, {ratio}")
    *rest, highest = ARCTANGENT[t.dtype]
    value = t.splat(highest)
    for c in reversed(rest):
        value = _fma(e, value, z, t.splat(c))
    scaled = e.let(f"fmul {t.vector} {ratio}, {z}")
    return _fma(e, scaled, value, ratio)


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
