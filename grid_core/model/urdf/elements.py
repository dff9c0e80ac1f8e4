"""What the file says, element by element, checked on its own but not yet against the rest."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from grid_core.model.types import Array, Limits

__all__ = [
    "InertialElement",
    "JointElement",
    "JointType",
    "LinkElement",
    "MimicElement",
    "RobotElement",
]


class JointType(enum.Enum):
    """The joint types that a file may name; `screw` and `ball` are read as their synonyms."""

    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    FIXED = "fixed"
    HELICAL = "helical"
    SPHERICAL = "spherical"
    PLANAR = "planar"
    FLOATING = "floating"

    @property
    def has_axis(self) -> bool:
        """Whether ``<axis>`` means something."""
        return self not in {JointType.FIXED, JointType.SPHERICAL, JointType.FLOATING}

    @property
    def is_scalar(self) -> bool:
        """Whether the joint has one coordinate, and so may lead or follow a mimic."""
        return self in {
            JointType.REVOLUTE,
            JointType.CONTINUOUS,
            JointType.PRISMATIC,
            JointType.HELICAL,
        }


@frozen(eq=False)
class InertialElement:
    """Mass distribution of one link."""

    line: int
    placement: Array
    """T_link_inertial, shape (4, 4)."""
    mass: float
    """[kg]"""
    tensor: Array
    """Rotational inertia about the centre of mass, inertial frame's axes [kg m²], (3, 3)."""


@frozen(eq=False)
class LinkElement:
    """One ``<link>``."""

    name: str
    line: int
    inertial: InertialElement | None = None


@frozen(eq=False)
class MimicElement:
    """One ``<mimic>``: q = multiplier · q[leader] + offset."""

    line: int
    leader: str
    multiplier: float
    offset: float


@frozen(eq=False)
class JointElement:
    """One ``<joint>``."""

    name: str
    line: int
    type: JointType
    parent: str
    child: str
    parent_line: int
    child_line: int
    origin: Array
    """T_parent-link_joint at zero motion, shape (4, 4)."""
    axis: Array | None
    """Unit axis in the joint frame, shape (3,); None for types that have none."""
    pitch: float
    """[m/rad]; 0 unless helical."""
    limits: Limits
    mimic: MimicElement | None
    damping: float
    friction: float
    origin_line: int | None = None
    """Where its ``<origin>`` stands; the joint's own line without one."""
    held: float | None = None
    """Where the joint is held [rad or m], by what was asked of the reader; None: it is not."""


@frozen(eq=False)
class RobotElement:
    """The document."""

    name: str
    links: tuple[LinkElement, ...]
    joints: tuple[JointElement, ...]
