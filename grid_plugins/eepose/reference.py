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

from grid_core.model.types import Frame, FrameKind, JointKind
from grid_core.reference.coordinates import fold_matrix
from grid_core.reference.frames import FrameMotion
from grid_core.reference.frames import frame_placement as placement_of
from grid_core.reference.jets import Jet, atan2_first, atan2_second, hypot
from grid_core.reference.joints import motion_subspace
from grid_core.reference.kinematics import forward_kinematics as all_placements
from grid_core.reference.rotations import rotation_quaternion
from grid_core.targets import chosen_frame, first_leaf

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.algorithm import Context
    from grid_core.model.types import Array, RobotModel

__all__ = [
    "end_effector_pose",
    "end_effector_pose_gradient",
    "end_effector_pose_gradient_runtime",
    "end_effector_pose_hessian",
    "end_effector_pose_quaternion",
    "end_effector_pose_runtime",
    "fk_batched",
    "forward_kinematics",
    "frame_jacobian",
    "frame_jacobian_dot",
    "frame_placement",
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


def end_effector_pose_quaternion(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return position [m] and quaternion xyzw, w ≥ 0, of every target, ``pose`` (B, 7 nee).

    Inputs: ``q`` (B, nq).
    """
    T = _target_placements(ctx)
    pose = np.concatenate([T[..., :3, 3], rotation_quaternion(T[..., :3, :3])], axis=-1)
    return {"pose": pose.reshape(len(T), 7 * T.shape[1])}


def fk_batched(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return position [m] and quaternion wxyz, w ≥ 0, of the first leaf, ``pose`` (B, 7).

    Inputs: ``q`` (B, nq).
    """
    T = placement_of(all_placements(ctx.model, ctx["q"]), first_leaf(ctx.model))
    return {
        "pose": np.concatenate(
            [T[:, :3, 3], np.roll(rotation_quaternion(T[..., :3, :3]), 1, axis=-1)], axis=-1
        )
    }


def end_effector_pose_runtime(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return position [m] and roll, pitch, yaw [rad] of targets that are data.

    Inputs: ``q`` (B, nq); ``body`` (nee,), IDs of the targets' bodies, -1 for the root;
    ``placement`` (nee, 3, 4), the upper rows of T_body_target.

    Returns:
        ``pose`` (B, nee, 6).
    """
    T_root_body = all_placements(ctx.model, ctx["q"])
    placements = [placement_of(T_root_body, frame) for frame in _data_frames(ctx)]
    if not placements:
        return {"pose": np.zeros((len(T_root_body), 0, 6))}
    return {"pose": _pose(np.stack(placements, axis=1))}


def end_effector_pose_gradient_runtime(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return ∂pose/∂v of targets that are data, ``J`` (B, nee, 6, nv).

    Inputs: as for `end_effector_pose_runtime`.
    """
    blocks = [_PoseDerivatives.at(ctx, frame).gradient() for frame in _data_frames(ctx)]
    if not blocks:
        return {"J": np.zeros((len(ctx["q"]), 0, 6, ctx.model.nv))}
    return {"J": np.stack(blocks, axis=1)}


def frame_placement(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return T_root_frame of one frame, ``T`` (B, 4, 4) [m].

    Inputs: ``q`` (B, nq).
    """
    frame = chosen_frame(ctx.model, ctx.options)
    return {"T": placement_of(all_placements(ctx.model, ctx["q"]), frame)}


def forward_kinematics(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return T_root_body of every body, ``T`` (B, nb, 4, 4) [m].

    Inputs: ``q`` (B, nq).
    """
    return {"T": all_placements(ctx.model, ctx["q"])}


def frame_jacobian(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return J with V = J v, V the frame's velocity [linear; angular], ``J`` (B, 6, nv).

    Inputs: ``q`` (B, nq). The options say in which axes and at which point V is taken.
    """
    motion = FrameMotion.at(ctx.model, ctx.options, ctx["q"])
    return {"J": motion.folded(motion.J)}


def frame_jacobian_dot(ctx: Context[Array]) -> Mapping[str, Array]:
    """Return the time derivative of `frame_jacobian`, ``dJ`` (B, 6, nv).

    Inputs: ``q`` (B, nq); ``qd`` (B, nv). In coordinates that move with velocity v_f, the rate
    of a motion vector m is ṁ - v_f × m (Featherstone 2008, section 2.10).
    """
    motion = FrameMotion.at(ctx.model, ctx.options, ctx["q"])
    rates = ctx["qd"] @ motion.G.T
    return {"dJ": motion.folded(motion.rate(rates))}


def _data_frames(ctx: Context[Array]) -> list[Frame]:
    """The run-time targets as frames."""
    bodies, placements = ctx["body"], ctx["placement"]
    return [
        Frame(
            id=-1,
            name="target",
            kind=FrameKind.FIXED,
            body=round(float(body)),
            placement=np.vstack([placement, [0.0, 0.0, 0.0, 1.0]]),
        )
        for body, placement in zip(bodies, placements, strict=True)
    ]


def _targets(ctx: Context[Array]) -> list[Frame]:
    return [ctx.model.frames[target] for target in ctx.options.targets]


def _target_placements(ctx: Context[Array]) -> Array:
    T_root_body = all_placements(ctx.model, ctx["q"])
    placements = [placement_of(T_root_body, frame) for frame in _targets(ctx)]
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
        T = placement_of(T_root_body, frame)
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
        rows += [atan2_first(*y_x) for y_x in self._arguments()]
        return np.stack(rows, axis=1) @ self.G

    def hessian(self) -> Array:
        """∂²[x y z roll pitch yaw]/∂v², shape (B, 6, nv, nv)."""
        blocks = [self.second[:, :, :, k, 3] for k in range(3)]
        blocks += [atan2_second(*y_x) for y_x in self._arguments()]
        return np.asarray(self.G.T @ np.stack(blocks, axis=1) @ self.G)

    def _entry(self, i: int, j: int) -> Jet:
        return Jet(self.T[:, i, j], self.first[:, :, i, j], self.second[:, :, :, i, j])

    def _arguments(self) -> list[tuple[Jet, Jet]]:
        """(y, x) of roll, pitch and yaw = atan2(y, x)."""
        cosine = hypot(self._entry(0, 0), self._entry(1, 0))
        return [
            (self._entry(2, 1), self._entry(2, 2)),
            (-self._entry(2, 0), cosine),
            (self._entry(1, 0), self._entry(0, 0)),
        ]


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
