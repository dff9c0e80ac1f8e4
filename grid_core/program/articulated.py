"""Articulated-body inertia as a symbolic 6×6 matrix, [linear; angular]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.program.linalg import Rotation, Symmetric, Vec3
from grid_core.program.scalar import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ArticulatedInertia"]

Matrix = list[list[Value]]


class ArticulatedInertia:
    """f = I a with f = [force; moment] and a = [origin's acceleration; angular acceleration]."""

    def __init__(self, rows: Matrix) -> None:
        self.rows = rows

    @classmethod
    def rigid(cls, m: Value, h: Vec3, second: Symmetric) -> ArticulatedInertia:
        """A rigid body's own, from its m, h and Σ about the origin."""
        s = second
        H = ((0.0, -h.z, h.y), (h.z, 0.0, -h.x), (-h.y, h.x, 0.0))
        inertia = (
            (s.yy + s.zz, -s.xy, -s.xz),
            (-s.xy, s.xx + s.zz, -s.yz),
            (-s.xz, -s.yz, s.xx + s.yy),
        )
        rows: Matrix = [[0.0] * 6 for _ in range(6)]
        for i in range(3):
            rows[i][i] = m
            for j in range(3):
                rows[3 + i][j] = rows[j][3 + i] = H[i][j]
                rows[3 + i][3 + j] = inertia[i][j]
        return cls(rows)

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(
            [[a + b for a, b in zip(r, s, strict=True)]
             for r, s in zip(self.rows, other.rows, strict=True)]
        )  # fmt: skip

    def times(self, a: Sequence[Value]) -> list[Value]:
        """I a."""
        result: list[Value] = []
        for row in self.rows:
            total: Value = 0.0
            for x, y in zip(row, a, strict=True):
                total = total + x * y
            result.append(total)
        return result

    def projected(
        self, U: Sequence[Sequence[Value]], scaled: Sequence[Sequence[Value]], free: Sequence[int]
    ) -> ArticulatedInertia:
        """I - U D⁻¹ Uᵀ, for U = I S and scaled = D⁻¹ Uᵀ's rows.

        Args:
            U: columns of I S, each of 6.
            scaled: columns of U D⁻¹, each of 6.
            free: indices that S spans exactly; there the result is 0, which folding alone
                could not know.
        """
        rows: Matrix = [[0.0] * 6 for _ in range(6)]
        for i in range(6):
            for j in range(i + 1):
                if i in free or j in free:
                    continue
                total = self.rows[i][j]
                for u, s in zip(U, scaled, strict=True):
                    total = total - s[i] * u[j]
                rows[i][j] = rows[j][i] = total
        return ArticulatedInertia(rows)

    def seen_from_parent(self, R: Rotation, p: Vec3) -> ArticulatedInertia:
        """The same inertia about the parent's origin: x_parent = R x + p."""
        mass = _full(R.sandwich(_symmetric([row[:3] for row in self.rows[:3]])))
        inertia = _full(R.sandwich(_symmetric([row[3:] for row in self.rows[3:]])))
        H = _congruence(R, [row[:3] for row in self.rows[3:]])
        # a_child = a + α × p and n_parent = n + p × f: H gains p× M, and the inertia
        # H·(−p×) + p× Hᵀ − p× M p×.
        pM = _cross_columns(p, mass)
        shifted = [[H[i][j] + pM[i][j] for j in range(3)] for i in range(3)]
        Hp = _cross_columns(p, [list(row) for row in zip(*H, strict=True)])  # p× Hᵀ
        pMp = _cross_columns(p, [list(row) for row in zip(*pM, strict=True)])  # p×(p×M)ᵀ
        rows: Matrix = [[0.0] * 6 for _ in range(6)]
        for i in range(3):
            for j in range(3):
                rows[i][j] = mass[i][j]
                rows[3 + i][j] = rows[j][3 + i] = shifted[i][j]
            for j in range(i + 1):
                value = inertia[i][j] + (Hp[i][j] + Hp[j][i]) + pMp[i][j]
                rows[3 + i][3 + j] = rows[3 + j][3 + i] = value
        return ArticulatedInertia(rows)


def _symmetric(X: Matrix) -> Symmetric:
    return Symmetric(X[0][0], X[1][1], X[2][2], X[0][1], X[0][2], X[1][2])


def _full(s: Symmetric) -> Matrix:
    return [list(row) for row in s.rows()]


def _congruence(R: Rotation, X: Matrix) -> Matrix:
    """R X Rᵀ: columns turned, then rows."""
    columns = [R.apply(Vec3(X[0][j], X[1][j], X[2][j])) for j in range(3)]
    return [list(R.apply(Vec3(*(column[i] for column in columns)))) for i in range(3)]


def _cross_columns(p: Vec3, X: Matrix) -> Matrix:
    """p× X, column by column."""
    columns = [p.cross(Vec3(X[0][j], X[1][j], X[2][j])) for j in range(3)]
    return [[c[i] for c in columns] for i in range(3)]
