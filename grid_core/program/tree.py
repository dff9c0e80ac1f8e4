"""A robot as programs see it: moving bodies in canonical frames, constants folded in.

A program works node by node; a node is a body that moves against its parent. Constant joints
(mimics of a fixed joint) are merged away. What a caller gives or wants in a joint's own frame
(external forces, placements) is carried over by `Attachment`.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from grid_core.model.types import Array, Joint, JointKind, RobotModel
from grid_core.program.canonical import canonical_frame, snap, upright_frame
from grid_core.program.linalg import Symmetric, Vec3
from grid_core.program.mass import NO_MASS, Mass, split_at_joint
from grid_core.program.regions import limbs, visit
from grid_core.program.runtime import RuntimeModel
from grid_core.program.scalar import Scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grid_core.program.scalar import Value

__all__ = ["Attachment", "KinematicTree", "Node"]


@frozen(eq=False)
class Node:
    """One moving body, its joint and its mass, in its canonical frame.

    At joint position s the pose in the parent node is P·(joint motion) with the motion about or
    along `axis` (z for joints that turn).
    """

    index: int
    joint: Joint
    leader: Joint | None
    """The independent joint that a mimic joint follows."""
    parent: int
    """Index of the parent node; -1 is the root reference."""
    rotation: tuple[Vec3, Vec3, Vec3]
    """P as rows, constant, as is the next, but where placements are a program's inputs."""
    position: Vec3
    """Origin in the parent node at zero motion [m]."""
    axis: Vec3
    m: Value
    """Mass [kg]; constants, as are the next two, but where masses are a program's inputs."""
    h: Vec3
    """First moment [kg m]."""
    second: Symmetric
    """Second moment ∫ x xᵀ dm [kg m²] about the origin."""


@frozen(eq=False)
class Attachment:
    """Where a body's joint frame sits: T_node_joint, constant.

    But behind a constant joint, where placements are a program's inputs.
    """

    node: int
    rotation: tuple[Vec3, Vec3, Vec3]
    position: Vec3

    def matrix(self) -> Array:
        """T_node_joint (4, 4), of numbers where it is constant."""
        T = np.eye(4, dtype=object)
        T[:3, :3], T[:3, 3] = [list(row) for row in self.rotation], list(self.position)
        constant = not any(isinstance(x, Scalar) for x in T.flat)
        return T.astype(np.float64) if constant else T


def _rows(R: Array) -> tuple[Vec3, Vec3, Vec3]:
    return Vec3.of(R[0].tolist()), Vec3.of(R[1].tolist()), Vec3.of(R[2].tolist())


def _symmetric(S: Array) -> Symmetric:
    if S.dtype == object:
        return Symmetric(S[0, 0], S[1, 1], S[2, 2], S[0, 1], S[0, 2], S[1, 2])
    small = 1e-15 * float(np.abs(S).max(initial=0.0))
    s = np.where(np.abs(S) <= small, 0.0, S).tolist()
    return Symmetric(s[0][0], s[1][1], s[2][2], s[0][1], s[0][2], s[1][2])


class KinematicTree:
    """The nodes of a model, parents before children.

    Args:
        model: the robot.
        regroup: move mass that a joint cannot feel to the parent (`grid_core.program.mass`).
            Right for torques, mass matrices and accelerations; wrong for anything that asks
            for a body's own mass, such as a regressor.
    """

    def __init__(self, model: RobotModel, *, regroup: bool) -> None:
        self.model = model
        placements, attached = _place(model)
        masses = _masses(model, placements, attached, regroup=regroup)
        self.nodes = tuple(
            _node(index, model, placed, masses[index]) for index, placed in enumerate(placements)
        )
        self.attachments = tuple(
            Attachment(node, _rows(_snap(T)[:3, :3]), Vec3.of(_snap(T)[:3, 3].tolist()))
            for node, T in attached
        )
        """By body ID."""
        self.regions = limbs([n.parent for n in self.nodes])
        """Region of each node (`grid_core.program.regions`)."""

    @staticmethod
    def of(model: RobotModel, *, regroup: bool) -> KinematicTree:
        """Return the tree of a model, from a few kept ones: algorithms share it."""
        with _RECENT_LOCK:  # operations are traced from several threads
            for known_model, known_regroup, tree in _RECENT:
                if known_model is model and known_regroup == regroup:
                    return tree
            tree = KinematicTree(model, regroup=regroup)
            _RECENT.append((model, regroup, tree))
        return tree

    def outward(self) -> Iterator[Node]:
        """Walk from the root to the leaves; marks what is traced with the node's region."""
        return visit((node, self.regions[node.index]) for node in self.nodes)

    def inward(self) -> Iterator[Node]:
        """Walk from the leaves to the root; marks what is traced with the node's region."""
        return visit((node, self.regions[node.index]) for node in reversed(self.nodes))

    def children(self, index: int) -> list[Node]:
        """Nodes that hang from a node (-1: from the root)."""
        return [n for n in self.nodes if n.parent == index]


_RECENT: deque[tuple[RobotModel, bool, KinematicTree]] = deque(maxlen=4)
_RECENT_LOCK = threading.Lock()

Placed = tuple[int, int, Array, Array]
"""Joint ID, parent node, T_parentnode_node at zero motion, axis in the node's frame."""


def _place(model: RobotModel) -> tuple[list[Placed], list[tuple[int, Array]]]:
    given = _given(model, "placements")
    below: dict[int, list[tuple[Joint, Array]]] = {}
    for joint in model.joints:
        below.setdefault(joint.parent, []).append((joint, joint.placement))
    placements: list[Placed] = []
    attached: list[tuple[int, Array]] = []
    for joint in model.joints:
        parent, T_parent = attached[joint.parent] if joint.parent >= 0 else (-1, np.eye(4))
        known = given is None or joint.kind is JointKind.FLOATING
        placement = T_parent @ (joint.placement if known else given[joint.id])
        if joint.mimic is not None and joint.mimic.leader is None:
            attached.append((parent, placement @ _constant_motion(joint)))
            continue
        if given is None:
            own = canonical_frame(joint, placement, below.get(joint.id, []))
        else:
            own = upright_frame(joint)
        axis = np.zeros(3) if joint.axis is None else own[:3, :3].T @ joint.axis
        placements.append((joint.id, parent, _snap(placement @ own), axis))
        attached.append((len(placements) - 1, np.asarray(np.linalg.inv(own))))
    return placements, attached


def _given(model: RobotModel, name: str) -> Any:
    """Return what is a program's input in this model, or None."""
    return model.values.get(name) if isinstance(model, RuntimeModel) else None


def _snap(T: Array) -> Array:
    return T if T.dtype == object else snap(T)


def _constant_motion(joint: Joint) -> Array:
    assert joint.mimic is not None
    assert joint.axis is not None
    s = joint.mimic.offset
    T = np.eye(4)
    if joint.kind is JointKind.PRISMATIC:
        T[:3, 3] = s * joint.axis
        return T
    x, y, z = joint.axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    T[:3, :3] += np.sin(s) * K + (1.0 - np.cos(s)) * K @ K
    T[:3, 3] = joint.pitch * s * joint.axis
    return T


def _masses(
    model: RobotModel,
    placements: list[Placed],
    attached: list[tuple[int, Array]],
    *,
    regroup: bool,
) -> list[Mass]:
    given = _given(model, "inertias")
    masses = [NO_MASS] * len(placements)
    for body, (node, T) in zip(model.bodies, attached, strict=True):
        if node >= 0:
            own = Mass.of(body.inertia) if given is None else Mass.of_parameters(given[body.id])
            masses[node] = masses[node] + own.moved(T)
    if regroup and not isinstance(model, RuntimeModel):
        for index in reversed(range(len(placements))):
            joint, parent, T, _ = placements[index]
            masses[index], moving = split_at_joint(model.joints[joint].kind, masses[index])
            if parent >= 0:
                masses[parent] = masses[parent] + moving.moved(T)
    return masses


def _vector(h: Array) -> Vec3:
    if h.dtype != object:
        h = np.where(np.abs(h) <= 1e-15 * float(np.abs(h).max(initial=0.0)), 0.0, h)
    return Vec3.of(h.tolist())


def _node(index: int, model: RobotModel, placed: Placed, mass: Mass) -> Node:
    joint_id, parent, T, axis = placed
    joint = model.joints[joint_id]
    mimic = joint.mimic
    leader = None if mimic is None or mimic.leader is None else model.joints[mimic.leader]
    for target in (-1.0, 0.0, 1.0):
        axis = np.where(np.abs(axis - target) < 1e-15, target, axis)
    return Node(
        index=index,
        joint=joint,
        leader=leader,
        parent=parent,
        rotation=_rows(T[:3, :3]),
        position=Vec3.of(T[:3, 3].tolist()),
        axis=Vec3.of(axis.tolist()),
        m=mass.m if mass.h.dtype == object else float(mass.m),
        h=_vector(mass.h),
        second=_symmetric(mass.second),
    )
