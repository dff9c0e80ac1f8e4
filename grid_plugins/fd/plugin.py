"""The forward-dynamics family: accelerations from joint forces, and M⁻¹."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from grid_core.algorithm import Algorithm, BenchmarkCase, Port
from grid_core.custom_call import require_flag
from grid_core.hookspecs import hookimpl
from grid_core.ports import CONFIGURATION as Q
from grid_core.ports import CONSTANTS, EXTERNAL_FORCES, GRAVITY, VELOCITY
from grid_core.program.products import jvp_of, vjp_of
from grid_plugins.fd import program, reference

if TYPE_CHECKING:
    from grid_core.operation_call import OperationCall

MOTION = (
    Q,
    VELOCITY,
    Port(name="u", shape=("nv",), unit="N m, N", frame="as qd", doc="joint forces", role="tangent"),
    GRAVITY,
    EXTERNAL_FORCES,
)
ACCELERATION = Port(
    name="qdd",
    shape=("nv",),
    unit="rad/s², m/s²",
    frame="as qd",
    doc="acceleration",
    role="acceleration",
)

FORWARD_DYNAMICS = Algorithm(
    name="forward_dynamics",
    family="fd",
    summary="Acceleration that joint forces produce: q̈ = M(q)⁻¹ (u - h(q, q̇)).",
    source=(
        "Featherstone 2008: bias by Table 5.1, M by Table 6.2, LᵀDL by Table 6.3; or Table 7.1, "
        "whichever takes fewer operations for the robot"
    ),
    inputs=MOTION,
    outputs=(ACCELERATION,),
    needs=("nonlinear_effects", "crba"),
    constants=CONSTANTS,
    reference=reference.forward_dynamics,
    program=program.forward_dynamics,
    refuse=reference.refuse,
    benchmarks=(BenchmarkCase(label="forward_dynamics", inputs=(), pinocchio="aba"),),
)


def gradient(
    call: OperationCall,
    q: Any,
    qd: Any,
    u: Any,
    f_ext: Any = None,
    *,
    gravity: float = -9.81,
    return_minv: bool = False,
    out: Any = None,
) -> Any:
    """Differentiate forward dynamics by tangent coordinates: [∂q̈/∂q | ∂q̈/∂q̇].

    Args:
        call: the generated call.
        q: configurations, (B, nq) or (nq,).
        qd: velocities, (B, nv) or (nv,).
        u: joint forces, (B, nv) or (nv,).
        f_ext: external force on each body, [linear; angular] in its joint frame, (B, nb, 6) or
            (nb, 6); it stays as it is in the body's frame.
        gravity: along the world's z [m/s²].
        return_minv: whether to return ∂q̈/∂u = M⁻¹ too, as (dqdd, Minv); that is an operation of
            its own, compiled at its first use.
        out: array to write the result into; two arrays with `return_minv`.
    """
    if require_flag(call, "return_minv", return_minv):
        call = call.companion(WITH_MINV)
    return call(q, qd, u, f_ext, gravity=gravity, out=out)


GRADIENT = Port(
    name="dqdd",
    shape=("nv", "2*nv"),
    unit="rad/s², m/s² per rad, m, rad/s, m/s",
    frame="columns as qd: floating and spherical joints move in the body's own frame",
    doc="∂q̈/∂q, then ∂q̈/∂q̇",
    role="tangent",
)
INVERSE = Port(name="Minv", shape=("nv", "nv"), unit="1/(kg m²), …", doc="M(q)⁻¹", role="tangent")

FORWARD_DYNAMICS_GRADIENT = Algorithm(
    name="forward_dynamics_gradient",
    family="fd",
    summary="Derivatives of forward dynamics by tangent coordinates: [∂q̈/∂q | ∂q̈/∂q̇].",
    source=(
        "Carpentier & Mansard 2018, Analytical derivatives of rigid body dynamics algorithms: "
        "-M⁻¹ times those of inverse dynamics at q̈"
    ),
    inputs=MOTION,
    outputs=(GRADIENT,),
    needs=("nonlinear_effects", "crba", "inverse_dynamics_gradient"),
    constants=CONSTANTS,
    reference=reference.forward_dynamics_gradient,
    program=program.forward_dynamics_gradient,
    refuse=reference.refuse,
    method=gradient,
    benchmarks=(
        BenchmarkCase(
            label="forward_dynamics_gradient", inputs=(), pinocchio="computeABADerivatives"
        ),
    ),
)

WITH_MINV = evolve(
    FORWARD_DYNAMICS_GRADIENT,
    name="forward_dynamics_gradient_minv",
    summary="Derivatives of forward dynamics by tangent coordinates, and M⁻¹ = ∂q̈/∂u.",
    outputs=(GRADIENT, INVERSE),
    reference=reference.forward_dynamics_gradient_minv,
    program=program.forward_dynamics_gradient_minv,
    method=None,
    benchmarks=(),
)
"""What `forward_dynamics_gradient` runs with ``return_minv``; no name of a handle's own."""

ABA = Algorithm(
    name="aba",
    family="fd",
    summary="Forward dynamics by articulated bodies, whatever it costs.",
    source="Featherstone 2008, Table 7.1 (articulated-body algorithm)",
    inputs=MOTION,
    outputs=(ACCELERATION,),
    needs=("nonlinear_effects", "crba"),
    constants=CONSTANTS,
    reference=reference.aba,
    program=program.aba,
    refuse=reference.refuse,
    benchmarks=(BenchmarkCase(label="aba", inputs=(), pinocchio="aba"),),
)

MINV = Algorithm(
    name="minv",
    family="fd",
    summary="Inverse of the mass matrix, both triangles.",
    source="Featherstone 2008, Table 6.3 (LᵀDL along the branches)",
    inputs=(Q,),
    outputs=(
        Port(name="Minv", shape=("nv", "nv"), unit="1/(kg m²), …", doc="M(q)⁻¹", role="tangent"),
    ),
    needs=("crba",),
    constants=CONSTANTS,
    reference=reference.minv,
    program=program.minv,
    refuse=reference.refuse,
    benchmarks=(BenchmarkCase(label="minv", inputs=(), pinocchio="computeMinverse"),),
)


FORWARD_DYNAMICS_PRODUCTS = [
    evolve(
        product(
            FORWARD_DYNAMICS,
            wrt=("q", "qd", "u"),
            jacobians=reference.forward_dynamics_jacobians,
            needs=("inverse_dynamics_gradient", inner),
        ),
        program=own,  # of inverse dynamics, at q̈: fewer operations than through the factors
    )
    for product, inner, own in (
        (jvp_of, "inverse_dynamics_jvp", program.forward_dynamics_jvp),
        (vjp_of, "inverse_dynamics_vjp", program.forward_dynamics_vjp),
    )
]


@hookimpl
def grid_algorithms() -> list[Algorithm]:
    """Offer the family."""
    return [
        FORWARD_DYNAMICS,
        ABA,
        MINV,
        FORWARD_DYNAMICS_GRADIENT,
        *FORWARD_DYNAMICS_PRODUCTS,
    ]
