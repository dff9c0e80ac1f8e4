"""Poses as quaternions over symbolic scalars: a chain of half-angle turns.

A matrix's quaternion cannot be had without choosing among its entries, so this composes
quaternions all along. It is as accurate at every rotation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from grid_core.model.types import JointKind
from grid_core.program.linalg import ZERO3, Vec3
from grid_core.program.motion import joint_position
from grid_core.program.scalar import Scalar, cos, maximum, sign, sin, sqrt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.model.types import Array, Frame
    from grid_core.program.scalar import Value
    from grid_core.program.tree import KinematicTree, Node

__all__ = ["Quaternion", "QuaternionPose", "frame_pose"]


@frozen(eq=False)
class Quaternion:
    """A unit quaternion x i + y j + z k + w."""

    v: Vec3
    w: Value

    @classmethod
    def of(cls, R: Array) -> Quaternion:
        """Return the quaternion of a rotation matrix, of numbers or of a program's inputs."""
        if _symbolic(R):
            return cls._of_symbolic(R)
        R = np.asarray(R, dtype=np.float64)
        # The eigenvector of the largest eigenvalue; accurate for every rotation.
        m = R
        K = np.array(
            [
                [m[0, 0] - m[1, 1] - m[2, 2], 0.0, 0.0, 0.0],
                [m[1, 0] + m[0, 1], m[1, 1] - m[0, 0] - m[2, 2], 0.0, 0.0],
                [m[2, 0] + m[0, 2], m[2, 1] + m[1, 2], m[2, 2] - m[0, 0] - m[1, 1], 0.0],
                [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], np.trace(m)],
            ]
        )
        q = np.linalg.eigh(K, UPLO="L").eigenvectors[:, -1]
        for known in (0.0, np.sqrt(0.5), 1.0):
            q = np.where(np.abs(np.abs(q) - known) < 1e-14, np.copysign(known, q), q)
        return cls(Vec3.of(q[:3].tolist()), float(q[3]))

    @classmethod
    def _of_symbolic(cls, m: Any) -> Quaternion:
        """Without a branch: of the matrix 4 q qᵀ the row with the largest diagonal entry."""
        x, y, z = m[0, 0], m[1, 1], m[2, 2]
        pairs = [[m[1, 0] + m[0, 1], m[2, 0] + m[0, 2], m[2, 1] + m[1, 2]],
                 [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]]  # fmt: skip
        (xy, xz, yz), (xw, yw, zw) = pairs
        squares = [1.0 + x - y - z, 1.0 - x + y - z, 1.0 - x - y + z, 1.0 + x + y + z]
        rows = [[squares[0], xy, xz, xw], [xy, squares[1], yz, yw],
                [xz, yz, squares[2], zw], [xw, yw, zw, squares[3]]]  # fmt: skip
        largest = maximum(maximum(squares[0], squares[1]), maximum(squares[2], squares[3]))
        total: list[Value] = [0.0] * 4
        open_: Value = 1.0
        for square, row in zip(squares, rows, strict=True):
            weight = open_ * (1.0 + sign(square - largest))  # 1 for the first that is largest
            open_ = open_ - weight
            total = [sum_ + weight * entry for sum_, entry in zip(total, row, strict=True)]
        scale = 1.0 / sqrt(sum((entry * entry for entry in total[1:]), total[0] * total[0]))
        a, b, c, d = (entry * scale for entry in total)
        return cls(Vec3(a, b, c), d)

    def __mul__(self, o: Quaternion) -> Quaternion:
        return Quaternion(
            o.v * self.w + self.v * o.w + self.v.cross(o.v), self.w * o.w - self.v.dot(o.v)
        )

    def turn(self, p: Vec3) -> Vec3:
        """Rotate a vector."""
        t = self.v.cross(p) * 2.0
        return p + t * self.w + self.v.cross(t)

    def upright(self) -> Quaternion:
        """The same rotation with w ≥ 0."""
        side = sign(sign(self.w) + 0.5)
        return Quaternion(self.v * side, self.w * side)


@frozen(eq=False)
class QuaternionPose:
    """A frame in the world."""

    turn: Quaternion
    p: Vec3


class _Walk:
    """A pose on the way along a chain: what is traced, then a constant rotation that is not yet.

    While that rotation keeps a joint's axis along x, y or z, the joint needs half the products, and
    the constant none.
    """

    def __init__(self) -> None:
        self._turn = Quaternion(ZERO3, 1.0)
        self._p = ZERO3
        self._ahead = np.eye(3)

    def end(self) -> QuaternionPose:
        """Return the pose."""
        return QuaternionPose(self._settled(), self._p)

    def place(self, rotation: Array, p: Vec3) -> None:
        """Go on by a placement, of numbers or of a program's inputs."""
        self.shift(p)
        if _symbolic(rotation):
            self.turn(Quaternion.of(rotation))
        else:
            self._ahead = self._ahead @ np.asarray(rotation, dtype=np.float64)

    def shift(self, p: Vec3) -> None:
        """Go on by a shift."""
        ahead = Vec3(*(Vec3.of(row).dot(p) for row in self._ahead.tolist()))
        self._p = self._p + self._turn.turn(ahead)

    def turn(self, turn: Quaternion) -> None:
        """Go on by a rotation."""
        self._turn = self._settled() * turn

    def spin(self, angle: Value) -> None:
        """Go on by an angle about z."""
        if np.count_nonzero(self._ahead[:, 2]) != 1:
            self._settled()
        axis = Vec3.of(np.round(self._ahead[:, 2]).tolist())
        self._turn = self._turn * Quaternion(axis * sin(0.5 * angle), cos(0.5 * angle))

    def _settled(self) -> Quaternion:
        """Trace the constant that lies ahead."""
        if not np.array_equal(self._ahead, np.eye(3)):
            self._turn = self._turn * Quaternion.of(self._ahead)
            self._ahead = np.eye(3)
        return self._turn


def frame_pose(tree: KinematicTree, q: Sequence[Value], frame: Frame) -> QuaternionPose:
    """Return a named frame's pose in the world at configuration q (nq)."""
    T, walk = np.array(frame.placement), _Walk()
    if frame.body >= 0:
        at = tree.attachments[frame.body]
        T = at.matrix() @ T
        path: list[Node] = []
        index = at.node
        while index >= 0:
            path.append(tree.nodes[index])
            index = path[-1].parent
        for node in reversed(path):
            walk.place(np.array([list(row) for row in node.rotation]), node.position)
            _move(walk, node, q)
    if T.dtype != object:
        T[:3, 3][np.abs(T[:3, 3]) < 1e-15] = 0.0
    walk.place(T[:3, :3], Vec3.of(T[:3, 3].tolist()))
    return walk.end()


def _move(walk: _Walk, node: Node, q: Sequence[Value]) -> None:
    """Step over a node's joint."""
    kind, start = node.joint.kind, node.joint.q_start
    if kind is JointKind.SPHERICAL:
        assert start is not None
        walk.turn(_input(q, start))
        return
    if kind is JointKind.FLOATING:
        assert start is not None
        walk.shift(Vec3(*q[start : start + 3]))
        walk.turn(_input(q, start + 3))
        return
    s = joint_position(node, q)
    if kind is JointKind.PRISMATIC:
        walk.shift(node.axis * s)
        return
    walk.shift(Vec3(0.0, 0.0, node.joint.pitch * s))
    walk.spin(s)


def _input(q: Sequence[Value], start: int) -> Quaternion:
    return Quaternion(Vec3(*q[start : start + 3]), q[start + 3])


def _symbolic(R: Array) -> bool:
    """Whether an array holds a program's inputs, or what comes of them."""
    return R.dtype == object and any(isinstance(x, Scalar) for x in R.flat)
