"""What each of a body's ten parameters takes part in, in the axes of its joint's frame.

In Pinocchio's order: m, the first moment h = m·c, and the rotational inertia about the joint
frame's origin, Ixx, Ixy, Iyy, Ixz, Iyz, Izz. A body whose origin accelerates by a (gravity
counted in) and that turns by ω and ω̇ needs, about its origin, the force m a + U h and the moment
h × a + I ω̇ + ω × I ω, with U = [ω̇]× + [ω]×[ω]×.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.program.linalg import ZERO3, Rotation, Vec3
from grid_core.program.newton_euler import Motion, Wrench, times, turning

if TYPE_CHECKING:
    from grid_core.program.motion import Rate
    from grid_core.program.scalar import Value
    from grid_core.program.tree import Attachment

__all__ = ["AXES", "force_on_screw", "in_joint_frame", "kinetic_energy", "momenta", "wrenches"]

AXES = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))


def in_joint_frame(moving: Motion, at: Attachment) -> tuple[Vec3, Vec3, Vec3]:
    """Return a, ω and ω̇ of a body's joint frame, from those of the node that it is fixed to."""
    turn = Rotation(at.rotation)
    a = moving.a + times(moving.U, at.position)
    return turn.apply_t(a), turn.apply_t(moving.w), turn.apply_t(moving.dw)


def wrenches(a: Vec3, w: Vec3, dw: Vec3) -> list[Wrench]:
    """Return the force, and the moment about the origin, that a unit of each parameter needs."""
    U = turning(w, dw)
    xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
    xy, xz, yz = w.x * w.y, w.x * w.z, w.y * w.z
    first = [(Vec3(*(row[k] for row in U)), e.cross(a)) for k, e in enumerate(AXES)]
    # I ω̇ + ω × I ω, a column a parameter; what mixes ω̇ and ω are U's own entries.
    second = [
        Vec3(dw.x, xz, -xy),
        Vec3(-U[2].x, U[2].y, xx - yy),
        Vec3(-yz, dw.y, xy),
        Vec3(U[1].x, zz - xx, -U[1].z),
        Vec3(yy - zz, -U[0].y, U[0].z),
        Vec3(yz, -xz, dw.z),
    ]
    return [(a, ZERO3), *first, *((ZERO3, moment) for moment in second)]


def momenta(own: Rate) -> list[Wrench]:
    """Return the momentum, and that about the origin, of a unit of each parameter."""
    v, w = own.linear, own.angular
    first = [(w.cross(e), e.cross(v)) for e in AXES]
    second = [
        Vec3(w.x, 0.0, 0.0),
        Vec3(w.y, w.x, 0.0),
        Vec3(0.0, w.y, 0.0),
        Vec3(w.z, 0.0, w.x),
        Vec3(0.0, w.z, w.y),
        Vec3(0.0, 0.0, w.z),
    ]
    return [(v, ZERO3), *first, *((ZERO3, moment) for moment in second)]


def kinetic_energy(own: Rate) -> list[Value]:
    """Return ½ m v·v + h·(v × ω) + ½ ω·I ω by parameter."""
    v, w = own.linear, own.angular
    second = [0.5 * (w.x * w.x), w.x * w.y, 0.5 * (w.y * w.y)]
    second += [w.x * w.z, w.y * w.z, 0.5 * (w.z * w.z)]
    return [0.5 * v.dot(v), *v.cross(w), *second]


def force_on_screw(screw: Rate, own: list[Wrench]) -> list[Value]:
    """Return the power that each parameter's wrench has in a motion of the joint frame."""
    v, w = screw.linear, screw.angular
    a = own[0][0]
    lever = a.cross(w)  # ω · (e × a) = e · (a × ω)
    first = [v.dot(force) + lever[k] for k, (force, _) in enumerate(own[1:4])]
    return [v.dot(a), *first, *(w.dot(moment) for _, moment in own[4:])]
