"""Configurations: where they start, how to draw them, and how they move on their manifold.

Entries of q lie where each independent joint's ``q_start`` says: one scalar [rad or m], a unit
quaternion [x y z w], or [x y z, qx qy qz qw] of a floating joint. The tangent follows
Pinocchio: a quaternion moves by a rotation vector in the local frame, a floating joint by a
twist [linear; angular] in its local frame, through the exponential of SE(3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.errors import InputError
from grid_core.model.lie import (
    left_jacobian,
    left_jacobian_inverse,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_product,
    quaternion_rotate,
)
from grid_core.model.types import Array, Joint, JointKind, RobotModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

__all__ = ["difference", "integrate", "neutral_configuration", "random_configuration"]


def neutral_configuration(model: RobotModel) -> Array:
    """Return zeros and identity quaternions, each scalar clamped into its limits.

    A knee that cannot reach 0 rad is at the limit next to it, so the result is always a
    configuration the robot can have; Pinocchio's ``neutral`` is zero even there.

    Returns:
        q, shape (nq,) [rad, m].
    """
    q = np.zeros(model.nq)
    for joint, at, _ in _blocks(model):
        if joint.nq == 1:
            lower, upper = joint.limits.lower, joint.limits.upper
            q[at] = np.clip(
                0.0, -np.inf if lower is None else lower, np.inf if upper is None else upper
            )
        else:
            q[at.stop - 1] = 1.0
    return q


def random_configuration(
    model: RobotModel, rng: np.random.Generator, batch: int | None = None
) -> Array:
    """Draw configurations inside the limits.

    Scalars are uniform in their limits; where there is none, angles are in ±π rad and
    displacements in ±1 m. Rotations are uniform; a floating joint's position is in ±1 m.

    Args:
        model: the robot.
        rng: the source of randomness.
        batch: how many; None for one, without a batch dimension.

    Returns:
        q, shape (batch, nq), or (nq,) without a batch.

    Raises:
        InputError: a negative batch.
    """
    rows = 1 if batch is None else batch
    if rows < 0:
        raise InputError(f"batch must be at least 0; got {batch}")
    q = np.empty((rows, model.nq))
    for joint, at, _ in _blocks(model):
        if joint.nq == 1:
            low, high = _interval(joint)
            share = rng.random((rows, 1))
            q[:, at] = np.clip(low * (1.0 - share) + high * share, low, high)
            continue
        if joint.kind is JointKind.FLOATING:
            q[:, at.start : at.start + 3] = rng.uniform(-1.0, 1.0, (rows, 3))
        # A normal vector has no preferred direction, in four dimensions as in three.
        q[:, at.stop - 4 : at.stop] = _unit(rng.standard_normal((rows, 4)))
    return q[0] if batch is None else q


def integrate(model: RobotModel, q: ArrayLike, v: ArrayLike) -> Array:
    """Return q ⊕ v: where q comes by moving along the tangent v for one unit of time.

    Args:
        model: the robot.
        q: configurations, shape (nq,) or (B, nq); quaternions are normalised first.
        v: tangent vectors, shape (nv,) or (B, nv) [rad, m].

    Returns:
        Configurations with unit quaternions, shape (nq,), or (B, nq) if an argument is batched.

    Raises:
        InputError: a wrong width or rank, unequal batches, or a quaternion of zero length.
    """
    q0, dv, batched = _pair(_rows(q, "q", "nq", model.nq), _rows(v, "v", "nv", model.nv))
    result = np.empty_like(q0)
    for joint, at, tangent in _blocks(model):
        x, d = q0[:, at], dv[:, tangent]
        if joint.nq == 1:
            result[:, at] = x + d
            continue
        rotation = _checked_unit(x[:, -4:], joint)
        omega = d[:, -3:]
        result[:, at.stop - 4 : at.stop] = _unit(
            quaternion_product(rotation, quaternion_exp(omega))
        )
        if joint.kind is JointKind.FLOATING:
            step = quaternion_rotate(rotation, left_jacobian(omega, d[:, :3]))
            result[:, at.start : at.start + 3] = x[:, :3] + step
    return result if batched else result[0]


def difference(model: RobotModel, q0: ArrayLike, q1: ArrayLike) -> Array:
    """Return q1 ⊖ q0: the shortest v with integrate(q0, v) = q1, as a rotation.

    Args:
        model: the robot.
        q0: configurations, shape (nq,) or (B, nq); quaternions are normalised first.
        q1: likewise.

    Returns:
        Tangent vectors, shape (nv,), or (B, nv) if an argument is batched [rad, m]; rotations
        are at most π.

    Raises:
        InputError: a wrong width or rank, unequal batches, or a quaternion of zero length.
    """
    a, b, batched = _pair(_rows(q0, "q0", "nq", model.nq), _rows(q1, "q1", "nq", model.nq))
    result = np.empty((len(a), model.nv))
    for joint, at, tangent in _blocks(model):
        x, y = a[:, at], b[:, at]
        if joint.nq == 1:
            result[:, tangent] = y - x
            continue
        back = quaternion_conjugate(_checked_unit(x[:, -4:], joint))
        omega = quaternion_log(quaternion_product(back, _checked_unit(y[:, -4:], joint)))
        result[:, tangent.stop - 3 : tangent.stop] = omega
        if joint.kind is JointKind.FLOATING:
            step = quaternion_rotate(back, y[:, :3] - x[:, :3])
            result[:, tangent.start : tangent.start + 3] = left_jacobian_inverse(omega, step)
    return result if batched else result[0]


def _blocks(model: RobotModel) -> Iterator[tuple[Joint, slice, slice]]:
    """Yield each independent joint with its slices of q and of v."""
    for joint in model.joints:
        if joint.q_start is not None and joint.v_start is not None:
            yield (
                joint,
                slice(joint.q_start, joint.q_start + joint.nq),
                slice(joint.v_start, joint.v_start + joint.nv),
            )


def _interval(joint: Joint) -> tuple[float, float]:
    half = 1.0 if joint.kind is JointKind.PRISMATIC else np.pi
    lower, upper = joint.limits.lower, joint.limits.upper
    low = lower if lower is not None else min(-half, half if upper is None else upper - half)
    high = upper if upper is not None else max(half, low + half)
    return low, high


def _rows(value: ArrayLike, name: str, symbol: str, width: int) -> tuple[Array, bool]:
    """Return the argument as rows, and whether it was a batch."""
    array = np.asarray(value, dtype=np.float64)
    if array.ndim not in {1, 2} or array.shape[-1] != width:
        raise InputError(
            f"{name} must be (B, {symbol}={width}) or ({symbol}={width},); got {array.shape}"
        )
    return np.atleast_2d(array), array.ndim == 2


def _pair(a: tuple[Array, bool], b: tuple[Array, bool]) -> tuple[Array, Array, bool]:
    """Repeat an unbatched argument to the other's batch."""
    (x, x_batched), (y, y_batched) = a, b
    if x_batched and y_batched and len(x) != len(y):
        raise InputError(f"the batches differ: {len(x)} and {len(y)}")
    rows = len(x) if x_batched else len(y)
    x = np.broadcast_to(x, (rows, x.shape[1]))
    y = np.broadcast_to(y, (rows, y.shape[1]))
    return x, y, x_batched or y_batched


def _unit(quaternions: Array) -> Array:
    length: Array = np.linalg.norm(quaternions, axis=-1, keepdims=True)
    return np.divide(quaternions, length)


def _checked_unit(quaternions: Array, joint: Joint) -> Array:
    if not np.all(quaternions.any(axis=-1)):
        raise InputError(f"the quaternion of joint {joint.name!r} has zero length")
    return _unit(quaternions)
