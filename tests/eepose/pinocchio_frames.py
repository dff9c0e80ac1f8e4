"""Frames' placements, Jacobians and second derivatives by Pinocchio, in our coordinates."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

if TYPE_CHECKING:
    from grid_core.model.types import Array, Frame
    from tests.support.pinocchio_oracle import PinocchioOracle

__all__ = ["REFERENCE_FRAMES", "FrameOracle", "angles", "rates_matrix"]

REFERENCE_FRAMES = {
    "local_world_aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
    "local": pin.ReferenceFrame.LOCAL,
    "world": pin.ReferenceFrame.WORLD,
}


def angles(R: Array) -> Array:
    """Return roll, pitch and yaw as Pinocchio has them."""
    return np.asarray(pin.rpy.matrixToRpy(R))


def rates_matrix(rpy: Array) -> Array:
    """Return E with ω = E rpy', in the world's axes."""
    return np.asarray(
        pin.rpy.computeRpyJacobian(np.asarray(rpy), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    )


class FrameOracle:
    """One of our frames in Pinocchio's model."""

    def __init__(self, oracle: PinocchioOracle, frame: Frame) -> None:
        self.oracle, self.frame = oracle, frame
        bodies = [group[-1].id for group in oracle.groups]
        self.known = frame.body < 0 or frame.body in bodies
        """Whether Pinocchio has the body: it has none inside a planar or floating joint."""
        self.joint = bodies.index(frame.body) + 1 if frame.body in bodies else 0
        if self.known:
            name = f"tested {frame.id}"
            if not oracle.pin.existFrame(name):
                own = pin.Frame(
                    name, self.joint, pin.SE3(np.array(frame.placement)), pin.FrameType.OP_FRAME
                )
                oracle.pin.addFrame(own)
                oracle.data = oracle.pin.createData()
            self.id = oracle.pin.getFrameId(name)

    @functools.cached_property
    def constant(self) -> bool:
        """Whether both sides' velocities are constant multiples of each other."""
        return all(len(group) == 1 for group in self.oracle.groups)

    def placement(self, q: Array) -> Array:
        """Return T_root_frame (4, 4)."""
        Q, _, _ = self.oracle.convert(q, np.zeros(self.oracle.model.nv))
        pin.framesForwardKinematics(self.oracle.pin, self.oracle.data, Q)
        return np.asarray(self.oracle.data.oMf[self.id].homogeneous)

    def jacobian(self, q: Array, reference_frame: str) -> Array:
        """Return J (6, nv), linear rows first."""
        if not len(q):
            return np.zeros((6, 0))  # Pinocchio crashes
        Q, P, _ = self.oracle.convert(q, np.zeros(self.oracle.model.nv))
        pin.computeJointJacobians(self.oracle.pin, self.oracle.data, Q)
        pin.framesForwardKinematics(self.oracle.pin, self.oracle.data, Q)
        J = pin.getFrameJacobian(
            self.oracle.pin, self.oracle.data, self.id, REFERENCE_FRAMES[reference_frame]
        )
        return np.asarray(J @ P)

    def jacobian_rate(self, q: Array, qd: Array, reference_frame: str) -> tuple[Array, Array]:
        """Return dJ/dt (6, nv) and dJ/dt q̇ (6,); the first only where `constant`."""
        if not len(q):
            return np.zeros((6, 0)), np.zeros(6)
        Q, P, c = self.oracle.convert(q, qd)
        data, kind = self.oracle.data, REFERENCE_FRAMES[reference_frame]
        pin.computeJointJacobiansTimeVariation(self.oracle.pin, data, Q, P @ qd)
        pin.framesForwardKinematics(self.oracle.pin, data, Q)
        dJ = pin.getFrameJacobianTimeVariation(self.oracle.pin, data, self.id, kind)
        J = pin.getFrameJacobian(self.oracle.pin, data, self.id, kind)
        return np.asarray(dJ @ P), np.asarray(dJ @ (P @ qd) + J @ c)

    def gradient(self, q: Array) -> Array:
        """Return ∂[x y z roll pitch yaw]/∂v (6, nv)."""
        J = self.jacobian(q, "local_world_aligned")
        E = rates_matrix(angles(self.placement(q)[:3, :3]))
        return np.vstack([J[:3], np.linalg.solve(E, J[3:])])

    def hessian(self, q: Array) -> Array:
        """Return the second derivatives (6, nv, nv); for a joint's own frame, `constant`."""
        Q, P, _ = self.oracle.convert(q, np.zeros(self.oracle.model.nv))
        pin.computeJointJacobians(self.oracle.pin, self.oracle.data, Q)
        pin.computeJointKinematicHessians(self.oracle.pin, self.oracle.data)
        raw: Any = pin.getJointKinematicHessian(
            self.oracle.pin, self.oracle.data, self.joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )
        # The tensor's numbers come in columns first, whatever the array says.
        tensor = np.reshape(np.ravel(raw), np.shape(raw), order="F")
        dJ = np.einsum("rik,ia,kb->rab", tensor, P, P)
        gradient = self.gradient(q)
        rpy = angles(self.placement(q)[:3, :3])
        E = rates_matrix(rpy)
        spin = self.jacobian(q, "local_world_aligned")[3:]
        # rpy' = E⁻¹ ω, so its change is E⁻¹ (dω - dE rpy').
        dE = np.einsum("aij,ak->kij", _rates_matrix_gradient(rpy), gradient[3:])
        change = dJ[3:] - np.einsum("kij,ja->iak", dE, np.linalg.solve(E, spin))
        H = np.concatenate([dJ[:3], np.einsum("ij,jak->iak", np.linalg.inv(E), change)])
        return 0.5 * (H + H.swapaxes(1, 2))


def _rates_matrix_gradient(rpy: Array) -> Array:
    """Return ∂E/∂(roll, pitch, yaw), shape (3, 3, 3)."""
    _, pitch, yaw = rpy
    cp, sp, cy, sy = np.cos(pitch), np.sin(pitch), np.cos(yaw), np.sin(yaw)
    result = np.zeros((3, 3, 3))
    result[1, :, 0] = [-cy * sp, -sy * sp, -cp]
    result[2, :, 0] = [-sy * cp, cy * cp, 0.0]
    result[2, :, 1] = [-cy, -sy, 0.0]
    return result
