"""What this package offers to Grid."""

from __future__ import annotations

from grid_center_of_mass import program, reference
from grid_core.algorithm import Algorithm, Port
from grid_core.hookspecs import hookimpl

Q = Port(name="q", shape=("nq",), unit="rad, m", doc="configuration")

CENTER_OF_MASS = Algorithm(
    name="center_of_mass",
    family="com",
    summary="Center of mass of all moving bodies.",
    source="Orin, Goswami and Lee 2013, Centroidal dynamics of a humanoid robot, eq. (2)",
    inputs=(Q,),
    outputs=(Port(name="com", shape=(3,), unit="m", frame="world", doc="center of mass"),),
    reference=reference.center_of_mass,
    program=program.center_of_mass,
    refuse=reference.refuse,
)

CENTER_OF_MASS_JACOBIAN = Algorithm(
    name="center_of_mass_jacobian",
    family="com",
    summary="What the velocity qd does to the center of mass: its velocity is J qd.",
    source="Orin, Goswami and Lee 2013, Centroidal dynamics of a humanoid robot, eq. (50)",
    inputs=(Q,),
    outputs=(Port(name="J", shape=(3, "nv"), unit="m/rad, 1", frame="world", doc="Jacobian"),),
    reference=reference.center_of_mass_jacobian,
    program=program.center_of_mass_jacobian,
    refuse=reference.refuse,
)


@hookimpl
def grid_algorithms() -> list[Algorithm]:
    """Offer both operations."""
    return [CENTER_OF_MASS, CENTER_OF_MASS_JACOBIAN]
