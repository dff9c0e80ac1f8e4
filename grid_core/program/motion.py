"""Joint motion on the canonical tree: poses, rates, and folding back to coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.model.types import JointKind
from grid_core.program.linalg import ZERO3, Rotation, Vec3
from grid_core.program.regions import TRUNK
from grid_core.program.scalar import Value, cos, sign, sin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.program.tree import KinematicTree, Node

__all__ = [
    "Posture",
    "Rate",
    "body_placements",
    "columns",
    "fold_forces",
    "joint_dynamics",
    "joint_position",
    "postures",
    "project",
    "quaternion_matrix",
    "rates",
    "row_regions",
    "scalar_rate",
]


@frozen(eq=False)
class Posture:
    """Pose of a node in its parent: x_parent = R x_node + p."""

    R: Rotation
    p: Vec3


@frozen(eq=False)
class Rate:
    """A joint's velocity (or acceleration) as its node sees it."""

    angular: Vec3
    linear: Vec3


def joint_position(node: Node, q: Sequence[Value]) -> Value:
    """Scalar joint position, mimic relation applied."""
    mimic = node.joint.mimic
    if mimic is None:
        assert node.joint.q_start is not None
        return q[node.joint.q_start]
    return mimic.multiplier * q[_leader(node, "q_start")] + mimic.offset


def _leader(node: Node, start: str) -> int:
    assert node.leader is not None
    index: int = getattr(node.leader, start)
    return index


def quaternion_matrix(x: Value, y: Value, z: Value, w: Value) -> tuple[Vec3, Vec3, Vec3]:
    """Rotation matrix of a unit quaternion, as rows."""
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return (
        Vec3(1.0 - (yy + zz), xy - wz, xz + wy),
        Vec3(xy + wz, 1.0 - (xx + zz), yz - wx),
        Vec3(xz - wy, yz + wx, 1.0 - (xx + yy)),
    )


def postures(tree: KinematicTree, q: Sequence[Value]) -> list[Posture]:
    """Pose of every node in its parent node at configuration q (nq)."""
    return [_posture(node, q) for node in tree.outward()]


def _posture(node: Node, q: Sequence[Value]) -> Posture:
    kind, P, p = node.joint.kind, node.rotation, node.position
    constant = Rotation(P)
    start = node.joint.q_start
    if kind is JointKind.SPHERICAL:
        assert start is not None
        return Posture(Rotation(P, own=quaternion_matrix(*q[start : start + 4])), p)
    if kind is JointKind.FLOATING:
        assert start is not None
        own = quaternion_matrix(*q[start + 3 : start + 7])
        return Posture(Rotation(P, own=own), p + constant.apply(Vec3(*q[start : start + 3])))
    s = joint_position(node, q)
    if kind is JointKind.PRISMATIC:
        return Posture(constant, p + constant.apply(node.axis * s))
    if kind is JointKind.HELICAL:
        p = p + constant.apply(Vec3(0.0, 0.0, node.joint.pitch * s))
    return Posture(Rotation(P, cos(s), sin(s)), p)


def rates(tree: KinematicTree, v: Sequence[Value]) -> list[Rate]:
    """S·v of every node, in its own frame, from a velocity-like vector v (nv)."""
    return [_rate(node, v) for node in tree.outward()]


def scalar_rate(node: Node, v: Sequence[Value]) -> Value:
    """Rate of a joint of one degree of freedom, mimic relation applied."""
    mimic = node.joint.mimic
    if mimic is None:
        assert node.joint.v_start is not None
        return v[node.joint.v_start]
    return mimic.multiplier * v[_leader(node, "v_start")]


def _rate(node: Node, v: Sequence[Value]) -> Rate:
    kind, start = node.joint.kind, node.joint.v_start
    if kind is JointKind.SPHERICAL:
        assert start is not None
        return Rate(Vec3(*v[start : start + 3]), ZERO3)
    if kind is JointKind.FLOATING:
        assert start is not None
        return Rate(Vec3(*v[start + 3 : start + 6]), Vec3(*v[start : start + 3]))
    rate = scalar_rate(node, v)
    if kind is JointKind.PRISMATIC:
        return Rate(ZERO3, node.axis * rate)
    return Rate(Vec3(0.0, 0.0, rate), Vec3(0.0, 0.0, node.joint.pitch * rate))


def project(node: Node, force: Vec3, moment: Vec3) -> list[Value]:
    """Sᵀ f: what a spatial force on the node does along its joint's coordinates."""
    kind = node.joint.kind
    if kind is JointKind.SPHERICAL:
        return list(moment)
    if kind is JointKind.FLOATING:
        return [*force, *moment]
    if kind is JointKind.PRISMATIC:
        return [node.axis.dot(force)]
    return [moment.z + node.joint.pitch * force.z]


def fold_forces(tree: KinematicTree, forces: Sequence[Sequence[Value]]) -> list[Value]:
    """Gᵀτ: add each node's joint forces into the independent coordinates (nv)."""
    result: list[Value] = [0.0] * tree.model.nv
    for node, own in zip(tree.nodes, forces, strict=True):
        for index, (column, multiplier) in enumerate(columns(node)):
            result[column] = result[column] + multiplier * own[index]
    return result


def columns(node: Node) -> list[tuple[int, float]]:
    """The independent velocity entries that move a node's joint, with their multipliers."""
    start, mimic = node.joint.v_start, node.joint.mimic
    if mimic is not None:
        return [(_leader(node, "v_start"), mimic.multiplier)]
    assert start is not None
    return [(start + k, 1.0) for k in range(node.joint.nv)]


def row_regions(tree: KinematicTree) -> list[int]:
    """Region of each velocity entry: that of the joint that owns it."""
    result = [TRUNK] * tree.model.nv
    for node in tree.nodes:
        if node.leader is None:
            for row, _ in columns(node):
                result[row] = tree.regions[node.index]
    return result


def joint_dynamics(tree: KinematicTree, qd: Sequence[Value]) -> list[list[Value]]:
    """Damping and Coulomb friction of every node's joint: d·q̇ + f·sign(q̇)."""
    result = []
    for node in tree.outward():
        joint = node.joint
        own = [multiplier * qd[column] for column, multiplier in columns(node)]
        result.append([joint.damping * r + joint.friction * sign(r) for r in own])
    return result


def body_placements(tree: KinematicTree, q: Sequence[Value]) -> list[tuple[list[Vec3], Vec3]]:
    """World placement of every node: (rows of R_world_node, origin [m] in the world)."""
    placed: list[tuple[list[Vec3], Vec3]] = []
    for node, posture in zip(tree.outward(), postures(tree, q), strict=True):
        rows = posture.R.matrix()
        if node.parent < 0:
            placed.append((list(rows), posture.p))
            continue
        above, origin = placed[node.parent]
        turned = [rows[0] * r.x + rows[1] * r.y + rows[2] * r.z for r in above]
        shift = Vec3(*(r.dot(posture.p) for r in above))
        placed.append((turned, origin + shift))
    return placed
