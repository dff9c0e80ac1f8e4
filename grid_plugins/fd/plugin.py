"""The forward-dynamics family: accelerations from joint forces, and M⁻¹."""

from __future__ import annotations

from grid_core.algorithm import Algorithm, BenchmarkCase, Port
from grid_core.hookspecs import hookimpl
from grid_plugins.fd import program, reference

Q = Port(name="q", shape=("nq",), unit="rad, m", doc="configuration")
MOTION = (
    Q,
    Port(
        name="qd",
        shape=("nv",),
        unit="rad/s, m/s",
        frame="floating and spherical joints: the body's own",
        doc="velocity",
        role="velocity",
    ),
    Port(name="u", shape=("nv",), unit="N m, N", frame="as qd", doc="joint forces", role="tangent"),
    Port(
        name="gravity",
        shape=(),
        unit="m/s²",
        frame="world z",
        doc="gravitational acceleration along the world's z axis",
        uniform=True,
        default=-9.81,
    ),
    Port(
        name="f_ext",
        shape=("nb", 6),
        unit="N, N m",
        frame="each body's joint frame",
        doc="external force on each body, [linear; angular]",
        optional=True,
        on_demand=True,
    ),
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
    reference=reference.forward_dynamics,
    program=program.forward_dynamics,
    refuse=reference.refuse,
    benchmarks=(BenchmarkCase(label="forward_dynamics", inputs=(), pinocchio="aba"),),
)

ABA = Algorithm(
    name="aba",
    family="fd",
    summary="Forward dynamics by articulated bodies, whatever it costs.",
    source="Featherstone 2008, Table 7.1 (articulated-body algorithm)",
    inputs=MOTION,
    outputs=(ACCELERATION,),
    needs=("nonlinear_effects", "crba"),
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
    reference=reference.minv,
    program=program.minv,
    refuse=reference.refuse,
    benchmarks=(BenchmarkCase(label="minv", inputs=(), pinocchio="computeMinverse"),),
)


@hookimpl
def grid_algorithms() -> list[Algorithm]:
    """Offer the family."""
    return [FORWARD_DYNAMICS, ABA, MINV]
