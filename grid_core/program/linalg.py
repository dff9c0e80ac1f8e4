"""Vectors, rotations and symmetric matrices of symbolic values.

Nothing here branches on a run-time value; zeros fold away in the scalars themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grid_core.program.scalar import Value

__all__ = ["ZERO3", "Rotation", "Rows", "Symmetric", "Vec3", "outer_symmetric"]


@frozen(repr=False, slots=True, eq=False)
class Vec3:
    """A 3-vector."""

    x: Value
    y: Value
    z: Value

    @classmethod
    def of(cls, values: Sequence[Value]) -> Vec3:
        """Make one of any three values (NumPy floats become plain ones)."""
        x, y, z = (v if not hasattr(v, "item") else v.item() for v in values)
        return cls(x, y, z)

    def __iter__(self) -> Iterator[Value]:
        return iter((self.x, self.y, self.z))

    def __getitem__(self, i: int) -> Value:
        return (self.x, self.y, self.z)[i]

    def __add__(self, o: Vec3) -> Vec3:
        return Vec3(self.x + o.x, self.y + o.y, self.z + o.z)

    def __sub__(self, o: Vec3) -> Vec3:
        return Vec3(self.x - o.x, self.y - o.y, self.z - o.z)

    def __neg__(self) -> Vec3:
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, k: Value) -> Vec3:
        return Vec3(self.x * k, self.y * k, self.z * k)

    __rmul__ = __mul__

    def dot(self, o: Vec3) -> Value:
        """Return self · o."""
        return self.x * o.x + self.y * o.y + self.z * o.z

    def cross(self, o: Vec3) -> Vec3:
        """Return self × o."""
        return Vec3(
            self.y * o.z - self.z * o.y,
            self.z * o.x - self.x * o.z,
            self.x * o.y - self.y * o.x,
        )

    def __repr__(self) -> str:
        return f"Vec3({self.x}, {self.y}, {self.z})"


ZERO3 = Vec3(0.0, 0.0, 0.0)

Rows = tuple[Vec3, Vec3, Vec3]
"""A 3×3 matrix, row by row."""


@frozen(repr=False, slots=True, eq=False)
class Symmetric:
    """A symmetric 3×3 matrix."""

    xx: Value
    yy: Value
    zz: Value
    xy: Value
    xz: Value
    yz: Value

    def __add__(self, o: Symmetric) -> Symmetric:
        return Symmetric(
            self.xx + o.xx,
            self.yy + o.yy,
            self.zz + o.zz,
            self.xy + o.xy,
            self.xz + o.xz,
            self.yz + o.yz,
        )

    def __sub__(self, o: Symmetric) -> Symmetric:
        return self + o.scaled(-1.0)

    def scaled(self, k: Value) -> Symmetric:
        """Return k · self."""
        return Symmetric(
            self.xx * k, self.yy * k, self.zz * k, self.xy * k, self.xz * k, self.yz * k
        )

    def rows(self) -> tuple[Vec3, Vec3, Vec3]:
        """The three rows."""
        return (
            Vec3(self.xx, self.xy, self.xz),
            Vec3(self.xy, self.yy, self.yz),
            Vec3(self.xz, self.yz, self.zz),
        )

    def times(self, v: Vec3) -> Vec3:
        """Return self · v."""
        return Vec3(*(row.dot(v) for row in self.rows()))

    def trace(self) -> Value:
        """Sum of the diagonal."""
        return self.xx + self.yy + self.zz


def outer_symmetric(a: Vec3, b: Vec3) -> Symmetric:
    """Return a bᵀ + b aᵀ."""
    return Symmetric(
        2.0 * (a.x * b.x),
        2.0 * (a.y * b.y),
        2.0 * (a.z * b.z),
        a.x * b.y + a.y * b.x,
        a.x * b.z + a.z * b.x,
        a.y * b.z + a.z * b.y,
    )


@frozen(repr=False, slots=True, eq=False)
class Rotation:
    """R = P · Rz(θ), or P · R(quaternion): a constant turn, then the joint's own.

    ``R v`` carries coordinates of the child to the parent. Kept factored: a turn about z costs
    four products where a full matrix costs nine, and P is mostly a signed permutation.
    """

    rows: tuple[Vec3, Vec3, Vec3]
    """P, constant."""
    cos: Value = 1.0
    sin: Value = 0.0
    own: tuple[Vec3, Vec3, Vec3] | None = None
    """The joint's rotation as a matrix, in place of the turn about z."""

    def apply(self, v: Vec3) -> Vec3:
        """R v: child to parent."""
        if self.own is not None:
            v = Vec3(*(row.dot(v) for row in self.own))
        else:
            v = Vec3(self.cos * v.x - self.sin * v.y, self.sin * v.x + self.cos * v.y, v.z)
        return Vec3(*(row.dot(v) for row in self.rows))

    def apply_t(self, v: Vec3) -> Vec3:
        """Rᵀ v: parent to child."""
        a, b, c = self.rows
        v = a * v.x + b * v.y + c * v.z
        if self.own is not None:
            a, b, c = self.own
            return a * v.x + b * v.y + c * v.z
        return Vec3(self.cos * v.x + self.sin * v.y, self.cos * v.y - self.sin * v.x, v.z)

    def sandwich(self, s: Symmetric) -> Symmetric:
        """R s Rᵀ."""
        s = _sandwich(self.own, s) if self.own is not None else self._turn(s)
        return _sandwich(self.rows, s)

    def _turn(self, s: Symmetric) -> Symmetric:
        c, n = self.cos, self.sin
        difference = s.xx - s.yy
        cs, nn = c * n, n * n
        moved = nn * difference + (cs + cs) * s.xy
        return Symmetric(
            s.xx - moved,
            s.yy + moved,
            s.zz,
            cs * difference + (1.0 - (nn + nn)) * s.xy,
            c * s.xz - n * s.yz,
            n * s.xz + c * s.yz,
        )

    def conjugate(self, x: Rows) -> Rows:
        """R x Rᵀ of any matrix, as rows."""
        x = _conjugate(self.own, x) if self.own is not None else self._turn_about(x)
        return _conjugate(self.rows, x)

    def _turn_about(self, x: Rows) -> Rows:
        c, n = self.cos, self.sin
        a, b, d = x
        # Only the symmetric, traceless part of the upper block turns, by twice the angle.
        difference, both = a.x - b.y, a.y + b.x
        cs, nn = c * n, n * n
        diagonal = nn * difference + cs * both
        across = cs * difference - nn * both
        return (
            Vec3(a.x - diagonal, a.y + across, c * a.z - n * b.z),
            Vec3(b.x + across, b.y + diagonal, n * a.z + c * b.z),
            Vec3(c * d.x - n * d.y, n * d.x + c * d.y, d.z),
        )

    def matrix(self) -> tuple[Vec3, Vec3, Vec3]:
        """R as rows."""
        columns = [self.apply(e) for e in _UNIT]
        return (
            Vec3(*(c.x for c in columns)),
            Vec3(*(c.y for c in columns)),
            Vec3(*(c.z for c in columns)),
        )


_UNIT = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))


def _sandwich(rows: tuple[Vec3, Vec3, Vec3], s: Symmetric) -> Symmetric:
    # R s Rᵀ, columns of (s Rᵀ) first; each is shared by the entries that need it.
    t = [s.times(row) for row in rows]
    return Symmetric(
        rows[0].dot(t[0]),
        rows[1].dot(t[1]),
        rows[2].dot(t[2]),
        rows[0].dot(t[1]),
        rows[0].dot(t[2]),
        rows[1].dot(t[2]),
    )


def _conjugate(rows: Rows, x: Rows) -> Rows:
    # Columns of (x Rᵀ) first, as in `_sandwich`.
    t = [Vec3(*(line.dot(row) for line in x)) for row in rows]
    a, b, c = (Vec3(*(row.dot(column) for column in t)) for row in rows)
    return a, b, c
