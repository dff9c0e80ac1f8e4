"""Frames fixed to bodies: where they are, and their Jacobians in spatial coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from grid_core.model.types import JointKind
from grid_core.reference.coordinates import fold_matrix
from grid_core.reference.joints import motion_subspace
from grid_core.reference.kinematics import forward_kinematics
from grid_core.reference.spatial import apply, crm, motion_transform, swap_halves
from grid_core.targets import chosen_frame

if TYPE_CHECKING:
    from grid_core.algorithm import Options
    from grid_core.model.types import Array, Frame, RobotModel

__all__ = ["FrameMotion", "ancestors", "frame_placement"]


def frame_placement(T_root_body: Array, frame: Frame) -> Array:
    """Return T_root_frame, shape (B, 4, 4), from all bodies' placements (B, nb, 4, 4)."""
    if frame.body < 0:
        return np.tile(frame.placement, (len(T_root_body), 1, 1))
    return np.asarray(T_root_body[:, frame.body] @ frame.placement)


@frozen(eq=False)
class FrameMotion:
    """The columns of all joints' coordinates in the root's coordinates, [angular; linear]."""

    model: RobotModel
    kind: str
    T: Array
    """T_root_frame, (B, 4, 4)."""
    J: Array
    """Columns of the joints that move the frame, 0 for the others, (B, 6, n)."""
    carried: Array
    """Which coordinates [second axis] carry a coordinate's axis [first] along, (n, n)."""
    G: Array

    @classmethod
    def at(cls, model: RobotModel, options: Options, q: Array) -> FrameMotion:
        """Find the columns of the chosen frame at configurations q (B, nq)."""
        frame = chosen_frame(model, options)
        T_root_body = forward_kinematics(model, q)
        world_base = options.output_convention == "mujoco"
        above = ancestors(model)
        columns, owners = [], []
        for joint in model.joints:
            X = motion_transform(np.asarray(np.linalg.inv(T_root_body[:, joint.id])))
            for k, S in enumerate(motion_subspace(joint).T):
                free = world_base and joint.kind is JointKind.FLOATING and k < 3
                column = np.tile(S, (len(X), 1)) if free else X @ S
                columns.append(column * (frame.body >= 0 and joint.id in above[frame.body]))
                owners.append(-1 if free else joint.id)
        count = len(columns)
        carried = np.zeros((count, count))
        for i, owner in enumerate(owners):
            for k, other in enumerate(owners):
                carried[i, k] = owner >= 0 and (other < 0 or other in above[owner])
        J = np.stack(columns, axis=2) if columns else np.zeros((len(T_root_body), 6, 0))
        T = frame_placement(T_root_body, frame)
        return cls(model, options.reference_frame, T, J, carried, fold_matrix(model))

    def folded(self, J: Array) -> Array:
        """Bring columns into the frame's coordinates, linear rows first, mimics folded."""
        X = motion_transform(self._coordinates())
        return swap_halves((X @ J).swapaxes(1, 2)).swapaxes(1, 2) @ self.G

    def rate(self, rates: Array) -> Array:
        """Return the rate of J as the frame's coordinates see it, in the root's."""
        J, v = self.J, np.einsum("bmk,bk->bm", self.J, rates)
        bodies = np.einsum("bmk,ik,bk->bim", J, self.carried, rates)
        own = (
            np.stack([apply(crm(bodies[:, i]), J[:, :, i]) for i in range(J.shape[2])], axis=2)
            if J.shape[2]
            else J
        )
        return np.asarray(own - crm(self._velocity(v)) @ J)

    def _coordinates(self) -> Array:
        """The placement whose axes and origin V is taken in."""
        T = self.T.copy()
        if self.kind != "local":
            T[:, :3, :3] = np.eye(3)
        if self.kind == "world":
            T[:, :3, 3] = 0.0
        return T

    def _velocity(self, v: Array) -> Array:
        """How those axes move, v the frame's own spatial velocity."""
        if self.kind == "local":
            return v
        moving = np.zeros_like(v)
        if self.kind == "local_world_aligned":
            moving[:, 3:] = v[:, 3:] + np.cross(v[:, :3], self.T[:, :3, 3])
        return moving


def ancestors(model: RobotModel) -> list[set[int]]:
    """The joints that move each body."""
    above: list[set[int]] = []
    for joint in model.joints:
        above.append({joint.id} | (above[joint.parent] if joint.parent >= 0 else set()))
    return above
