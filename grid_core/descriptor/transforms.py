"""Invariants of placements, and what a difference of two placements is in words."""

from __future__ import annotations

import math
from typing import TypeAlias

from grid_core.errors import DescriptorError

__all__ = ["IDENTITY", "TOLERANCE", "Rows", "check_transform", "rotation_angle"]

Rows: TypeAlias = list[list[float]]

IDENTITY: Rows = [[1.0 if i == j else 0.0 for j in range(4)] for i in range(4)]

TOLERANCE = 1e-9
"""How far a unit vector's length may be from 1, and RᵀR from the identity."""


def check_transform(T: Rows, where: str) -> None:
    """Raise `DescriptorError` unless T is [R, p; 0, 1] with a proper rotation R."""
    problem = None
    columns = [[T[i][j] for i in range(3)] for j in range(3)]
    if T[3] != IDENTITY[3]:
        problem = f"its last row is [0, 0, 0, 1]; got {T[3]}"
    elif not all(
        abs(_dot(columns[i], columns[j]) - IDENTITY[i][j]) <= TOLERANCE  # False of NaN as well
        for i in range(3)
        for j in range(3)
    ):
        problem = "its 3 by 3 block is no rotation: the columns are not orthonormal"
    elif _dot(_cross(columns[0], columns[1]), columns[2]) < 0.0:
        problem = "its 3 by 3 block is a reflection, not a rotation"
    if problem is not None:
        raise DescriptorError(problem, where=where, invariant="proper rotation")


def rotation_angle(A: Rows, B: Rows) -> float:
    """Return the angle of AᵀB, accurate also near 0 and π [rad]."""
    R = [[sum(A[k][i] * B[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    sine = math.hypot(R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1])
    return math.atan2(sine, R[0][0] + R[1][1] + R[2][2] - 1.0)


def _dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _cross(a: list[float], b: list[float]) -> list[float]:
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
