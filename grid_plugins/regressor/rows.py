"""The rows of τ = Y π over symbolic scalars, in two ways of which a robot takes the cheaper.

Either each body's ten wrenches are carried from joint to joint towards the root, and every joint
on the way keeps its share; or each joint's axes are carried outwards to every body beyond, where
they meet the wrenches. Floating bases take the first, which has all of their six rows at once.
Blocks of bodies that a joint does not move are never touched, and stay the constant 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import frozen

from grid_core.program.composite import subspace, to_parent
from grid_core.program.linalg import Rotation
from grid_core.program.motion import Posture, Rate, columns, postures, project
from grid_core.program.newton_euler import Wrench, motions
from grid_core.program.tree import Attachment, KinematicTree
from grid_plugins.regressor.bodies import force_on_screw, in_joint_frame, wrenches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.model.types import RobotModel
    from grid_core.program.scalar import Value
    from grid_core.program.tree import Node

__all__ = ["Moment", "by_axes", "by_wrenches", "outward", "screw_at", "tree_of"]

BodyWrenches: TypeAlias = dict[int, list[Wrench]]
"""By body ID."""


@frozen(eq=False)
class Moment:
    """A motion at one instant: where the robot is, how fast, and what accelerates it."""

    model: RobotModel
    q: Sequence[Value]
    qd: Sequence[Value]
    qdd: Sequence[Value]
    gravity: Value


def tree_of(model: RobotModel) -> KinematicTree:
    """Return the tree whose bodies keep their own masses."""
    return KinematicTree.of(model, regroup=False)


def by_wrenches(moment: Moment) -> Any:
    """Return Y (nv, 10 nb), wrenches carried inwards."""
    tree, pose, own = _prepared(moment)
    Y = _zeros(moment.model)
    for node in tree.inward():
        for body in _attached(tree, node):
            felt = [_about_node(tree.attachments[body], w) for w in own[body]]
            _climb(tree, pose, (node, felt), Y[:, 10 * body : 10 * body + 10])
    return Y


def by_axes(moment: Moment) -> Any:
    """Return Y (nv, 10 nb), axes carried outwards."""
    tree, pose, own = _prepared(moment)
    Y = _zeros(moment.model)
    carried: list[list[tuple[int, float, Rate]]] = []
    for node in tree.outward():
        above = carried[node.parent] if node.parent >= 0 else []
        screws = [(row, factor, outward(pose[node.index], s)) for row, factor, s in above]
        for (row, factor), s in zip(columns(node), subspace(node), strict=True):
            screws.append((row, factor, Rate(s.angular, s.linear)))
        carried.append(screws)
        for body in _attached(tree, node):
            for row, factor, screw in screws:
                seen = screw_at(tree.attachments[body], screw)
                for k, value in enumerate(force_on_screw(seen, own[body]), start=10 * body):
                    Y[row, k] = Y[row, k] + factor * value
    return Y


def screw_at(at: Attachment, screw: Rate) -> Rate:
    """A node's motion as a body's joint frame, which is fixed to it, sees it."""
    turn = Rotation(at.rotation)
    linear = screw.linear + screw.angular.cross(at.position)
    return Rate(turn.apply_t(screw.angular), turn.apply_t(linear))


def _prepared(moment: Moment) -> tuple[KinematicTree, list[Posture], BodyWrenches]:
    """The tree, its pose, and every moving body's wrenches in its joint frame."""
    tree = tree_of(moment.model)
    pose = postures(tree, moment.q)
    own: BodyWrenches = {}
    for node, moving in motions(tree, pose, moment.qd, moment.qdd, moment.gravity):
        for body in _attached(tree, node):
            own[body] = wrenches(*in_joint_frame(moving, tree.attachments[body]))
    return tree, pose, own


def _attached(tree: KinematicTree, node: Node) -> list[int]:
    """Bodies that move as the node does: its own, and those that constant joints hold to it."""
    return [body for body, at in enumerate(tree.attachments) if at.node == node.index]


def _about_node(at: Attachment, wrench: Wrench) -> Wrench:
    turn = Rotation(at.rotation)
    force = turn.apply(wrench[0])
    return force, turn.apply(wrench[1]) + at.position.cross(force)


def outward(own: Posture, screw: Rate) -> Rate:
    """A motion about a parent's origin, about its child's."""
    linear = screw.linear + screw.angular.cross(own.p)
    return Rate(own.R.apply_t(screw.angular), own.R.apply_t(linear))


def _climb(
    tree: KinematicTree,
    pose: Sequence[Posture],
    start: tuple[Node, list[Wrench]],
    block: Any,
) -> None:
    """Carry a body's wrenches to the root; each joint on the way fills its rows."""
    node, felt = start
    while True:
        for k, wrench in enumerate(felt):
            for (row, factor), value in zip(columns(node), project(node, *wrench), strict=True):
                block[row, k] = block[row, k] + factor * value
        if node.parent < 0:
            return
        felt = [to_parent(pose[node.index], wrench) for wrench in felt]
        node = tree.nodes[node.parent]


def _zeros(model: RobotModel) -> Any:
    return np.full((model.nv, 10 * model.nb), 0.0, dtype=object)
