"""The robot model: frozen records that every algorithm, backend and descriptor reads.

Conventions. ``T_AB`` maps coordinates in B to coordinates in A. Bodies and joints share their
numbering: joint ``i`` moves body ``i``; the root reference (the world, or the fixed base) is
body ``-1``. Joints are in depth-first order, siblings by the UTF-8 bytes of their URDF joint
name (Pinocchio's order). SI units and radians throughout.
"""

from __future__ import annotations

import enum
from typing import TypeAlias

import numpy as np
from attrs import cmp_using, field, frozen
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

__all__ = [
    "Array",
    "Body",
    "Frame",
    "FrameKind",
    "Inertia",
    "Joint",
    "JointKind",
    "Limits",
    "Link",
    "Mimic",
    "RobotCell",
    "RobotModel",
]


def _readonly(value: object) -> Array:
    array = np.array(value, dtype=np.float64)
    array.setflags(write=False)
    return array


def _optional_readonly(value: object) -> Array | None:
    return None if value is None else _readonly(value)


_by_value = cmp_using(eq=np.array_equal)


class JointKind(enum.Enum):
    """How a joint moves. Planar and inner floating joints are decomposed before this."""

    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    HELICAL = "helical"
    SPHERICAL = "spherical"
    FLOATING = "floating"

    @property
    def nq(self) -> int:
        """Entries in the configuration."""
        return {JointKind.SPHERICAL: 4, JointKind.FLOATING: 7}.get(self, 1)

    @property
    def nv(self) -> int:
        """Entries in the velocity."""
        return {JointKind.SPHERICAL: 3, JointKind.FLOATING: 6}.get(self, 1)


class FrameKind(enum.Enum):
    """Where a named frame comes from."""

    ROOT = "root"
    JOINT = "joint"
    FIXED = "fixed"


@frozen
class Limits:
    """Bounds of one joint; None means no finite bound."""

    lower: float | None = None
    """Least position [rad or m]."""
    upper: float | None = None
    """Greatest position [rad or m]."""
    velocity: float | None = None
    """Greatest speed [rad/s or m/s]."""
    effort: float | None = None
    """Greatest torque or force [N m or N]."""


@frozen
class Mimic:
    """θ = multiplier · q[leader] + offset, chains already flattened."""

    leader: int | None
    """ID of the independent joint that leads; None for a constant joint (multiplier 0)."""
    multiplier: float
    offset: float


@frozen
class Inertia:
    """Mass distribution of a body, seen from its joint frame."""

    mass: float
    """[kg]"""
    com: Array = field(converter=_readonly, eq=_by_value, hash=False)
    """Centre of mass in the joint frame [m], shape (3,)."""
    rotational: Array = field(converter=_readonly, eq=_by_value, hash=False)
    """Rotational inertia about the centre of mass, joint frame's axes [kg m²], shape (3, 3)."""

    @property
    def at_origin(self) -> Array:
        """Rotational inertia about the joint frame's origin [kg m²], shape (3, 3)."""
        c = self.com
        return self.rotational + self.mass * (c @ c * np.eye(3) - np.outer(c, c))


@frozen
class Joint:
    """One effective joint."""

    id: int
    name: str
    kind: JointKind
    parent: int
    """ID of the body it hangs from; -1 is the root reference."""
    placement: Array = field(converter=_readonly, eq=_by_value, hash=False)
    """T_parent_joint at zero motion, merged fixed ancestors included, shape (4, 4)."""
    axis: Array | None = field(converter=_optional_readonly, eq=_by_value, hash=False)
    """Signed unit axis in the joint frame, shape (3,); None for spherical and floating."""
    pitch: float
    """Advance of a helical joint [m/rad]; 0 for every other kind."""
    q_start: int | None
    """First entry in q; None when the joint is not independent."""
    v_start: int | None
    """First entry in v; None when the joint is not independent."""
    mimic: Mimic | None
    limits: Limits
    damping: float
    """Viscous coefficient [N m s/rad or N s/m]; applied with ``use_joint_dynamics`` only."""
    friction: float
    """Coulomb coefficient [N m or N]; applied with ``use_joint_dynamics`` only."""
    source: str
    """Name of the URDF joint it was made from."""

    @property
    def nq(self) -> int:
        """Local configuration width (of the motion, whether independent or not)."""
        return self.kind.nq

    @property
    def nv(self) -> int:
        """Local velocity width (of the motion, whether independent or not)."""
        return self.kind.nv


@frozen
class Body:
    """One effective body: a link with everything that is fixed to it."""

    id: int
    name: str
    """Name of the URDF link that the joint moves."""
    inertia: Inertia


@frozen
class Frame:
    """A named frame: the root, a joint's frame, or a retained fixed joint's."""

    id: int
    name: str
    kind: FrameKind
    body: int
    """ID of the body that carries it; -1 for the root reference."""
    placement: Array = field(converter=_readonly, eq=_by_value, hash=False)
    """T_body_frame, shape (4, 4)."""


@frozen
class Link:
    """Where a link of the URDF ended up."""

    name: str
    body: int
    placement: Array = field(converter=_readonly, eq=_by_value, hash=False)
    """T_body_link, shape (4, 4)."""


@frozen
class RobotCell:
    """Which robot, to the byte, a model was read from: what a plan made with it is valid for."""

    model_id: str
    robot_description_sha256: str
    """``sha256:`` and 64 hex digits, as is the other."""
    machine_planning_calibration_sha256: str


@frozen
class RobotModel:
    """A kinematic tree with its masses, limits and named frames.

    ``q`` has `nq` entries and every velocity-like vector `nv`. A floating base is joint 0 with
    q = [x y z, qx qy qz qw] and v = [linear; angular] in the base frame.
    """

    name: str
    joints: tuple[Joint, ...]
    bodies: tuple[Body, ...]
    frames: tuple[Frame, ...]
    """Root first, then joints by ID, then fixed joints in document order."""
    links: tuple[Link, ...]
    """Every link of the URDF, in document order."""
    root_link: str
    """The link without a parent; on body -1 of a fixed base, on body 0 of a floating one."""
    floating_base: bool
    """Whether joint 0 is a FLOATING joint, so that q starts with the base's pose."""
    warnings: tuple[str, ...] = ()
    """What is suspicious about the description, then what is merely worth knowing."""
    robot_cell: RobotCell | None = field(default=None, eq=False)
    """Where the model comes from a description directory: whence. It changes no build."""

    @property
    def nq(self) -> int:
        """Entries in q."""
        return sum(j.nq for j in self.joints if j.q_start is not None)

    @property
    def nv(self) -> int:
        """Entries in v."""
        return sum(j.nv for j in self.joints if j.v_start is not None)

    @property
    def nj(self) -> int:
        """Effective joints."""
        return len(self.joints)

    @property
    def nb(self) -> int:
        """Effective bodies; the root reference does not count."""
        return len(self.bodies)

    @property
    def has_mimic(self) -> bool:
        """Whether a joint follows an independent leader (constant joints do not count)."""
        return any(j.mimic is not None and j.mimic.leader is not None for j in self.joints)

    @property
    def leaves(self) -> tuple[int, ...]:
        """IDs of the joints that no other joint hangs from, in order."""
        parents = {j.parent for j in self.joints}
        return tuple(j.id for j in self.joints if j.id not in parents)
