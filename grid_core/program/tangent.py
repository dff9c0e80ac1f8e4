"""From tangent coordinates to those of a configuration: q's rate of change along v.

A quaternion moves by q̇ = ½ q ⊗ (ω, 0), ω in its own frame; a floating joint's position by
ṗ = R v; everything else by v. So derivatives by q's entries become derivatives along the
manifold (`grid_core.model.configuration.integrate`), by the chain rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.model.types import JointKind, RobotModel
from grid_core.program.motion import quaternion_matrix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grid_core.program.scalar import Value

__all__ = ["along_tangent", "onto_tangent"]

Entry = tuple[int, int, "Value"]
"""Place in q, place in v, and ∂q̇/∂v."""


def along_tangent(model: RobotModel, q: Sequence[Value], v: Sequence[Value]) -> list[Value]:
    """q̇ (nq) for a rate v (nv) at a configuration q (nq) of unit quaternions."""
    result: list[Value] = [0.0] * model.nq
    for row, column, slope in _entries(model, q):
        result[row] = result[row] + v[column] * slope
    return result


def onto_tangent(model: RobotModel, q: Sequence[Value], slopes: Sequence[Value]) -> list[Value]:
    """Derivatives along the tangent (nv), from those by q's entries (nq)."""
    result: list[Value] = [0.0] * model.nv
    for row, column, slope in _entries(model, q):
        result[column] = result[column] + slopes[row] * slope
    return result


def _entries(model: RobotModel, q: Sequence[Value]) -> Iterator[Entry]:
    for joint in model.joints:
        at, start = joint.q_start, joint.v_start
        if at is None or start is None:
            continue
        if joint.kind is JointKind.FLOATING:
            R = quaternion_matrix(*q[at + 3 : at + 7])
            yield from ((at + i, start + k, R[i][k]) for i in range(3) for k in range(3))
            at, start = at + 3, start + 3
        elif joint.kind is not JointKind.SPHERICAL:
            yield at, start, 1.0
            continue
        x, y, z, w = (0.5 * c for c in q[at : at + 4])
        rows = ((w, -z, y), (z, w, -x), (-y, x, w), (-x, -y, -z))
        for i, row in enumerate(rows):
            yield from ((at + i, start + k, slope) for k, slope in enumerate(row))
