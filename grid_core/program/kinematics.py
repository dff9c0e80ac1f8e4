"""Frames in the world, what moves them, and how: geometric Jacobian columns over the tree.

A column is what one coordinate does to a frame at unit rate: the angular velocity of the frame
and the linear velocity of its origin, both along the world's axes. With the columns in order
from the root, everything second-order follows from cross products: moving joint k turns the
columns of all later joints rigidly, and moves the frame under the axes of all earlier ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.model.types import JointKind
from grid_core.program.canonical import snap
from grid_core.program.linalg import ZERO3, Vec3
from grid_core.program.motion import columns, postures
from grid_core.program.regions import TRUNK, within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.model.types import Array, Frame
    from grid_core.program.scalar import Value
    from grid_core.program.tree import KinematicTree, Node

__all__ = ["Column", "Pose", "WorldTree"]

_AXES = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))


@frozen(eq=False)
class Pose:
    """A frame in the world: x_world = R x_frame + p."""

    rows: tuple[Vec3, Vec3, Vec3]
    """R as rows."""
    p: Vec3
    """Origin [m]."""

    def column(self, k: int) -> Vec3:
        """Axis k of the frame, in the world."""
        return Vec3(*(row[k] for row in self.rows))

    def turn(self, v: Vec3) -> Vec3:
        """R v: from the frame's axes to the world's."""
        return Vec3(*(row.dot(v) for row in self.rows))

    def turn_back(self, v: Vec3) -> Vec3:
        """Rᵀ v: from the world's axes to the frame's."""
        a, b, c = self.rows
        return a * v.x + b * v.y + c * v.z

    def compose(self, rows: Sequence[Vec3], p: Vec3) -> Pose:
        """The pose of a frame that is given in this one."""
        x, y, z = rows
        turned = (x * r.x + y * r.y + z * r.z for r in self.rows)
        return Pose(tuple(turned), self.p + self.turn(p))  # type: ignore[arg-type]

    def matrix(self) -> list[list[Value]]:
        """The pose as a homogeneous matrix, 4 rows of 4."""
        top = [[*row, shift] for row, shift in zip(self.rows, self.p, strict=True)]
        return [*top, [0.0, 0.0, 0.0, 1.0]]


_WORLD = Pose(_AXES, ZERO3)


@frozen(eq=False)
class Column:
    """What one coordinate of a joint does to a frame, in the world's axes."""

    coordinate: int
    """Entry of v."""
    factor: float
    """The rate of the joint for a unit of it: a mimic's multiplier, else 1."""
    rank: int
    """Place of the joint on the way from the root; columns of one joint share it."""
    node: int
    angular: Vec3
    linear: Vec3


class WorldTree:
    """A tree at one configuration, seen from the world.

    Args:
        tree: the robot; its masses do not matter here.
        q: configuration (nq).
        world_base: whether a floating base translates along the world's axes, as in MuJoCo,
            rather than along its own.
    """

    def __init__(self, tree: KinematicTree, q: Sequence[Value], *, world_base: bool) -> None:
        self.tree = tree
        self.world_base = world_base
        self._own = postures(tree, q)
        self._known: dict[int, Pose] = {-1: _WORLD}

    def node(self, index: int) -> Pose:
        """Return the pose of a node (-1: of the root), worked out when it is first asked for.

        So a value is traced near its use, and fewer are alive at once.
        """
        pose = self._known.get(index)
        if pose is None:
            own = self._own[index]
            above = self.node(self.tree.nodes[index].parent)
            with within(self.tree.regions[index]):
                pose = self._known[index] = above.compose(own.R.matrix(), own.p)
        return pose

    def frame(self, frame: Frame) -> Pose:
        """Return the pose of a named frame."""
        return self.attached(frame.body, frame.placement)

    def attached(self, body: int, placement: Array) -> Pose:
        """Return the pose of a frame that is fixed to a body (-1: the root), T_body_frame."""
        if body < 0:
            return _constant(_WORLD, placement)
        at = self.tree.attachments[body]
        return _constant(self.node(at.node), at.matrix() @ placement)

    def region(self, body: int) -> int:
        """Part of the robot that a body belongs to (`grid_core.program.regions`)."""
        return self.tree.regions[self.tree.attachments[body].node] if body >= 0 else TRUNK

    def chain(self, body: int) -> list[Node]:
        """The moving nodes between the root and a body, in that order."""
        path: list[Node] = []
        at = self.tree.attachments[body].node if body >= 0 else -1
        while at >= 0:
            path.append(self.tree.nodes[at])
            at = path[-1].parent
        return path[::-1]

    def columns(
        self, nodes: Sequence[Node], point: Vec3, share: Sequence[Value] | None = None
    ) -> list[Column]:
        """Return what every coordinate of these nodes does to a frame with its origin there.

        Args:
            nodes: in order from the root.
            point: the frame's origin in the world.
            share: for each node, 1 where it moves the frame and 0 where not; None: all do.
        """
        found = []
        for rank, node in enumerate(nodes):
            local = self._screws(node, point, 1.0 if share is None else share[rank])
            for (coordinate, factor), (angular, linear) in zip(columns(node), local, strict=True):
                # The world's axes stay where they are when the base turns: a joint of its own.
                own = rank - 1 if self._along_world(node) and coordinate < 3 else rank
                found.append(Column(coordinate, factor, own, node.index, angular, linear))
        return found

    def _along_world(self, node: Node) -> bool:
        return self.world_base and node.joint.kind is JointKind.FLOATING

    def _screws(self, node: Node, point: Vec3, share: Value) -> list[tuple[Vec3, Vec3]]:
        """(angular, linear) of each coordinate at a rate of `share`."""
        at, kind = self.node(node.index), node.joint.kind
        if kind is JointKind.PRISMATIC:
            return [(ZERO3, at.turn(node.axis) * share)]
        arm = point - at.p
        if kind in (JointKind.SPHERICAL, JointKind.FLOATING):
            own = [at.column(k) * share for k in range(3)]
            turning = [(axis, axis.cross(arm)) for axis in own]
            if kind is JointKind.SPHERICAL:
                return turning
            along = [axis * share for axis in _AXES] if self.world_base else own
            return [*((ZERO3, axis) for axis in along), *turning]
        axis = at.column(2) * share
        return [(axis, axis.cross(arm) + axis * node.joint.pitch)]


def _constant(pose: Pose, T: Array) -> Pose:
    if T.dtype != object:
        T = snap(T)
    rows = [Vec3.of(T[k, :3].tolist()) for k in range(3)]
    return pose.compose(rows, Vec3.of(T[:3, 3].tolist()))
