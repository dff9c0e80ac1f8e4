"""Tree → `RobotModel`: fixed joints merged, motions made effective, coordinates given out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import define, evolve, field

from grid_core.model.spatial import compose
from grid_core.model.types import (
    Array,
    Body,
    Frame,
    FrameKind,
    Joint,
    JointKind,
    Link,
    Mimic,
    RobotModel,
)
from grid_core.model.urdf.checks import check_finite, note_zero_outside
from grid_core.model.urdf.elements import InertialElement, JointElement, JointType
from grid_core.model.urdf.inertia import merge, warn_impossible
from grid_core.model.urdf.mimic import Law, flatten_mimics
from grid_core.model.urdf.motion import Motion, motions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grid_core.model.urdf.report import Report
    from grid_core.model.urdf.topology import Tree

__all__ = ["assemble"]


def assemble(tree: Tree, report: Report, *, floating_base: bool) -> RobotModel:
    """Build the effective model.

    Raises:
        ModelError: mimic joints that cannot be resolved, or numbers whose products overflow.
    """
    laws = flatten_mimics(tree.joints, report)
    with np.errstate(all="ignore"):  # overflow is found, and named, by check_finite
        warn_impossible(tree.links, report)
        parts = _Assembly(tree, laws)
        parts.place_root(free=floating_base and not _is_own_base(tree, report))
        for joint in tree.order:
            parts.add(joint)
        model = parts.model()
    check_finite(model, tree, report)
    note_zero_outside(model, report)
    return model


def _is_own_base(tree: Tree, report: Report) -> bool:
    """Whether the URDF itself says how a massless root floats."""
    children = [joint for joint in tree.joints if joint.parent == tree.root]
    root = next(link for link in tree.links if link.name == tree.root)
    weightless = root.inertial is None or (
        root.inertial.mass == 0.0 and not root.inertial.tensor.any()
    )
    if not weightless or len(children) != 1 or children[0].type is not JointType.FLOATING:
        return False
    report.warn(
        "this floating joint is taken as the floating base asked for; no second one is added",
        line=children[0].line,
        element="joint",
        name=children[0].name,
    )
    return True


@define
class _Assembly:
    """The model under construction."""

    tree: Tree
    laws: dict[str, Law]
    joints: list[Joint] = field(factory=list)
    bodies: list[str] = field(factory=list)
    masses: list[list[tuple[Array, InertialElement]]] = field(factory=list)
    links: dict[str, Link] = field(factory=dict)
    fixed: dict[str, tuple[int, Array]] = field(factory=dict)
    ids: dict[str, int] = field(factory=dict)
    """Effective joint of each URDF joint that has exactly one."""
    inertials: dict[str, InertialElement] = field(factory=dict)
    joint_names: set[str] = field(factory=set)
    body_names: set[str] = field(factory=set)
    nq: int = 0
    nv: int = 0

    def __attrs_post_init__(self) -> None:
        self.joint_names = {joint.name for joint in self.tree.joints}
        self.body_names = {link.name for link in self.tree.links}
        self.inertials = {
            link.name: link.inertial for link in self.tree.links if link.inertial is not None
        }

    def place_root(self, *, free: bool) -> None:
        """Put the root link on the root reference, or on a body of its own."""
        body = -1
        if free:
            name = _unused("root_joint", self.joint_names)
            body = self._joint(name, Motion("", JointKind.FLOATING), -1, np.eye(4), None)
            self._body(self.tree.root)
        self._link(self.tree.root, body, np.eye(4))

    def add(self, joint: JointElement) -> None:
        """Add a joint whose parent link is placed, and its child link."""
        parent = self.links[joint.parent]
        placement = compose(parent.placement, joint.origin)
        body = parent.body
        if joint.type is JointType.FIXED:
            self.fixed[joint.name] = (body, placement)
            self._link(joint.child, body, placement)
            return
        steps = motions(joint, from_root=body == -1)
        for step in steps:
            name = (
                _unused(joint.name + step.suffix, self.joint_names) if step.suffix else joint.name
            )
            body = self._joint(name, step, body, placement, joint)
            last = step is steps[-1]
            self._body(joint.child if last else _unused(joint.child + step.suffix, self.body_names))
            placement = np.eye(4)
        if len(steps) == 1:
            self.ids[joint.name] = body
        self._link(joint.child, body, np.eye(4))

    def _joint(
        self, name: str, motion: Motion, parent: int, placement: Array, source: JointElement | None
    ) -> int:
        """Append a joint without its mimic, which may look ahead; return its ID."""
        number = len(self.joints)
        follows = source is not None and source.name in self.laws
        self.joints.append(
            Joint(
                id=number,
                name=name,
                kind=motion.kind,
                parent=parent,
                placement=placement,
                axis=motion.axis,
                pitch=motion.pitch,
                q_start=None if follows else self.nq,
                v_start=None if follows else self.nv,
                mimic=None,
                limits=motion.limits,
                damping=source.damping if source else 0.0,
                friction=source.friction if source else 0.0,
                source=source.name if source else "",
            )
        )
        if not follows:
            self.nq += motion.kind.nq
            self.nv += motion.kind.nv
        return number

    def _body(self, name: str) -> None:
        self.bodies.append(name)
        self.masses.append([])

    def _link(self, name: str, body: int, placement: Array) -> None:
        """Say where a link is; its mass joins the body's, or is dropped with the fixed base's."""
        self.links[name] = Link(name, body, placement)
        inertial = self.inertials.get(name)
        if body >= 0 and inertial is not None:
            self.masses[body].append((placement, inertial))

    def model(self) -> RobotModel:
        """Put the records together."""
        joints = tuple(self._with_mimic(joint) for joint in self.joints)
        floats = bool(joints) and joints[0].kind is JointKind.FLOATING
        return RobotModel(
            name=self.tree.name,
            joints=joints,
            bodies=tuple(
                Body(number, name, merge(parts))
                for number, (name, parts) in enumerate(zip(self.bodies, self.masses, strict=True))
            ),
            frames=self._frames(joints, self._root_name()),
            links=tuple(self.links[link.name] for link in self.tree.links),
            root_link=self.tree.root,
            floating_base=floats,
        )

    def _with_mimic(self, joint: Joint) -> Joint:
        law = self.laws.get(joint.source)
        if law is None:
            return joint
        leader = None if law.leader is None else self.ids[law.leader]
        return evolve(joint, mimic=Mimic(leader, law.multiplier, law.offset))

    def _root_name(self) -> str:
        """Return the fixed base's link, or ``world`` where that link moves."""
        return self.tree.root if self.links[self.tree.root].body == -1 else "world"

    def _frames(self, joints: Iterable[Joint], root: str) -> tuple[Frame, ...]:
        named = [(root, FrameKind.ROOT, -1, np.eye(4))]
        named += [(joint.name, FrameKind.JOINT, joint.id, np.eye(4)) for joint in joints]
        for joint in self.tree.joints:
            if joint.name in self.fixed:
                named.append((joint.name, FrameKind.FIXED, *self.fixed[joint.name]))
        return tuple(Frame(number, *values) for number, values in enumerate(named))


def _unused(name: str, taken: set[str]) -> str:
    """Return the name, numbered if it is taken, and take it."""
    result, number = name, 1
    while result in taken:
        number += 1
        result = f"{name}_{number}"
    taken.add(result)
    return result
