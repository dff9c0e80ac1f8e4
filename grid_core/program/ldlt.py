"""M = Lᵀ D L over symbolic values, from the leaves to the root.

In that order no entry fills in outside the branches (Featherstone 2008, Section 6.5), and
zeros fold, so the factorisation of a branched robot costs only its branches. Mimic joints may
couple branches; the fill they cause is followed as it appears.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from grid_core.program.regions import TRUNK, within
from grid_core.program.scalar import Value, is_zero

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

__all__ = ["LTDL"]


class LTDL:
    """The factors of a symmetric positive definite matrix of symbolic values.

    Args:
        M: square, nested sequence or object array; only the lower triangle is read.
        regions: limb of each row (`grid_core.program.regions`), if what is traced is to be
            marked with it. What a limb takes from the trunk's rows is then summed up by the
            limb first.
    """

    def __init__(self, M: Any, regions: Sequence[int] | None = None) -> None:
        n = len(M)
        H: list[list[Value]] = [[M[i][j] for j in range(i + 1)] for i in range(n)]
        self.n = n
        self.regions = None if regions is None else list(regions)
        self.lower: list[list[tuple[int, Value]]] = [[] for _ in range(n)]
        """Row i: the entries (j, L_ij) below the diagonal that are not 0."""
        self.inverse_pivots: list[Value] = [0.0] * n
        """1 / D_i."""
        shares = _Shares(self.regions)
        for k in reversed(range(n)):
            with shares.row(k):
                self._eliminate(H, k, shares)

    def _eliminate(self, H: list[list[Value]], k: int, shares: _Shares) -> None:
        for j in range(k + 1):
            H[k][j] = H[k][j] - shares.of((k, j))
        inverse = 1.0 / H[k][k]
        self.inverse_pivots[k] = inverse
        filled = [j for j in range(k) if not is_zero(H[k][j])]
        for i in filled:
            factor = H[k][i] * inverse
            for j in filled:
                if j <= i:
                    taken = factor * H[k][j]
                    if not shares.keep(k, i, (i, j), taken):
                        H[i][j] = H[i][j] - taken
            self.lower[k].append((i, factor))

    def solve(self, b: Sequence[Value], column: int | None = None) -> list[Value]:
        """M⁻¹ b.

        Args:
            b: right-hand side.
            column: region that the right-hand side belongs to, where there are many: a limb's
                own, which then works on the trunk's rows itself, or `TRUNK`.
        """
        shares = _Shares(self.regions, column)
        x = list(b)
        for i in reversed(range(self.n)):
            with shares.row(i):
                x[i] = x[i] - shares.of(i)
                for j, factor in self.lower[i]:
                    taken = factor * x[i]
                    if not shares.keep(i, j, j, taken):
                        x[j] = x[j] - taken
        for i in range(self.n):
            with shares.row(i):
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


class _Shares:
    """Whose work each row is, and what limbs take from the trunk's rows, one sum a limb."""

    def __init__(self, regions: Sequence[int] | None, column: int | None = None) -> None:
        self._regions = regions
        self._column = column
        self._taken: dict[Any, dict[int, Value]] = {}

    def row(self, k: int) -> AbstractContextManager[None]:
        """Mark what is traced inside as the work of row k."""
        if self._regions is None:
            return nullcontext()
        region, column = self._regions[k], self._column
        if column is None:
            return within(region)
        return within(column if region == TRUNK else region, firm=True)

    def keep(self, k: int, row: int, entry: Any, taken: Value) -> bool:
        """Keep what row k takes from an entry of another region's row; False if it is its own."""
        regions = self._regions
        if regions is None or regions[k] == regions[row] or self._column not in (None, TRUNK):
            return False
        sums = self._taken.setdefault(entry, {})
        sums[regions[k]] = sums.get(regions[k], 0.0) + taken
        return True

    def of(self, entry: Any) -> Value:
        """All that was taken from an entry."""
        total: Value = 0.0
        for share in self._taken.pop(entry, {}).values():
            total = total + share
        return total
