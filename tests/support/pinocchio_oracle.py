"""Pinocchio's answers in Grid's coordinates.

Pinocchio's model has a coordinate for every joint, also for one that mimics, and other
coordinates for some joints: (cos, sin) for a continuous joint, one planar or free-flyer joint
where Grid has a row of simpler ones. With its velocity V = P(q) v and acceleration
A = P(q) v̇ + c(q, v), every quantity transforms by the principle of virtual power:
M = Pᵀ M_pin P and τ = Pᵀ τ_pin(q, P v, P v̇ + c).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from grid_core.model.types import Joint, JointKind
from grid_core.reference.coordinates import joint_positions, joint_rates
from grid_core.reference.rotations import axis_rotation, quaternion_rotation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grid_core.model.types import Array, RobotModel

__all__ = ["PinocchioOracle"]

_LOCAL = pin.ReferenceFrame.LOCAL


class PinocchioOracle:
    """Pinocchio beside a model of ours; all arrays are batched as ours are.

    Attributes:
        model: our model.
        pin: Pinocchio's.
        groups: our joints that stand for each of Pinocchio's joints 1, 2, ...
    """

    def __init__(self, model: RobotModel, pinocchio: pin.Model, groups: list[list[Joint]]) -> None:
        self.model = model
        self.pin = pinocchio
        self.groups = groups
        self.data = pinocchio.createData()

    @classmethod
    def from_urdf(cls, model: RobotModel, text: str) -> PinocchioOracle:
        """Let Pinocchio read the same document. It takes every planar joint to be in x and y."""
        root = [pin.JointModelFreeFlyer()] if model.floating_base else []
        built = pin.buildModelFromXML(text, *root)
        start = 1 if model.floating_base else 0
        groups = [[model.joints[0]]] if model.floating_base else []
        names = list(built.names)[1 + start :]
        groups += [[j for j in model.joints[start:] if j.source == name] for name in names]
        assert sum(map(len, groups)) == model.nj, "a joint is missing on one side"
        return cls(model, built, groups)

    @classmethod
    def from_records(cls, model: RobotModel) -> PinocchioOracle:
        """Build Pinocchio's model joint by joint from our records: every kind, any parser."""
        built = pin.Model()
        for joint, body in zip(model.joints, model.bodies, strict=True):
            I = body.inertia
            placement = pin.SE3(np.array(joint.placement))
            index = built.addJoint(joint.parent + 1, _joint_model(joint), placement, joint.name)
            inertia = pin.Inertia(I.mass, np.array(I.com), np.array(I.rotational))
            built.appendBodyToJoint(index, inertia, pin.SE3.Identity())
        return cls(model, built, [[joint] for joint in model.joints])

    def mass_matrix(self, q: Array) -> Array:
        """Return M, shape (B, nv, nv)."""
        return self._batch(self._mass_matrix, q)

    def gravity(self, q: Array) -> Array:
        """Return the generalised gravity force, shape (B, nv)."""
        rest = np.zeros((len(q), self.model.nv))
        return self.inverse_dynamics(q, rest, rest)

    def inverse_dynamics(
        self, q: Array, qd: Array, qdd: Array, f_ext: Array | None = None
    ) -> Array:
        """Return τ, shape (B, nv). f_ext must vanish on bodies that Pinocchio does not have."""
        return self._batch(self._inverse_dynamics, q, qd, qdd, *_given(f_ext))

    def forward_dynamics(self, q: Array, qd: Array, u: Array, f_ext: Array | None = None) -> Array:
        """Return q̈ [its ABA where no joint mimics, else M⁻¹ (u - h)], shape (B, nv)."""
        return self._batch(self._forward_dynamics, q, qd, u, *_given(f_ext))

    def minv(self, q: Array) -> Array:
        """Return M⁻¹, shape (B, nv, nv)."""
        return self._batch(self._minv, q)

    def placements(self, q: Array) -> tuple[list[int], Array]:
        """Return the IDs of our bodies that Pinocchio has, and their T_root_body."""
        ids = [group[-1].id for group in self.groups]
        return ids, self._batch(self._placements, q)

    @property
    def same_coordinates(self) -> bool:
        """Whether P is constant and c vanishes: every joint is one of Pinocchio's."""
        return all(len(group) == 1 for group in self.groups)

    def inverse_dynamics_gradient(
        self, q: Array, qd: Array, qdd: Array, f_ext: Array | None = None
    ) -> Array:
        """Return [∂τ/∂q | ∂τ/∂q̇] where the coordinates are the same, shape (B, nv, 2 nv)."""
        assert self.same_coordinates
        return self._batch(self._inverse_dynamics_gradient, q, qd, qdd, *_given(f_ext))

    def forward_dynamics_gradient(
        self, q: Array, qd: Array, u: Array, f_ext: Array | None = None
    ) -> Array:
        """Return [∂q̈/∂q | ∂q̈/∂q̇] where the coordinates are the same, shape (B, nv, 2 nv).

        By its ABA's derivatives where no joint mimics, else by -M⁻¹ [∂τ/∂q | ∂τ/∂q̇].
        """
        assert self.same_coordinates
        return self._batch(self._forward_dynamics_gradient, q, qd, u, *_given(f_ext))

    def _batch(self, function: Callable[..., Array], *arrays: Array) -> Array:
        return np.array([function(*rows) for rows in zip(*arrays, strict=True)])

    def _mass_matrix(self, q: Array) -> Array:
        Q, P, _ = self.convert(q, np.zeros(self.model.nv))
        return np.asarray(P.T @ _symmetric(pin.crba(self.pin, self.data, Q)) @ P)

    def _inverse_dynamics(
        self, q: Array, qd: Array, qdd: Array, f_ext: Array | None = None
    ) -> Array:
        Q, P, c = self.convert(q, qd)
        tau = pin.rnea(self.pin, self.data, Q, P @ qd, P @ qdd + c, *self._forces(f_ext))
        return np.asarray(P.T @ tau)

    def _forward_dynamics(self, q: Array, qd: Array, u: Array, f_ext: Array | None = None) -> Array:
        Q, P, c = self.convert(q, qd)
        if P.shape[0] != P.shape[1]:
            h = self._inverse_dynamics(q, qd, np.zeros_like(qd), f_ext)
            return np.asarray(np.linalg.solve(self._mass_matrix(q), u - h))
        U = np.linalg.solve(P.T, u)
        A = pin.aba(self.pin, self.data, Q, P @ qd, U, *self._forces(f_ext))
        return np.asarray(np.linalg.solve(P, A - c))

    def _inverse_dynamics_gradient(
        self, q: Array, qd: Array, qdd: Array, f_ext: Array | None = None
    ) -> Array:
        Q, P, _ = self.convert(q, qd)
        slopes = pin.computeRNEADerivatives(
            self.pin, self.data, Q, P @ qd, P @ qdd, *self._forces(f_ext)
        )
        return np.hstack([P.T @ np.array(slope) @ P for slope in slopes[:2]])

    def _forward_dynamics_gradient(
        self, q: Array, qd: Array, u: Array, f_ext: Array | None = None
    ) -> Array:
        Q, P, _ = self.convert(q, qd)
        if P.shape[0] != P.shape[1]:
            qdd = self._forward_dynamics(q, qd, u, f_ext)
            dtau = self._inverse_dynamics_gradient(q, qd, qdd, f_ext)
            return np.asarray(-np.linalg.solve(self._mass_matrix(q), dtau))
        slopes = pin.computeABADerivatives(
            self.pin, self.data, Q, P @ qd, np.linalg.solve(P.T, u), *self._forces(f_ext)
        )
        return np.hstack([np.linalg.solve(P, np.array(slope) @ P) for slope in slopes[:2]])

    def _minv(self, q: Array) -> Array:
        Q, P, _ = self.convert(q, np.zeros(self.model.nv))
        if P.shape[0] != P.shape[1]:
            return np.asarray(np.linalg.inv(self._mass_matrix(q)))
        Pinv = np.linalg.inv(P)
        inverse = _symmetric(pin.computeMinverse(self.pin, self.data, Q))
        return np.asarray(Pinv @ inverse @ Pinv.T)

    def _placements(self, q: Array) -> Array:
        Q, _, _ = self.convert(q, np.zeros(self.model.nv))
        pin.forwardKinematics(self.pin, self.data, Q)
        count = len(self.groups)
        return np.array([self.data.oMi[i + 1].homogeneous for i in range(count)])

    def _forces(self, f_ext: Array | None) -> list[Any]:
        """Return Pinocchio's list of local forces [linear; angular], the universe's first."""
        if f_ext is None:
            return []
        known = [group[-1].id for group in self.groups]
        assert not np.any(np.delete(f_ext, known, axis=0)), "a force on a body Pinocchio lacks"
        forces = pin.StdVec_Force()
        for wrench in (np.zeros(6), *f_ext[known]):
            forces.append(pin.Force(wrench))
        return [forces]

    def convert(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Return Pinocchio's q, P and c at one state."""
        own_q = [x[0] for x in joint_positions(self.model, q[None])]
        own_v = [x[0] for x in joint_rates(self.model, v[None])]
        # Column k of dv is what joint_rates makes of the k-th unit velocity.
        dv = joint_rates(self.model, np.eye(self.model.nv))
        Q = np.zeros(self.pin.nq)
        P, c = np.zeros((self.pin.nv, self.model.nv)), np.zeros(self.pin.nv)
        for i, group in enumerate(self.groups, start=1):
            theirs = self.pin.joints[i]
            q_group, v_group = ([x[j.id] for j in group] for x in (own_q, own_v))
            Q_i, P_i, c_i = _convert_group(
                theirs.nq, group, np.concatenate(q_group), np.concatenate(v_group)
            )
            rows = slice(theirs.idx_v, theirs.idx_v + theirs.nv)
            Q[theirs.idx_q : theirs.idx_q + theirs.nq] = Q_i
            P[rows] = P_i @ np.concatenate([dv[j.id].T for j in group])
            c[rows] = c_i
        return Q, P, c


def _convert_group(nq: int, group: list[Joint], q: Array, v: Array) -> tuple[Array, Array, Array]:
    """Return one Pinocchio joint's q, P and c from the coordinates of ours that stand for it."""
    if len(group) == 1:
        if nq == 2:  # (cos θ, sin θ)
            q = np.array([np.cos(q[0]), np.sin(q[0])])
        return q, np.eye(len(v)), np.zeros(len(v))
    # Ours slides along fixed axes, then turns; theirs has the local velocity: ṗ = R V.
    # V = Rᵀ ṗ gives V̇ = Rᵀ p̈ - ω (cross) V.
    slides = np.array([j.axis for j in group if j.kind is JointKind.PRISMATIC]).T
    n = slides.shape[1]
    if n == 2:
        axis = group[-1].axis
        assert axis is not None
        R, omega = axis_rotation(axis, q[2:3])[0], axis * v[2]
        Q = np.concatenate([(slides @ q[:2])[:2], [R[0, 0], R[1, 0]]])
    else:
        R, omega = quaternion_rotation(q[None, 3:])[0], v[3:]
        Q = np.concatenate([slides @ q[:3], q[3:]])
    P, c = np.eye(len(v)), np.zeros(len(v))
    P[:n, :n] = (R.T @ slides)[:n]
    c[:n] = -np.cross(omega, R.T @ slides @ v[:n])[:n]
    return Q, P, c


def _joint_model(joint: Joint) -> Any:
    if joint.kind is JointKind.FLOATING:
        return pin.JointModelFreeFlyer()
    if joint.kind is JointKind.SPHERICAL:
        return pin.JointModelSpherical()
    axis = np.array(joint.axis)
    if joint.kind is JointKind.PRISMATIC:
        return pin.JointModelPrismaticUnaligned(axis)
    if joint.kind is JointKind.HELICAL:
        return pin.JointModelHelicalUnaligned(axis, joint.pitch)
    return pin.JointModelRevoluteUnaligned(axis)


def _symmetric(upper: Array) -> Array:
    return np.asarray(np.triu(upper) + np.triu(upper, 1).T)


def _given(f_ext: Array | None) -> Iterator[Array]:
    if f_ext is not None:
        yield f_ext
