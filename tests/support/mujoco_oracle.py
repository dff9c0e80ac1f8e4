"""MuJoCo beside a model of ours: from the same URDF, or built from our records as an MJCF."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from grid_core.model.types import JointKind

if TYPE_CHECKING:
    from grid_core.model.types import Array, Frame, Joint, RobotModel

__all__ = ["MujocoOracle"]

_TYPES = {
    JointKind.PRISMATIC: mujoco.mjtJoint.mjJNT_SLIDE,
    JointKind.SPHERICAL: mujoco.mjtJoint.mjJNT_BALL,
    JointKind.FLOATING: mujoco.mjtJoint.mjJNT_FREE,
}


class MujocoOracle:
    """MuJoCo's numbers in our order of joints, one state at a time."""

    def __init__(self, model: RobotModel, theirs: Any) -> None:
        # Limits act as contacts do, and have no part in the equations of motion.
        theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.model, self.mj, self.data = model, theirs, mujoco.MjData(theirs)
        assert (theirs.nq, theirs.nv) == (model.nq, model.nv)
        self.q, self.v = [], []
        for joint in model.joints:
            at = theirs.joint(joint.name)
            self.q += list(at.qposadr[0] + np.arange(joint.nq))
            self.v += list(at.dofadr[0] + np.arange(joint.nv))
        self.bodies = [int(theirs.joint(joint.name).bodyid[0]) for joint in model.joints]

    @classmethod
    def from_urdf(cls, model: RobotModel, text: str) -> MujocoOracle:
        """Let MuJoCo read the same document, and free its root if ours floats."""
        spec = mujoco.MjSpec.from_string(text)
        if model.floating_base:
            joint = spec.body(model.root_link).add_freejoint()
            joint.name = model.joints[0].name
        return cls(model, spec.compile())

    @classmethod
    def from_mjcf(cls, model: RobotModel, text: str) -> MujocoOracle:
        """Write what MuJoCo made of the URDF as an MJCF, and read that."""
        spec = mujoco.MjSpec.from_string(text)
        if model.floating_base:
            joint = spec.body(model.root_link).add_freejoint()
            joint.name = model.joints[0].name
        spec.compile()
        return cls(model, mujoco.MjModel.from_xml_string(spec.to_xml()))

    @classmethod
    def from_records(cls, model: RobotModel) -> MujocoOracle:
        """Build an MJCF from our records: balls too, and a free root."""
        spec = mujoco.MjSpec()
        spec.compiler.degree = False
        bodies: list[Any] = []
        for joint, body in zip(model.joints, model.bodies, strict=True):
            parent = spec.worldbody if joint.parent < 0 else bodies[joint.parent]
            quaternion = np.zeros(4)
            mujoco.mju_mat2Quat(quaternion, np.array(joint.placement[:3, :3]).ravel())
            made = parent.add_body(
                name=f"body {joint.id}", pos=joint.placement[:3, 3], quat=quaternion
            )
            made.explicitinertial = True
            made.mass, made.ipos = body.inertia.mass, body.inertia.com
            I = body.inertia.rotational
            made.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
            _add_joint(made, joint)
            bodies.append(made)
        return cls(model, spec.compile())

    def set(self, q: Array, v: Array | None = None) -> None:
        """Bring MuJoCo to a state, in MuJoCo's coordinates and our order."""
        self.data.qpos[self.q] = q
        self.data.qvel[self.v] = np.zeros(self.model.nv) if v is None else v
        self.data.qfrc_applied[:] = 0.0
        mujoco.mj_forward(self.mj, self.data)

    def mass_matrix(self) -> Array:
        """Return M (nv, nv)."""
        full = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.mj, self.data, full)
        return full[np.ix_(self.v, self.v)]

    def bias(self) -> Array:
        """Return h (nv,)."""
        return self.data.qfrc_bias[self.v].copy()

    def inverse(self, a: Array) -> Array:
        """Return the force of an acceleration (nv,)."""
        self.data.qacc[self.v] = a
        mujoco.mj_inverse(self.mj, self.data)
        return self.data.qfrc_inverse[self.v].copy()

    def forward(self, u: Array) -> Array:
        """Return the acceleration of a force (nv,)."""
        self.data.qfrc_applied[self.v] = u
        mujoco.mj_forward(self.mj, self.data)
        return self.data.qacc[self.v].copy()

    def placement(self, frame: Frame) -> Array:
        """Return T_world_frame (4, 4)."""
        T = np.eye(4)
        body = self.bodies[frame.body]
        T[:3, :3] = self.data.xmat[body].reshape(3, 3)
        T[:3, 3] = self.data.xpos[body]
        return np.asarray(T @ frame.placement)

    def jacobian(self, frame: Frame, *, rate: bool = False) -> Array:
        """Return mj_jac, or mj_jacDot, at a frame's origin (6, nv)."""
        point, body = self.placement(frame)[:3, 3].copy(), self.bodies[frame.body]
        rows = np.zeros((2, 3, self.model.nv))
        function = mujoco.mj_jacDot if rate else mujoco.mj_jac
        function(self.mj, self.data, rows[0], rows[1], point, body)
        return np.concatenate(list(rows))[:, self.v]

    def integrate(self, q: Array, v: Array) -> Array:
        """Return mj_integratePos over unit time."""
        theirs, rate = np.zeros(self.model.nq), np.zeros(self.model.nv)
        theirs[self.q], rate[self.v] = q, v
        mujoco.mj_integratePos(self.mj, theirs, rate, 1.0)
        return theirs[self.q]

    def difference(self, q0: Array, q1: Array) -> Array:
        """Return mj_differentiatePos over unit time."""
        a, b, rate = np.zeros(self.model.nq), np.zeros(self.model.nq), np.zeros(self.model.nv)
        a[self.q], b[self.q] = q0, q1
        mujoco.mj_differentiatePos(self.mj, rate, 1.0, a, b)
        return rate[self.v]


def _add_joint(body: Any, joint: Joint) -> None:
    kind = _TYPES.get(joint.kind, mujoco.mjtJoint.mjJNT_HINGE)
    axis = {} if joint.axis is None else {"axis": joint.axis}
    body.add_joint(name=joint.name, type=kind, **axis)
