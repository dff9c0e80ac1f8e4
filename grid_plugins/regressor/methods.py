"""What users call: the generated operations, with the parameters' order as an argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from grid_core.errors import InputError
from grid_core.model.parameters import num_parameters, require_order
from grid_plugins.regressor.structure import structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grid_core.operation_call import OperationCall

__all__ = [
    "forward_dynamics_parameter_gradient",
    "generalized_momentum_regressor",
    "indices",
    "inverse_dynamics_regressor",
    "inverse_dynamics_regressor_packed",
    "kinetic_energy_regressor",
    "momentum_regressor",
    "potential_energy_regressor",
    "unpack",
    "with_order",
]


def with_order(call: OperationCall, order: str) -> OperationCall:
    """Return the operation for an order of the parameters, compiled at its first use.

    Raises:
        ArgumentError: there is no such order.
    """
    wanted = require_order(call.__name__, order)
    if wanted == call.options.parameter_order:
        return call
    return call.specialised(
        ("order", wanted), lambda options: evolve(options, parameter_order=wanted)
    )


def inverse_dynamics_regressor(
    call: OperationCall,
    q: Any,
    qd: Any,
    qdd: Any,
    *,
    gravity: float = -9.81,
    order: str = "pinocchio",
    out: Any = None,
) -> Any:
    """Return Y with τ = Y π, π as the handle's `parameters` and `parameter_names` have it.

    Friction and rotors act through columns of their own, if the robot was loaded with
    ``regressor_terms``; ``use_joint_dynamics`` changes nothing here.

    Args:
        call: the generated call.
        q: configurations, (B, nq) or (nq,).
        qd: velocities, (B, nv) or (nv,).
        qdd: accelerations, (B, nv) or (nv,).
        gravity: along the world's z [m/s²].
        order: of a body's ten: ``pinocchio`` has Ixx, Ixy, Iyy, Ixz, Iyz, Izz, ``grid`` has
            Ixx, Ixy, Ixz, Iyy, Iyz, Izz.
        out: array to write the result into.
    """
    return with_order(call, order)(q, qd, qdd, gravity=gravity, out=out)


def inverse_dynamics_regressor_packed(
    call: OperationCall,
    q: Any,
    qd: Any,
    qdd: Any,
    *,
    gravity: float = -9.81,
    order: str = "pinocchio",
    out: Any = None,
) -> Any:
    """Return the entries of Y that are not 0 at every state of this robot, (B, nnz).

    ``robot.inverse_dynamics_regressor_packed.indices(order=...)`` tells the rows and columns they
    stand at, the same for every state, and ``.unpack(packed, order=...)`` makes Y of them.

    Args:
        call: the generated call.
        q: configurations, (B, nq) or (nq,).
        qd: velocities, (B, nv) or (nv,).
        qdd: accelerations, (B, nv) or (nv,).
        gravity: along the world's z [m/s²].
        order: as for `inverse_dynamics_regressor`.
        out: array to write the result into.
    """
    return with_order(call, order)(q, qd, qdd, gravity=gravity, out=out)


def indices(
    call: OperationCall, *, order: str = "pinocchio"
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row and the column in Y of every packed entry, each (nnz,)."""
    options = evolve(call.options, parameter_order=require_order("indices", order))
    rows, columns = np.nonzero(structure(call.model, options))
    return rows, columns


def unpack(call: OperationCall, packed: Any, *, order: str = "pinocchio") -> NDArray[Any]:
    """Return Y, (B, nv, p) or (nv, p), from packed entries in host memory.

    Raises:
        InputError: they are not as many as there are.
    """
    rows, columns = indices(call, order=order)
    values = np.asarray(packed)
    if values.ndim not in (1, 2) or values.shape[-1] != len(rows):
        raise InputError(f"unpack: packed must be (B, nnz={len(rows)}); got {values.shape}")
    width = num_parameters(call.model, call.options.regressor_terms)
    Y = np.zeros((*values.shape[:-1], call.model.nv, width), values.dtype)
    Y[..., rows, columns] = values
    return Y


def generalized_momentum_regressor(
    call: OperationCall, q: Any, qd: Any, *, order: str = "pinocchio", out: Any = None
) -> Any:
    """Return P with M(q) q̇ = P π, for the ten parameters of every body.

    Args:
        call: the generated call.
        q: configurations, (B, nq) or (nq,).
        qd: velocities, (B, nv) or (nv,).
        order: as for `inverse_dynamics_regressor`.
        out: array to write the result into.
    """
    return with_order(call, order)(q, qd, out=out)


def momentum_regressor(
    call: OperationCall, q: Any, qd: Any, *, order: str = "pinocchio", out: Any = None
) -> Any:
    """Return H with the robot's momentum [linear; angular] = H π, in the world.

    The angular part is about the world's origin, not about the centre of mass, where it would
    not be linear in the parameters.

    Args:
        call: the generated call.
        q: configurations, (B, nq) or (nq,).
        qd: velocities, (B, nv) or (nv,).
        order: as for `inverse_dynamics_regressor`.
        out: array to write the result into.
    """
    return with_order(call, order)(q, qd, out=out)


def kinetic_energy_regressor(
    call: OperationCall, q: Any, qd: Any, *, order: str = "pinocchio", out: Any = None
) -> Any:
    """Return ∂T/∂π: the kinetic energy is its product with π, ten parameters a body.

    Args:
        call: the generated call.
        q: configurations, (B, nq) or (nq,).
        qd: velocities, (B, nv) or (nv,).
        order: as for `inverse_dynamics_regressor`.
        out: array to write the result into.
    """
    return with_order(call, order)(q, qd, out=out)


def potential_energy_regressor(
    call: OperationCall,
    q: Any,
    *,
    gravity: float = -9.81,
    order: str = "pinocchio",
    out: Any = None,
) -> Any:
    """Return ∂V/∂π: the potential energy is its product with π, ten parameters a body.

    Args:
        call: the generated call.
        q: configurations, (B, nq) or (nq,).
        gravity: along the world's z [m/s²]: V = -gravity · Σ m z.
        order: as for `inverse_dynamics_regressor`.
        out: array to write the result into.
    """
    return with_order(call, order)(q, gravity=gravity, out=out)


def forward_dynamics_parameter_gradient(
    call: OperationCall,
    q: Any,
    qd: Any,
    u: Any,
    f_ext: Any = None,
    *,
    gravity: float = -9.81,
    order: str = "pinocchio",
    out: Any = None,
) -> Any:
    """Return ∂q̈/∂π of the acceleration that joint forces produce, at the robot's own π.

    The columns of ``regressor_terms`` are there too; the acceleration itself has friction in it
    if the robot was loaded with ``use_joint_dynamics``.

    Args:
        call: the generated call.
        q: configurations, (B, nq) or (nq,).
        qd: velocities, (B, nv) or (nv,).
        u: joint forces, (B, nv) or (nv,).
        f_ext: external force on each body, [linear; angular] in its joint frame, (B, nb, 6) or
            (nb, 6).
        gravity: along the world's z [m/s²].
        order: as for `inverse_dynamics_regressor`.
        out: array to write the result into.
    """
    return with_order(call, order)(q, qd, u, f_ext, gravity=gravity, out=out)
