"""Derivatives: of the regressor by the motion, and of forward dynamics by the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.algorithm import Algorithm, BenchmarkCase, Context, Port
from grid_core.custom_call import require_flag
from grid_core.errors import ArgumentError
from grid_core.ports import CONFIGURATION as Q
from grid_core.ports import EXTERNAL_FORCES, GRAVITY, VELOCITY
from grid_core.reference.singularity import singular_joint
from grid_plugins.regressor import gradient, methods, program, reference, reference_gradient
from grid_plugins.regressor.ports import (
    JOINT_FORCES,
    PARAMETERS,
    PER_MOTION,
    PER_PARAMETER,
    QDD,
    SLOPES,
)

if TYPE_CHECKING:
    from grid_core.operation_call import OperationCall

__all__ = [
    "FORWARD_DYNAMICS_PARAMETER_GRADIENT",
    "INVERSE_DYNAMICS_REGRESSOR_GRADIENT",
    "INVERSE_DYNAMICS_REGRESSOR_GRADIENT_WHOLE",
]

INVERSE_DYNAMICS_REGRESSOR_GRADIENT_WHOLE = Algorithm(
    name="inverse_dynamics_regressor_gradient_whole",
    family="regressor",
    summary="Derivatives of the regressor by tangent coordinates: [∂Y/∂q | ∂Y/∂q̇].",
    source="Griewank & Walther 2008, Evaluating derivatives, chapter 3: Y in forward mode",
    inputs=(Q, VELOCITY, QDD, GRAVITY),
    outputs=(
        Port(
            name="dY",
            shape=("nv", "np", "2*nv"),
            unit=f"N m, N {PER_PARAMETER}, {PER_MOTION}",
            frame=SLOPES,
            doc="∂Y/∂q, then ∂Y/∂q̇, along the last axis",
            widths=PARAMETERS,
        ),
    ),
    reference=reference_gradient.inverse_dynamics_regressor_gradient_whole,
    program=gradient.inverse_dynamics_regressor_gradient_whole,
)
"""What the gradient runs with ``whole``; no name of a handle's own."""


def regressor_gradient(
    call: OperationCall,
    q: Any,
    qd: Any,
    qdd: Any,
    pi: Any = None,
    *,
    gravity: float = -9.81,
    order: str = "pinocchio",
    whole: bool = False,
    out: Any = None,
) -> Any:
    """Return [∂(Y π)/∂q | ∂(Y π)/∂q̇] at constant π, (B, nv, 2 nv); or ∂Y/∂q and ∂Y/∂q̇ whole.

    Whole it is an operation of its own, (B, nv, p, 2 nv), compiled at its first use: 10,000
    instructions for an arm of 7 joints, seconds of compilation; too many for a humanoid.

    Args:
        call: the generated call.
        q: configurations, (B, nq) or (nq,).
        qd: velocities, (B, nv) or (nv,).
        qdd: accelerations, (B, nv) or (nv,).
        pi: parameters, one set for all, (p,), or one a problem, (B, p), in the order of
            `RobotHandle.parameter_names`; None: the robot's own.
        gravity: along the world's z [m/s²].
        order: as for `inverse_dynamics_regressor`.
        whole: whether to return the derivative of every entry of Y.
        out: array to write the result into.
    """
    call = methods.with_order(call, order)
    if require_flag(call, "whole", whole):
        if pi is not None:
            raise ArgumentError(f"{call.__name__}: pi has no part in the whole derivative of Y")
        return call.companion(INVERSE_DYNAMICS_REGRESSOR_GRADIENT_WHOLE)(
            q, qd, qdd, gravity=gravity, out=out
        )
    if isinstance(pi, np.ndarray | list | tuple) and np.ndim(pi) == 1 and np.ndim(q) == 2:
        pi = np.broadcast_to(np.asarray(pi), (len(q), len(pi)))
    return call(q, qd, qdd, pi, gravity=gravity, out=out)


INVERSE_DYNAMICS_REGRESSOR_GRADIENT = Algorithm(
    name="inverse_dynamics_regressor_gradient",
    family="regressor",
    summary="Derivatives of Y π by tangent coordinates, for any π: [∂(Y π)/∂q | ∂(Y π)/∂q̇].",
    source=(
        "Singh, Russell & Wensing 2022, Efficient analytical derivatives of rigid-body dynamics, "
        "with the masses as inputs"
    ),
    inputs=(
        Q,
        VELOCITY,
        QDD,
        Port(
            name="pi",
            shape=("np",),
            unit="kg, kg m, kg m², and what each term has",
            doc="parameters; None: the robot's own",
            optional=True,
            widths=PARAMETERS,
        ),
        GRAVITY,
    ),
    outputs=(
        Port(
            name="dtau",
            shape=("nv", "2*nv"),
            unit=f"N m, N {PER_MOTION}",
            frame=SLOPES,
            doc="∂(Y π)/∂q, then ∂(Y π)/∂q̇",
        ),
    ),
    reference=reference_gradient.inverse_dynamics_regressor_gradient,
    program=gradient.inverse_dynamics_regressor_gradient,
    method=regressor_gradient,
    benchmarks=(BenchmarkCase(label="inverse_dynamics_regressor_gradient", inputs=("pi",)),),
    default=False,
)


def refuse_singular(ctx: Context[Any]) -> str | None:
    """Say which joint makes M(q) singular, or None when M⁻¹ exists."""
    return singular_joint(ctx.model, lambda q: ctx.call("crba", q=q)["M"])


FORWARD_DYNAMICS_PARAMETER_GRADIENT = Algorithm(
    name="forward_dynamics_parameter_gradient",
    family="regressor",
    summary="Derivative of forward dynamics by the parameters: ∂q̈/∂π = -M⁻¹ Y(q, q̇, q̈).",
    source="M q̈ + h = u differentiated by the parameters; Featherstone 2008, Table 6.3 for M⁻¹",
    inputs=(Q, VELOCITY, JOINT_FORCES, GRAVITY, EXTERNAL_FORCES),
    outputs=(
        Port(
            name="dqdd",
            shape=("nv", "np"),
            unit=f"rad/s², m/s² {PER_PARAMETER}",
            doc="∂q̈/∂π, a column a parameter",
            role="tangent",
            widths=PARAMETERS,
        ),
    ),
    needs=("nonlinear_effects", "crba", "inverse_dynamics_regressor"),
    reference=reference.forward_dynamics_parameter_gradient,
    program=program.forward_dynamics_parameter_gradient,
    constants=("inertias", "placements"),
    refuse=refuse_singular,
    method=methods.forward_dynamics_parameter_gradient,
    benchmarks=(BenchmarkCase(label="forward_dynamics_parameter_gradient", inputs=()),),
    default=False,
)
