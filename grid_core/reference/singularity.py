"""Whether a model's mass matrix can be inverted at all, and which joint is to blame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.model.types import Array, Inertia, Joint, JointKind, RobotModel
from grid_core.reference.joints import motion_subspace
from grid_core.reference.kinematics import joint_placements
from grid_core.reference.spatial import motion_transform, spatial_inertia, transpose

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["singular_joint"]

SAMPLES = 4
"""Configurations tried; one where M is regular clears the model."""
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
    q = _configurations(model)
    M, scales = mass_matrix(q), _scales(model, q)
    first = [_first_null_pivot(M[k], scales[k]) for k in range(SAMPLES)]
    found = [column for column in first if column is not None]
    if len(found) < SAMPLES:
        return None
    column = found[0]
    joint = next(j for j in model.joints if _owns(j, column))
    massless = np.all(np.abs(M[:, column, column]) <= TOLERANCE * scales[:, column])
    reason = (
        "nothing with inertia moves with it"
        if massless
        else "it can move with the joints it carries so that nothing with inertia moves"
    )
    return f"joint {joint.name!r}: the mass matrix M is singular, because {reason}"


def _positive_definite(inertia: Inertia) -> bool:
    moments = np.linalg.eigvalsh(inertia.rotational)
    return bool(inertia.mass > 0.0 and moments[0] > TOLERANCE * moments[-1])


def _owns(joint: Joint, column: int) -> bool:
    return joint.v_start is not None and joint.v_start <= column < joint.v_start + joint.nv


def _configurations(model: RobotModel) -> Array:
    """Return the same arbitrary configurations every time, shape (SAMPLES, nq)."""
    rng = np.random.default_rng(0)
    q = rng.uniform(-1.0, 1.0, (SAMPLES, model.nq))
    for joint in model.joints:
        if joint.q_start is not None and joint.kind in {JointKind.SPHERICAL, JointKind.FLOATING}:
            end = joint.q_start + joint.nq
            q[:, end - 4 : end] /= np.linalg.norm(q[:, end - 4 : end], axis=1, keepdims=True)
    return q


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


def _first_null_pivot(M: Array, scale: Array) -> int | None:
    """Eliminate from the leaves to the root (M = Lᵀ D L, section 6.5); name a vanishing pivot."""
    M = M.copy()
    for i in reversed(range(len(M))):
        if abs(M[i, i]) <= TOLERANCE * scale[i]:
            return i
        M[:i, :i] -= np.outer(M[:i, i], M[i, :i]) / M[i, i]
    return None
