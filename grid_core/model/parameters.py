"""A robot's dynamic parameters π: how they are ordered and called, and their values.

Ten a body, about the origin of its joint's frame and in its axes, so that joint forces are
linear in them: τ = Y(q, q̇, q̈) π. After the bodies may stand terms of the joints: what viscous
and Coulomb friction, an offset and a rotor's inertia add, one a coordinate of the velocity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.errors import ArgumentError
from grid_core.reference.coordinates import fold_matrix
from grid_core.wording import brief, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.model.types import Array, RobotModel

__all__ = [
    "INERTIAL",
    "ORDERS",
    "TERMS",
    "inertial_permutation",
    "num_parameters",
    "parameter_names",
    "parameters",
    "require_order",
]

INERTIAL = {
    "pinocchio": ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"),
    "grid": ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"),
}
"""A body's parameters by order: mass [kg], first moment m·c [kg m], rotational inertia about the
joint frame's origin [kg m²]; products of inertia are off-diagonal entries, -∫ x y dm."""

ORDERS = tuple(INERTIAL)
"""Orders of a body's ten parameters that there are."""

TERMS = ("viscous", "coulomb", "offset", "rotor_inertia")
"""What a joint may add, for each coordinate of the velocity: d q̇, f sign(q̇), an own force, and
Iᵣ q̈ [N m s/rad or N s/m; N m or N; N m or N; kg m² or kg]."""


def require_order(what: str, order: object) -> str:
    """Return an order of parameters.

    Raises:
        ArgumentError: there is none of that name.
    """
    if not isinstance(order, str) or order not in ORDERS:
        raise ArgumentError(f"{what}: order must be {listing(ORDERS, 'or')}; got {brief(order)}")
    return str(order)


def num_parameters(model: RobotModel, terms: Sequence[str] = ()) -> int:
    """Count the parameters: ten a body, and nv a term."""
    return 10 * model.nb + len(terms) * model.nv


def inertial_permutation(order: str) -> list[int]:
    """Return where each of a body's ten parameters stands in Pinocchio's order."""
    return [INERTIAL["pinocchio"].index(name) for name in INERTIAL[order]]


def parameter_names(
    model: RobotModel, *, order: str = "pinocchio", terms: Sequence[str] = ()
) -> tuple[str, ...]:
    """Name every parameter: ``<body>.m``, ..., then ``<joint>.viscous``, ...

    A coordinate of a joint that has several is numbered: ``<joint>.viscous[2]``. A joint that
    mimics has no coordinate of its own; its friction is its leader's.

    Args:
        model: the robot.
        order: of a body's ten, one of `ORDERS`.
        terms: what joints add, some of `TERMS`.
    """
    names = [f"{body.name}.{part}" for body in model.bodies for part in INERTIAL[order]]
    for term in terms:
        for joint in model.joints:
            if joint.v_start is None:
                continue
            which = [""] if joint.nv == 1 else [f"[{k}]" for k in range(joint.nv)]
            names += [f"{joint.name}.{term}{number}" for number in which]
    return tuple(names)


def parameters(model: RobotModel, *, order: str = "pinocchio", terms: Sequence[str] = ()) -> Array:
    """Return the description's own π in the order of `parameter_names`.

    A joint's damping and friction are those of the description, those of its followers folded
    onto it; it knows no offset and no rotor, which are 0.

    Args:
        model: the robot.
        order: of a body's ten, one of `ORDERS`.
        terms: what joints add, some of `TERMS`.

    Returns:
        Shape (10 nb + len(terms) nv,).
    """
    bodies = np.array([_of_body(model, i) for i in range(model.nb)]).reshape(model.nb, 10)
    G = np.abs(fold_matrix(model))
    widths = [joint.nv for joint in model.joints]
    # A follower turns by its multiplier times, and its force acts by it once more.
    known = {
        "viscous": (G**2).T @ np.repeat([j.damping for j in model.joints], widths),
        "coulomb": G.T @ np.repeat([j.friction for j in model.joints], widths),
    }
    added = [known.get(term, np.zeros(model.nv)) for term in terms]
    return np.concatenate([bodies[:, inertial_permutation(order)].ravel(), *added])


def _of_body(model: RobotModel, body: int) -> list[float]:
    inertia = model.bodies[body].inertia
    I = inertia.at_origin
    products = [I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]
    return [inertia.mass, *(inertia.mass * inertia.com), *products]
