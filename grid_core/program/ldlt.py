"""M = Lᵀ D L over symbolic values, from the leaves to the root.

In that order no entry fills in outside the branches (Featherstone 2008, Section 6.5), and
zeros fold, so the factorisation of a branched robot costs only its branches. Mimic joints may
couple branches; the fill they cause is followed as it appears.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grid_core.program.scalar import Value, is_zero

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LTDL"]


class LTDL:
    """The factors of a symmetric positive definite matrix of symbolic values.

    Args:
        M: square, nested sequence or object array; only the lower triangle is read.
    """

    def __init__(self, M: Any) -> None:
        n = len(M)
        H: list[list[Value]] = [[M[i][j] for j in range(i + 1)] for i in range(n)]
        self.n = n
        self.lower: list[list[tuple[int, Value]]] = [[] for _ in range(n)]
        """Row i: the entries (j, L_ij) below the diagonal that are not 0."""
        self.inverse_pivots: list[Value] = [0.0] * n
        """1 / D_i."""
        for k in reversed(range(n)):
            self._eliminate(H, k)

    def _eliminate(self, H: list[list[Value]], k: int) -> None:
        inverse = 1.0 / H[k][k]
        self.inverse_pivots[k] = inverse
        filled = [j for j in range(k) if not is_zero(H[k][j])]
        for i in filled:
            factor = H[k][i] * inverse
            for j in filled:
                if j <= i:
                    H[i][j] = H[i][j] - factor * H[k][j]
            self.lower[k].append((i, factor))

    def solve(self, b: Sequence[Value]) -> list[Value]:
        """M⁻¹ b."""
        x = list(b)
        for i in reversed(range(self.n)):
            for j, factor in self.lower[i]:
                x[j] = x[j] - factor * x[i]
        for i in range(self.n):
            x[i] = x[i] * self.inverse_pivots[i]
            for j, factor in self.lower[i]:
                x[i] = x[i] - factor * x[j]
        return x

    def inverse(self) -> list[list[Value]]:
        """M⁻¹ in full: L⁻¹ D⁻¹ L⁻ᵀ."""
        n = self.n
        W: list[list[Value]] = [[0.0] * n for _ in range(n)]  # L⁻¹, unit lower triangular
        for i in range(n):
            W[i][i] = 1.0
            for j, factor in self.lower[i]:
                for k in range(j + 1):
                    if not is_zero(W[j][k]):
                        W[i][k] = W[i][k] - factor * W[j][k]
        scaled = [[W[i][k] * self.inverse_pivots[k] for k in range(i + 1)] for i in range(n)]
        result: list[list[Value]] = [[0.0] * n for _ in range(n)]
        for i in range(n):
            for j in range(i + 1):
                total: Value = 0.0
                for k in range(j + 1):
                    if not is_zero(W[j][k]) and not is_zero(scaled[i][k]):
                        total = total + scaled[i][k] * W[j][k]
                result[i][j] = result[j][i] = total
        return result
