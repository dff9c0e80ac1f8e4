"""Regressors of momenta and energies."""

from __future__ import annotations

from grid_core.algorithm import Algorithm, BenchmarkCase, Port
from grid_core.ports import CONFIGURATION as Q
from grid_core.ports import GRAVITY, VELOCITY
from grid_plugins.regressor import methods, program, reference

__all__ = [
    "GENERALIZED_MOMENTUM_REGRESSOR",
    "KINETIC_ENERGY_REGRESSOR",
    "MOMENTUM_REGRESSOR",
    "POTENTIAL_ENERGY_REGRESSOR",
]

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
    constants=("placements",),
    method=methods.generalized_momentum_regressor,
    benchmarks=(BenchmarkCase(label="generalized_momentum_regressor", inputs=()),),
    default=False,
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
    constants=("placements",),
    method=methods.momentum_regressor,
    benchmarks=(BenchmarkCase(label="momentum_regressor", inputs=()),),
    default=False,
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
    constants=("placements",),
    method=methods.kinetic_energy_regressor,
    benchmarks=(
        BenchmarkCase(
            label="kinetic_energy_regressor", inputs=(), pinocchio="computeKineticEnergyRegressor"
        ),
    ),
    default=False,
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
    constants=("placements",),
    method=methods.potential_energy_regressor,
    benchmarks=(
        BenchmarkCase(
            label="potential_energy_regressor",
            inputs=(),
            pinocchio="computePotentialEnergyRegressor",
        ),
    ),
    default=False,
)
