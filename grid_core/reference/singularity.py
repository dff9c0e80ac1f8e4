"""Whether a model's mass matrix can be inverted at all, and which joint is to blame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.model.configuration import random_configuration
from grid_core.reference.joints import motion_subspace
from grid_core.reference.kinematics import joint_placements
from grid_core.reference.spatial import motion_transform, spatial_inertia, transpose

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_core.model.types import Array, Inertia, Joint, RobotModel

__all__ = ["singular_joint"]

SAMPLES = 4
"""Configurations within limits that are tried, always the same; a pivot must vanish at all."""
TOLERANCE = 1e-12
"""A pivot below this part of its joint's scale is rounding noise; see `_scales`."""


def singular_joint(model: RobotModel, mass_matrix: Callable[[Array], Array]) -> str | None:
    """Say which joint makes M(q) singular at every q, or None when M is regular.

    Args:
        model: the robot.
        mass_matrix: q (B, nq) -> M (B, nv, nv).
    """
    if all(_positive_definite(b.inertia) for b in model.bodies):
        # Then vᵀ M v = Σ v_iᵀ I_i v_i is positive unless every body rests, every joint with it.
        return None
    q = random_configuration(model, np.random.default_rng(0), SAMPLES)
    M, scales = mass_matrix(q), _scales(model, q)
    null = set(range(model.nv))
    for k in range(SAMPLES):
        null &= _null_pivots(M[k], scales[k])
    if not null:
        return None
    guilty = [j for j in model.joints if null & _columns(j)]
    names = ", ".join(f"{j.name!r} (link {model.bodies[j.id].name!r})" for j in guilty)
    which, them = ("joint", "it") if len(guilty) == 1 else ("joints", "them")
    columns = sorted(set().union(*(_columns(j) for j in guilty)))
    diagonal = np.abs(np.einsum("kii->ki", M)[:, columns])
    if np.all(diagonal <= TOLERANCE * scales[:, columns]):
        reason = f"nothing with inertia moves with {them}"
    else:
        reason = f"a motion of {them}, alone or with joints beyond, moves nothing with inertia"
    return f"{which} {names}: the mass matrix M is singular, because {reason}"


def _positive_definite(inertia: Inertia) -> bool:
    moments = np.linalg.eigvalsh(inertia.rotational)
    return bool(inertia.mass > 0.0 and moments[0] > TOLERANCE * moments[-1])


def _columns(joint: Joint) -> set[int]:
    start = joint.v_start
    return set() if start is None else set(range(start, start + joint.nv))


def _scales(model: RobotModel, q: Array) -> Array:
    """Return the size of the terms that sum to each diagonal entry of M, shape (B, nv).

    With Ic the composite inertia that a joint moves, Sᵀ Ic S may cancel to nothing (a mass on
    the axis); |ω|² tr(Ī) + |v|² m, over the angular and linear halves of S, cannot.
    """
    Ic = [np.tile(spatial_inertia(b.inertia), (len(q), 1, 1)) for b in model.bodies]
    T = joint_placements(model, q)
    result = np.zeros((len(q), model.nv))
    for joint in reversed(model.joints):
        X, I = motion_transform(T[joint.id]), Ic[joint.id]
        if joint.parent >= 0:
            Ic[joint.parent] += transpose(X) @ I @ X
        leader = joint if joint.mimic is None else _leader(model, joint)
        if leader is None or leader.v_start is None:
            continue
        multiplier = 1.0 if joint.mimic is None else joint.mimic.multiplier
        S = (multiplier * motion_subspace(joint)) ** 2
        size = np.trace(I[:, :3, :3], axis1=1, axis2=2)[:, None] * S[:3].sum(0)
        size = np.abs(size) + np.abs(I[:, 5:, 5]) * S[3:].sum(0)
        result[:, leader.v_start : leader.v_start + leader.nv] += size
    return result


def _leader(model: RobotModel, joint: Joint) -> Joint | None:
    assert joint.mimic is not None
    return None if joint.mimic.leader is None else model.joints[joint.mimic.leader]


def _null_pivots(M: Array, scale: Array) -> set[int]:
    """Eliminate from the leaves to the root (M = Lᵀ D L, section 6.5); return where D vanishes."""
    M = M.copy()
    found = set()
    for i in reversed(range(len(M))):
        if abs(M[i, i]) <= TOLERANCE * scale[i]:
            found.add(i)  # M is positive semidefinite, so its row vanishes too
        else:
            M[:i, :i] -= np.outer(M[:i, i], M[i, :i]) / M[i, i]
    return found
