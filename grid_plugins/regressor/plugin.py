"""The regressor family: what is linear in the inertial parameters, and its uses."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from grid_core.algorithm import Algorithm, BenchmarkCase, Context, Port
from grid_core.hookspecs import hookimpl
from grid_core.model.types import JointKind
from grid_core.ports import CONFIGURATION as Q
from grid_core.ports import GRAVITY, VELOCITY
from grid_plugins.regressor import methods, program, reference
from grid_plugins.regressor.gram import regressor_gram, rows_width
from grid_plugins.regressor.plugin_derivatives import (
    FORWARD_DYNAMICS_PARAMETER_GRADIENT,
    INVERSE_DYNAMICS_REGRESSOR_GRADIENT,
)
from grid_plugins.regressor.plugin_energies import (
    GENERALIZED_MOMENTUM_REGRESSOR,
    KINETIC_ENERGY_REGRESSOR,
    MOMENTUM_REGRESSOR,
    POTENTIAL_ENERGY_REGRESSOR,
)
from grid_plugins.regressor.ports import JOINT_FORCES, PARAMETERS, PER_PARAMETER, QDD
from grid_plugins.regressor.structure import packed_width

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
    constants=("placements",),
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
    default=False,
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
        evolve(JOINT_FORCES, name="tau", doc="measured joint forces"),
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
    default=False,
)


@hookimpl
def grid_algorithms() -> list[Algorithm]:
    """Offer the family."""
    return [
        INVERSE_DYNAMICS_REGRESSOR,
        INVERSE_DYNAMICS_REGRESSOR_PACKED,
        INVERSE_DYNAMICS_REGRESSOR_GRADIENT,
        REGRESSOR_GRAM,
        GENERALIZED_MOMENTUM_REGRESSOR,
        MOMENTUM_REGRESSOR,
        KINETIC_ENERGY_REGRESSOR,
        POTENTIAL_ENERGY_REGRESSOR,
        FORWARD_DYNAMICS_PARAMETER_GRADIENT,
    ]
