"""Sine and cosine of a vector, in IR.

The reduction and the polynomials of `grid_core.program.trigonometry`; the quadrant decides
which polynomial is which. Angles past its range take a cold path through the C library, lane
by lane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_backend_cpu.polynomial import fma, polynomials
from grid_core.program.trigonometry import (
    COSINE_FROM_ONE,
    FAR_LIMIT,
    MAGIC,
    PI_HALF,
    SINE,
    TWO_OVER_PI,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_backend_cpu.vector import Emitter, Lanes

__all__ = ["far_functions", "sines_and_cosines", "within_reach"]


def within_reach(e: Emitter, angles: Sequence[str]) -> list[str]:
    """Return the angles, far ones as the same angle in [-π, π]; one branch for all of them.

    What is near stays as it is to the last bit, whatever the lanes beside it hold. Leaves the
    emitter in a new basic block.
    """
    t = e.lanes
    if not angles:
        return []
    tag = e.fresh()[1:]
    # The sum of their squares is cheaper than a look at each, and no smaller than any.
    squares = e.let(f"fmul {t.vector} {angles[0]}, {angles[0]}")
    for x in angles[1:]:
        squares = fma(e, x, x, squares)
    far = e.let(f"fcmp ugt {t.vector} {squares}, {t.splat(FAR_LIMIT[t.dtype] ** 2)}")
    mask = e.let(f"bitcast <{t.width} x i1> {far} to i{t.width}")
    any_far = e.let(f"icmp ne i{t.width} {mask}, 0")
    e.do(f"br label %reach{tag}")
    e.label(f"reach{tag}")
    e.do(f"br i1 {any_far}, label %wrap{tag}, label %wrapped{tag}, !prof !0")
    e.label(f"wrap{tag}")
    turned = [e.let(f"call {t.vector} @wrap(ptr %scratch, {t.vector} {x})") for x in angles]
    e.do(f"br label %wrapped{tag}")
    e.label(f"wrapped{tag}")
    return [
        e.let(f"phi {t.vector} [ {a}, %wrap{tag} ], [ {b}, %reach{tag} ]")
        for a, b in zip(turned, angles, strict=True)
    ]


def sines_and_cosines(e: Emitter, angles: Sequence[str]) -> list[tuple[str, str]]:
    """Emit sin(x) and cos(x) of angles that are within reach.

    Step by step for all of them: what waits for one is filled by the others.
    """
    t = e.lanes
    magic = t.splat(MAGIC[t.dtype])
    shifted = [fma(e, x, t.splat(TWO_OVER_PI), magic) for x in angles]
    turns = [e.let(f"fsub {t.vector} {x}, {magic}") for x in shifted]
    r = list(angles)
    for part in PI_HALF[t.dtype]:
        r = [fma(e, k, t.splat(-part), x) for k, x in zip(turns, r, strict=True)]
    z = [e.let(f"fmul {t.vector} {x}, {x}") for x in r]
    rz = [e.let(f"fmul {t.vector} {x}, {y}") for x, y in zip(r, z, strict=True)]
    inner, cosine = polynomials(e, z, SINE[t.dtype], (1.0, *COSINE_FROM_ONE[t.dtype]))
    sine = [fma(e, y, p, x) for x, y, p in zip(r, rz, inner, strict=True)]
    turn = _turned if t.permutes else _quadrant
    return [turn(e, *each) for each in zip(shifted, sine, cosine, strict=True)]


def _turned(e: Emitter, shifted: str, sine: str, cosine: str) -> tuple[str, str]:
    """Turn by the quadrant: exact, as its own sine and cosine are 0 and ±1."""
    t = e.lanes
    bits = e.let(f"bitcast {t.vector} {shifted} to {t.integers}")
    kind = f"{'df' if t.bits == 64 else 'sf'}.512"
    own = []
    # With -0.0 a sine of -0.0 stays one.
    for values in ((-0.0, 1.0, 0.0, -1.0), (1.0, 0.0, -1.0, 0.0)):
        table = ", ".join(f"{t.scalar} {t.literal(v)}" for v in values * (t.width // 4))
        own.append(
            e.let(
                f"call {t.vector} @llvm.x86.avx512.permvar.{kind}("
                f"{t.vector} <{table}>, {t.integers} {bits})"
            )
        )
    opposite = e.let(f"fneg {t.vector} {own[0]}")
    return (
        fma(e, own[1], sine, e.let(f"fmul {t.vector} {own[0]}, {cosine}")),
        fma(e, opposite, sine, e.let(f"fmul {t.vector} {own[1]}, {cosine}")),
    )


def _quadrant(e: Emitter, shifted: str, sine: str, cosine: str) -> tuple[str, str]:
    t = e.lanes
    bits = e.let(f"bitcast {t.vector} {shifted} to {t.integers}")
    top = f"splat (i{t.bits} {t.bits - 1})"
    odd_bit = e.let(f"shl {t.integers} {bits}, {top}")
    odd = e.let(f"icmp slt {t.integers} {odd_bit}, zeroinitializer")
    sin_abs = e.let(f"select <{t.width} x i1> {odd}, {t.vector} {cosine}, {t.vector} {sine}")
    cos_abs = e.let(f"select <{t.width} x i1> {odd}, {t.vector} {sine}, {t.vector} {cosine}")
    next_bits = e.let(f"add {t.integers} {bits}, splat (i{t.bits} 1)")
    return _signed(e, sin_abs, bits), _signed(e, cos_abs, next_bits)


def _signed(e: Emitter, value: str, bits: str) -> str:
    """Flip the sign where bit 1 of the quadrant is set."""
    t = e.lanes
    moved = e.let(f"shl {t.integers} {bits}, splat (i{t.bits} {t.bits - 2})")
    flip = e.let(f"and {t.integers} {moved}, splat (i{t.bits} {-(1 << (t.bits - 1))})")
    raw = e.let(f"bitcast {t.vector} {value} to {t.integers}")
    flipped = e.let(f"xor {t.integers} {raw}, {flip}")
    return e.let(f"bitcast {t.integers} {flipped} to {t.vector}")


def far_functions(t: Lanes) -> str:
    """The cold path, through the C library, lane by lane.

    ``@wrap(scratch, x)`` turns far angles into [-π, π] as atan2(sin x, cos x), which errs by an
    ulp of π. The scratch block begins with the addresses of sin, cos and atan2, so that compiled
    code holds no symbol that a loader must find.
    """
    up = "fpext float %x to double" if t.bits == 32 else "fadd double %x, 0.0"
    down = "fptrunc double %y to float" if t.bits == 32 else "fadd double %y, 0.0"
    return f"""
define internal {t.vector} @wrap(ptr %scratch, {t.vector} %v) noinline cold {{
entry:
  %cos_place = getelementptr ptr, ptr %scratch, i64 1
  %atan2_place = getelementptr ptr, ptr %scratch, i64 2
  %sin = load ptr, ptr %scratch
  %cos = load ptr, ptr %cos_place
  %atan2 = load ptr, ptr %atan2_place
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %keep ]
  %sum = phi {t.vector} [ %v, %entry ], [ %kept, %keep ]
  %x = extractelement {t.vector} %v, i32 %i
  %size = call {t.scalar} @llvm.fabs.f{t.bits}({t.scalar} %x)
  %far = fcmp ogt {t.scalar} %size, {t.literal(FAR_LIMIT[t.dtype])}
  br i1 %far, label %turn, label %keep
turn:
  %wide = {up}
  %s = call double %sin(double %wide)
  %c = call double %cos(double %wide)
  %y = call double %atan2(double %s, double %c)
  %narrow = {down}
  %filled = insertelement {t.vector} %sum, {t.scalar} %narrow, i32 %i
  br label %keep
keep:
  %kept = phi {t.vector} [ %sum, %loop ], [ %filled, %turn ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, {t.width}
  br i1 %more, label %loop, label %end
end:
  ret {t.vector} %kept
}}
"""
