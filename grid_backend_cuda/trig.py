"""Sine and cosine as statements: the arithmetic of the CPU backend, see there for its error.

π/2 in three parts under FMA, minimax polynomials, a choice by quadrant: no branch on the way.
Angles past the range go through one function that is not inlined, so that the library's long
reduction is neither in the instruction stream nor in the registers of the rest. Where a program
takes its angles from its inputs, one look at all of them comes first: a branch at each would keep
the compiler from computing one angle beside the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.program.trigonometry import COSINE, MAGIC, PI_HALF, SINE, TWO_OVER_PI

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_backend_cuda.emit import Real

__all__ = ["far_functions", "quadrant_statements", "reach_statements"]


def _horner(real: Real, z: str, coefficients: Sequence[float]) -> str:
    *rest, highest = coefficients
    text = real.literal(highest)
    for c in reversed(rest):
        text = f"({text} * {z} + {real.literal(c)})"
    return text


def quadrant_statements(real: Real, x: str, tag: str, *, near: bool = False) -> list[str]:
    """Declare ``{tag}_sin`` and ``{tag}_cos`` of the expression x, known to be near or not."""
    T, d = real.name, real.dtype
    bits, cast = real.bits
    one, half = real.literal(1.0), real.literal(-0.5)
    r = f"{tag}_x"
    reduced = r
    lines = [
        f"const {T} {tag}_x = {x};",
        f"const {T} {tag}_m = {r} * {real.literal(TWO_OVER_PI)} + {real.literal(MAGIC[d])};",
        f"const {T} {tag}_k = {tag}_m - {real.literal(MAGIC[d])};",
    ]
    for i, part in enumerate(PI_HALF[d]):
        lines.append(f"const {T} {tag}_r{i} = {tag}_k * {real.literal(-part)} + {reduced};")
        reduced = f"{tag}_r{i}"
    sine, cosine = (_horner(real, f"{tag}_z", table[d]) for table in (SINE, COSINE))
    lines += [
        f"const {T} {tag}_z = {reduced} * {reduced};",
        f"const {T} {tag}_s = {reduced} * {tag}_z * {sine} + {reduced};",
        f"const {T} {tag}_c = {tag}_z * {tag}_z * {cosine} + ({tag}_z * {half} + {one});",
        f"const {bits} {tag}_q = {cast}({tag}_m);",
        f"{T} {tag}_sin = ({tag}_q & 1) ? {tag}_c : {tag}_s;",
        f"{T} {tag}_cos = ({tag}_q & 1) ? {tag}_s : {tag}_c;",
        f"{tag}_sin = ({tag}_q & 2) ? -{tag}_sin : {tag}_sin;",
        f"{tag}_cos = (({tag}_q + 1) & 2) ? -{tag}_cos : {tag}_cos;",
    ]
    if not near:
        far = _is_far(real, r)
        lines.append(
            f"if ({far}) {{ {tag}_sin = grid_far_sin({r}); {tag}_cos = grid_far_cos({r}); }}"
        )
    return lines


def reach_statements(real: Real, angles: Sequence[str]) -> list[str]:
    """Bring a row's angles within reach, in place, where one of them is not.

    Lanes past the end share their row with another, which does it.
    """
    if not angles:
        return []
    far = " | ".join(_is_far(real, x) for x in angles)
    nearer = " ".join(f"{x} = grid_near({x});" for x in angles)
    return [f"if (lane < rows) if ({far}) {{ {nearer} }}", "__syncwarp();"]


def _is_far(real: Real, x: str) -> str:
    return f"(fabs{'f' if real.dtype == 'float32' else ''}({x}) > {real.far_limit})"


def far_functions(real: Real) -> str:
    """The cold path, by the device's own library."""
    T, f = real.name, "f" if real.dtype == "float32" else ""
    return (
        f"static __device__ __noinline__ {T} grid_far_sin({T} x) {{ return sin{f}(x); }}\n"
        f"static __device__ __noinline__ {T} grid_far_cos({T} x) {{ return cos{f}(x); }}\n"
        f"static __device__ __noinline__ {T} grid_near({T} x) "
        f"{{ return atan2{f}(sin{f}(x), cos{f}(x)); }}"
    )
