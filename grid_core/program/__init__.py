"""The scalar program: an algorithm traced for one robot into straight-line arithmetic.

Write an algorithm's ``program`` with the pieces exported here: `KinematicTree` and `postures`
for where bodies are, `rates` and `fold_forces` for joint velocities and forces, `Vec3`,
`Symmetric` and `Rotation` for the arithmetic. Loops over joints run at trace time; values are
floats where they are known and `Scalar` where they are not.
"""

from grid_core.program.cheapest import cheapest
from grid_core.program.ldlt import LTDL
from grid_core.program.linalg import Rotation, Symmetric, Vec3
from grid_core.program.motion import body_placements, fold_forces, postures, rates
from grid_core.program.program import Counts, Program, ProgramPort
from grid_core.program.scalar import (
    Scalar,
    Value,
    absolute,
    atan2,
    cos,
    maximum,
    minimum,
    sign,
    sin,
    sqrt,
)
from grid_core.program.trace import trace
from grid_core.program.tree import KinematicTree, Node

__all__ = [
    "LTDL",
    "Counts",
    "KinematicTree",
    "Node",
    "Program",
    "ProgramPort",
    "Rotation",
    "Scalar",
    "Symmetric",
    "Value",
    "Vec3",
    "absolute",
    "atan2",
    "body_placements",
    "cheapest",
    "cos",
    "fold_forces",
    "maximum",
    "minimum",
    "postures",
    "rates",
    "sign",
    "sin",
    "sqrt",
    "trace",
]
