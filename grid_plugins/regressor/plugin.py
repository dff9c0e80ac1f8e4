"""The regressor family: what is linear in the inertial parameters, and its uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from grid_core.algorithm import Algorithm, BenchmarkCase, Context, Port
from grid_core.hookspecs import hookimpl
from grid_core.model.types import JointKind
from grid_core.ports import CONFIGURATION as Q
from grid_core.ports import EXTERNAL_FORCES, GRAVITY, VELOCITY
from grid_core.reference.singularity import singular_joint
from grid_plugins.regressor import methods, program, reference
from grid_plugins.regressor.gram import regressor_gram, rows_width
from grid_plugins.regressor.structure import packed_width

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grid_core.algorithm import Options
    from grid_core.model.types import RobotModel

PARAMETERS: Mapping[str, Callable[[RobotModel, Options], int]] = {"np": program.parameter_count}
PER_PARAMETER = "a kg, kg m or kg m², and what each term has"
QDD = Port(
    name="qdd",
    shape=("nv",),
    unit="rad/s², m/s²",
    frame="as qd",
    doc="acceleration",
    role="acceleration",
)
U = Port(name="u", shape=("nv",), unit="N m, N", frame="as qd", doc="joint forces", role="tangent")

INVERSE_DYNAMICS_REGRESSOR = Algorithm(
    name="inverse_dynamics_regressor",
    family="regressor",
    summary="What joint forces are linear in the inertial parameters by: τ = Y(q, q̇, q̈) π.",
    source=(
        "Atkeson, An & Hollerbach 1986, Estimation of inertial parameters of manipulator loads "
        "and links; Newton-Euler in the form of Khalil & Kleinfinger 1987"
    ),
    inputs=(Q, VELOCITY, QDD, GRAVITY),
    outputs=(
        Port(
            name="Y",
            shape=("nv", "np"),
            unit=f"N m, N {PER_PARAMETER}",
            doc="∂τ/∂π, a column a parameter",
            role="tangent",
            widths=PARAMETERS,
        ),
    ),
    reference=reference.inverse_dynamics_regressor,
    program=program.inverse_dynamics_regressor,
    method=methods.inverse_dynamics_regressor,
    benchmarks=(
        BenchmarkCase(
            label="inverse_dynamics_regressor", inputs=(), pinocchio="computeJointTorqueRegressor"
        ),
    ),
)


def refuse_turned_rows(ctx: Context[Any]) -> str | None:
    """Say that rows of a free base cannot be turned once entries are left out."""
    free = any(joint.kind is JointKind.FLOATING for joint in ctx.model.joints)
    if ctx.options.output_convention == "mujoco" and free:
        return (
            "packed entries cannot be turned into MuJoCo's coordinates of a free body; "
            "inverse_dynamics_regressor can"
        )
    return None


INVERSE_DYNAMICS_REGRESSOR_PACKED = Algorithm(
    name="inverse_dynamics_regressor_packed",
    family="regressor",
    summary="The entries of the regressor Y that are not 0 at every state, row by row.",
    source="as inverse_dynamics_regressor; which entries: the robot's own traced program",
    inputs=INVERSE_DYNAMICS_REGRESSOR.inputs,
    outputs=(
        Port(
            name="packed",
            shape=("nnz",),
            unit=f"N m, N {PER_PARAMETER}",
            doc="entries of Y at the places that indices() tells",
            widths={"nnz": packed_width},
        ),
    ),
    reference=reference.inverse_dynamics_regressor_packed,
    program=program.inverse_dynamics_regressor_packed,
    refuse=refuse_turned_rows,
    method=methods.inverse_dynamics_regressor_packed,
    helpers={"indices": methods.indices, "unpack": methods.unpack},
    benchmarks=(BenchmarkCase(label="inverse_dynamics_regressor_packed", inputs=()),),
)

REGRESSOR_GRAM = Algorithm(
    name="regressor_gram",
    family="regressor",
    summary="Sums of squares for least squares over a log of any length: YᵀY, Yᵀτ and τᵀτ.",
    source="normal equations of τ = Y π; which entries of Y are summed: the robot's own program",
    inputs=(
        Q,
        VELOCITY,
        QDD,
        evolve(U, name="tau", doc="measured joint forces"),
        GRAVITY,
    ),
    outputs=(
        Port(
            name="rows",
            shape=("nrows",),
            unit=f"N m, N {PER_PARAMETER}; N m, N",
            doc="what one sample adds the squares of: each row of Y without zeros, and of τ",
            widths={"nrows": rows_width},
        ),
    ),
    reference=reference.regressor_rows,
    program=program.regressor_rows,
    refuse=refuse_turned_rows,
    method=regressor_gram,
)

GENERALIZED_MOMENTUM_REGRESSOR = Algorithm(
    name="generalized_momentum_regressor",
    family="regressor",
    summary="What generalised momenta are linear in the inertial parameters by: M q̇ = P(q, q̇) π.",
    source=(
        "Gautier & Khalil 1988, On the identification of the inertial parameters of robots; "
        "Newton-Euler at rest without gravity, q̇ as the acceleration"
    ),
    inputs=(Q, VELOCITY),
    outputs=(
        Port(
            name="P",
            shape=("nv", "10*nb"),
            unit="kg m²/s, kg m/s a kg, kg m or kg m²",
            doc="∂(M q̇)/∂π, a column a parameter",
            role="tangent",
        ),
    ),
    reference=reference.generalized_momentum_regressor,
    program=program.generalized_momentum_regressor,
    method=methods.generalized_momentum_regressor,
    benchmarks=(BenchmarkCase(label="generalized_momentum_regressor", inputs=()),),
)

MOMENTUM_REGRESSOR = Algorithm(
    name="momentum_regressor",
    family="regressor",
    summary="What the robot's momentum is linear in the inertial parameters by: H(q, q̇) π.",
    source="Featherstone 2008, (2.63): spatial momentum I v, I linear in the parameters",
    inputs=(Q, VELOCITY),
    outputs=(
        Port(
            name="H",
            shape=(6, "10*nb"),
            unit="kg m/s, kg m²/s a kg, kg m or kg m²",
            frame="world axes, about the world's origin",
            doc="∂[linear; angular]/∂π, a column a parameter",
        ),
    ),
    reference=reference.momentum_regressor,
    program=program.momentum_regressor,
    method=methods.momentum_regressor,
    benchmarks=(BenchmarkCase(label="momentum_regressor", inputs=()),),
)

KINETIC_ENERGY_REGRESSOR = Algorithm(
    name="kinetic_energy_regressor",
    family="regressor",
    summary="What kinetic energy is linear in the inertial parameters by: T = ∂T/∂π(q, q̇) · π.",
    source="Gautier & Khalil 1988, On the identification of the inertial parameters of robots",
    inputs=(Q, VELOCITY),
    outputs=(
        Port(
            name="dT",
            shape=("10*nb",),
            unit="J a kg, kg m or kg m²",
            doc="∂T/∂π",
        ),
    ),
    reference=reference.kinetic_energy_regressor,
    program=program.kinetic_energy_regressor,
    method=methods.kinetic_energy_regressor,
    benchmarks=(
        BenchmarkCase(
            label="kinetic_energy_regressor", inputs=(), pinocchio="computeKineticEnergyRegressor"
        ),
    ),
)

POTENTIAL_ENERGY_REGRESSOR = Algorithm(
    name="potential_energy_regressor",
    family="regressor",
    summary="What potential energy is linear in the inertial parameters by: V = ∂V/∂π(q) · π.",
    source="Gautier & Khalil 1988, On the identification of the inertial parameters of robots",
    inputs=(Q, GRAVITY),
    outputs=(
        Port(
            name="dV",
            shape=("10*nb",),
            unit="J a kg, kg m or kg m²",
            doc="∂V/∂π; V is 0 with all masses at the world's height 0",
        ),
    ),
    reference=reference.potential_energy_regressor,
    program=program.potential_energy_regressor,
    method=methods.potential_energy_regressor,
    benchmarks=(
        BenchmarkCase(
            label="potential_energy_regressor",
            inputs=(),
            pinocchio="computePotentialEnergyRegressor",
        ),
    ),
)


def refuse_singular(ctx: Context[Any]) -> str | None:
    """Say which joint makes M(q) singular, or None when M⁻¹ exists."""
    return singular_joint(ctx.model, lambda q: ctx.call("crba", q=q)["M"])


FORWARD_DYNAMICS_PARAMETER_GRADIENT = Algorithm(
    name="forward_dynamics_parameter_gradient",
    family="regressor",
    summary="Derivative of forward dynamics by the parameters: ∂q̈/∂π = -M⁻¹ Y(q, q̇, q̈).",
    source="M q̈ + h = u differentiated by the parameters; Featherstone 2008, Table 6.3 for M⁻¹",
    inputs=(Q, VELOCITY, U, GRAVITY, EXTERNAL_FORCES),
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
    refuse=refuse_singular,
    method=methods.forward_dynamics_parameter_gradient,
    benchmarks=(BenchmarkCase(label="forward_dynamics_parameter_gradient", inputs=()),),
)


@hookimpl
def grid_algorithms() -> list[Algorithm]:
    """Offer the family."""
    return [
        INVERSE_DYNAMICS_REGRESSOR,
        INVERSE_DYNAMICS_REGRESSOR_PACKED,
        REGRESSOR_GRAM,
        GENERALIZED_MOMENTUM_REGRESSOR,
        MOMENTUM_REGRESSOR,
        KINETIC_ENERGY_REGRESSOR,
        POTENTIAL_ENERGY_REGRESSOR,
        FORWARD_DYNAMICS_PARAMETER_GRADIENT,
    ]
