"""Polynomials of vectors, in IR: in several arguments side by side, so that none is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_backend_cpu.vector import Emitter

__all__ = ["fma", "polynomials"]


def fma(e: Emitter, a: str, b: str, c: str) -> str:
    """Emit a b + c, rounded once."""
    t = e.lanes
    arguments = ", ".join(f"{t.vector} {x}" for x in (a, b, c))
    return e.let(f"call {t.vector} @llvm.fma.{t.suffix}({arguments})")


def polynomials(e: Emitter, z: Sequence[str], *sets: tuple[float, ...]) -> list[list[str]]:
    """Emit polynomials in each z, side by side; one list for each set of coefficients."""
    values = [[e.lanes.splat(c[-1])] * len(z) for c in sets]
    longest = max(map(len, sets))
    for step in range(longest - 1, 0, -1):
        for own, coefficients in zip(values, sets, strict=True):
            at = step - 1 - (longest - len(coefficients))
            if at >= 0:
                constant = e.lanes.splat(coefficients[at])
                own[:] = [fma(e, v, x, constant) for v, x in zip(own, z, strict=True)]
    return values
