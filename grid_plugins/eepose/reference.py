"""End-effector kinematics, textbook form: batched NumPy in float64.

Poses are products of exponentials. With the generator Ĝ_i of coordinate i in the world's
coordinates (4×4), ∂T/∂v_i = Ĝ_i T, and for i on a joint nearer to the root than k's
∂²T/∂v_i∂v_k = Ĝ_i Ĝ_k T; within one joint, where v goes through an exponential, it is
½ (Ĝ_i Ĝ_k + Ĝ_k Ĝ_i) T. Roll, pitch and yaw are functions of T's entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from grid_core.model.types import JointKind
from grid_core.reference.coordinates import fold_matrix
from grid_core.reference.joints import motion_subspace
from grid_core.reference.kinematics import forward_kinematics as all_placements

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.algorithm import Context
    from grid_core.model.types import Array, Frame, RobotModel

__all__ = [
    "end_effector_pose",
    "end_effector_pose_gradient",
    "end_effector_pose_hessian",
]


def end_effector_pose(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return position [m] and roll, pitch, yaw [rad] of every target, ``pose`` (B, 6 nee).

    R = Rz(yaw) Ry(pitch) Rx(roll). Inputs: ``q`` (B, nq).
    """
    T = _target_placements(ctx)
    return {"pose": _pose(T).reshape(len(T), 6 * T.shape[1])}


def end_effector_pose_gradient(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return ∂pose/∂v of every target at q ⊕ v, v = 0: ``J`` (B, 6 nee, nv).

    Inputs: ``q`` (B, nq).
    """
    q, nv = ctx["q"], ctx.model.nv
    blocks = [_PoseDerivatives.at(ctx, frame).gradient() for frame in _targets(ctx)]
    return {"J": np.concatenate([*blocks, np.zeros((len(q), 0, nv))], axis=1)}


def end_effector_pose_hessian(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return ∂²pose/∂v² of every target at q ⊕ v, v = 0: ``H`` (B, 6 nee, nv, nv), symmetric.

    Inputs: ``q`` (B, nq).
    """
    q, nv = ctx["q"], ctx.model.nv
    blocks = [_PoseDerivatives.at(ctx, frame).hessian() for frame in _targets(ctx)]
    return {"H": np.concatenate([*blocks, np.zeros((len(q), 0, nv, nv))], axis=1)}


def _targets(ctx: Context[Array]) -> list[Frame]:
    return [ctx.model.frames[target] for target in ctx.options.targets]


def _placement(T_root_body: Array, frame: Frame) -> Array:
    """T_root_frame, shape (B, 4, 4)."""
    if frame.body < 0:
        return np.tile(frame.placement, (len(T_root_body), 1, 1))
    return np.asarray(T_root_body[:, frame.body] @ frame.placement)


def _target_placements(ctx: Context[Array]) -> Array:
    T_root_body = all_placements(ctx.model, ctx["q"])
    placements = [_placement(T_root_body, frame) for frame in _targets(ctx)]
    return np.stack([*placements], axis=1) if placements else np.zeros((len(T_root_body), 0, 4, 4))


def _pose(T: Array) -> Array:
    """[x y z roll pitch yaw] of placements (..., 4, 4)."""
    roll = np.arctan2(T[..., 2, 1], T[..., 2, 2])
    pitch = np.arctan2(-T[..., 2, 0], np.hypot(T[..., 0, 0], T[..., 1, 0]))
    yaw = np.arctan2(T[..., 1, 0], T[..., 0, 0])
    return np.concatenate([T[..., :3, 3], np.stack([roll, pitch, yaw], axis=-1)], axis=-1)


@frozen(eq=False)
class _PoseDerivatives:
    """A frame's placement with its first and second derivatives, joints' own coordinates."""

    T: Array
    """Shape (B, 4, 4)."""
    first: Array
    """Shape (B, n, 4, 4); n counts the coordinates of all joints, mimics too."""
    second: Array
    """Shape (B, n, n, 4, 4)."""
    G: Array
    """The joints' coordinates from the independent ones, (n, nv)."""

    @classmethod
    def at(cls, ctx: Context[Array], frame: Frame) -> _PoseDerivatives:
        model = ctx.model
        T_root_body = all_placements(model, ctx["q"])
        T = _placement(T_root_body, frame)
        mujoco = ctx.options.output_convention == "mujoco"
        G_hat, rank = _generators(model, T_root_body, frame.body, world_base=mujoco)
        dT = G_hat @ T[:, None]
        products = G_hat[:, :, None] @ G_hat[:, None, :]
        swapped = products.swapaxes(1, 2)
        order = np.sign(rank[None, :] - rank[:, None])[:, :, None, None]
        pairs = np.where(
            order > 0, products, np.where(order < 0, swapped, 0.5 * (products + swapped))
        )
        return cls(T, dT, pairs @ T[:, None, None], fold_matrix(model))

    def gradient(self) -> Array:
        """∂[x y z roll pitch yaw]/∂v, shape (B, 6, nv)."""
        rows = [self.first[:, :, k, 3] for k in range(3)]
        rows += [_atan2_first(*y_x) for y_x in self._arguments()]
        return np.stack(rows, axis=1) @ self.G

    def hessian(self) -> Array:
        """∂²[x y z roll pitch yaw]/∂v², shape (B, 6, nv, nv)."""
        blocks = [self.second[:, :, :, k, 3] for k in range(3)]
        blocks += [_atan2_second(*y_x) for y_x in self._arguments()]
        return np.asarray(self.G.T @ np.stack(blocks, axis=1) @ self.G)

    def _entry(self, i: int, j: int) -> _Jet:
        return _Jet(self.T[:, i, j], self.first[:, :, i, j], self.second[:, :, :, i, j])

    def _arguments(self) -> list[tuple[_Jet, _Jet]]:
        """(y, x) of roll, pitch and yaw = atan2(y, x)."""
        cosine = _hypot(self._entry(0, 0), self._entry(1, 0))
        return [
            (self._entry(2, 1), self._entry(2, 2)),
            (-self._entry(2, 0), cosine),
            (self._entry(1, 0), self._entry(0, 0)),
        ]


@frozen(eq=False)
class _Jet:
    """A scalar with its gradient and its Hessian."""

    f: Array
    """Shape (B,)."""
    d: Array
    """Shape (B, n)."""
    dd: Array
    """Shape (B, n, n)."""

    def __neg__(self) -> _Jet:
        return _Jet(-self.f, -self.d, -self.dd)


def _outer(a: Array, b: Array) -> Array:
    return np.asarray(a[:, :, None] * b[:, None, :])


def _hypot(x: _Jet, y: _Jet) -> _Jet:
    """With r = √(x² + y²): r dr = x dx + y dy, and once more."""
    r = np.hypot(x.f, y.f)
    dr = (x.f[:, None] * x.d + y.f[:, None] * y.d) / r[:, None]
    second = _outer(x.d, x.d) + _outer(y.d, y.d) - _outer(dr, dr)
    second += x.f[:, None, None] * x.dd + y.f[:, None, None] * y.dd
    return _Jet(r, dr, second / r[:, None, None])


def _atan2_first(y: _Jet, x: _Jet) -> Array:
    """(x dy - y dx) / (x² + y²)."""
    square = x.f**2 + y.f**2
    return np.asarray((x.f[:, None] * y.d - y.f[:, None] * x.d) / square[:, None])


def _atan2_second(y: _Jet, x: _Jet) -> Array:
    """The quotient rule on `_atan2_first`."""
    first, square = _atan2_first(y, x), (x.f**2 + y.f**2)[:, None, None]
    top = x.f[:, None, None] * y.dd - y.f[:, None, None] * x.dd
    top += _outer(y.d, x.d) - _outer(x.d, y.d)
    growth = 2.0 * (x.f[:, None] * x.d + y.f[:, None] * y.d)
    return np.asarray((top - _outer(first, growth)) / square)


def _generators(
    model: RobotModel, T_root_body: Array, body: int, *, world_base: bool
) -> tuple[Array, Array]:
    """Return Ĝ (B, n, 4, 4) of all joints' coordinates, 0 off the chain, and their ranks (n,)."""
    on_chain = set()
    while body >= 0:
        on_chain.add(body)
        body = model.joints[body].parent
    found, rank = [], []
    for joint in model.joints:
        T = T_root_body[:, joint.id]
        inverse = np.linalg.inv(T)
        for k, S in enumerate(motion_subspace(joint).T):
            free = world_base and joint.kind is JointKind.FLOATING and k < 3
            twist = np.zeros((4, 4))
            twist[:3] = np.column_stack([_skew(S[:3]), S[3:]])
            moving = np.tile(twist, (len(T), 1, 1)) if free else T @ twist @ inverse
            found.append(moving if joint.id in on_chain else np.zeros_like(T))
            rank.append(joint.id - 0.5 if free else joint.id)
    n = len(found)
    return np.stack(found, axis=1) if n else np.zeros((len(T_root_body), 0, 4, 4)), np.array(rank)


def _skew(w: Array) -> Array:
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
