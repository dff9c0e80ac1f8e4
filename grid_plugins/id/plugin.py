"""The inverse-dynamics family: torques from motion, and the mass matrix."""

from __future__ import annotations

from grid_core.algorithm import Algorithm, BenchmarkCase, Port
from grid_core.hookspecs import hookimpl
from grid_core.ports import CONFIGURATION as Q
from grid_core.ports import CONSTANTS, GRAVITY
from grid_core.ports import EXTERNAL_FORCES as F_EXT
from grid_core.ports import VELOCITY as QD
from grid_core.program.products import jvp_of, vjp_of
from grid_plugins.id import program, reference

INVERSE_DYNAMICS = Algorithm(
    name="inverse_dynamics",
    family="id",
    summary="Joint forces that produce an acceleration: τ = M(q) q̈ + h(q, q̇).",
    source="Featherstone 2008, Table 5.1 (recursive Newton-Euler)",
    inputs=(
        Q,
        QD,
        Port(
            name="qdd",
            shape=("nv",),
            unit="rad/s², m/s²",
            frame="as qd",
            doc="acceleration; None is zero",
            role="acceleration",
            optional=True,
        ),
        GRAVITY,
        F_EXT,
    ),
    outputs=(Port(name="tau", shape=("nv",), unit="N m, N", doc="joint forces", role="tangent"),),
    constants=CONSTANTS,
    reference=reference.inverse_dynamics,
    program=program.inverse_dynamics,
    benchmarks=(BenchmarkCase(label="inverse_dynamics", inputs=("qdd",), pinocchio="rnea"),),
)

INVERSE_DYNAMICS_GRADIENT = Algorithm(
    name="inverse_dynamics_gradient",
    family="id",
    summary="Derivatives of inverse dynamics by tangent coordinates: [∂τ/∂q | ∂τ/∂q̇].",
    source=(
        "Carpentier & Mansard 2018, Analytical derivatives of rigid body dynamics algorithms; "
        "Singh, Russell & Wensing 2022, Efficient analytical derivatives of rigid-body dynamics"
    ),
    inputs=INVERSE_DYNAMICS.inputs,
    outputs=(
        Port(
            name="dtau",
            shape=("nv", "2*nv"),
            unit="N m, N per rad, m, rad/s, m/s",
            frame="columns as qd: floating and spherical joints move in the body's own frame",
            doc="∂τ/∂q, then ∂τ/∂q̇",
            role="tangent",
        ),
    ),
    constants=CONSTANTS,
    reference=reference.inverse_dynamics_gradient,
    program=program.inverse_dynamics_gradient,
    benchmarks=(
        BenchmarkCase(
            label="inverse_dynamics_gradient",
            inputs=("qdd",),
            pinocchio="computeRNEADerivatives",
        ),
    ),
)

GENERALIZED_GRAVITY = Algorithm(
    name="generalized_gravity",
    family="id",
    summary="Joint forces that hold the robot still: g(q).",
    source="Featherstone 2008, Table 5.1, with q̇ = q̈ = 0",
    inputs=(Q, GRAVITY),
    outputs=(
        Port(name="g", shape=("nv",), unit="N m, N", doc="gravity's joint forces", role="tangent"),
    ),
    constants=CONSTANTS,
    reference=reference.generalized_gravity,
    program=program.generalized_gravity,
    benchmarks=(
        BenchmarkCase(
            label="generalized_gravity", inputs=(), pinocchio="computeGeneralizedGravity"
        ),
    ),
)

NONLINEAR_EFFECTS = Algorithm(
    name="nonlinear_effects",
    family="id",
    summary="Coriolis, centrifugal and gravity forces: h(q, q̇).",
    source="Featherstone 2008, Table 5.1, with q̈ = 0",
    inputs=(Q, QD, GRAVITY, F_EXT),
    outputs=(Port(name="h", shape=("nv",), unit="N m, N", doc="bias forces", role="tangent"),),
    constants=CONSTANTS,
    reference=reference.nonlinear_effects,
    program=program.nonlinear_effects,
    benchmarks=(BenchmarkCase(label="nonlinear_effects", inputs=(), pinocchio="nonLinearEffects"),),
)

CRBA = Algorithm(
    name="crba",
    family="id",
    summary="Joint-space mass matrix M(q), both triangles.",
    source="Featherstone 2008, Table 6.2 (composite rigid bodies)",
    inputs=(Q,),
    outputs=(
        Port(
            name="M", shape=("nv", "nv"), unit="kg m², kg m, kg", doc="mass matrix", role="tangent"
        ),
    ),
    constants=CONSTANTS,
    reference=reference.crba,
    program=program.crba,
    benchmarks=(BenchmarkCase(label="crba", inputs=(), pinocchio="crba"),),
)


INVERSE_DYNAMICS_PRODUCTS = [
    product(
        INVERSE_DYNAMICS,
        wrt=("q", "qd", "qdd"),
        jacobians=reference.inverse_dynamics_jacobians,
        needs=("inverse_dynamics_gradient", "crba"),
    )
    for product in (jvp_of, vjp_of)
]


@hookimpl
def grid_algorithms() -> list[Algorithm]:
    """Offer the family."""
    return [
        INVERSE_DYNAMICS,
        INVERSE_DYNAMICS_GRADIENT,
        *INVERSE_DYNAMICS_PRODUCTS,
        GENERALIZED_GRAVITY,
        NONLINEAR_EFFECTS,
        CRBA,
    ]
