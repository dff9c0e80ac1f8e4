"""Robots whose inertias or placements are inputs of a program, for those who vary them.

With the options ``runtime_inertia`` and ``runtime_transform`` operations take two more optional
inputs. A program that is traced with one sees a `RuntimeModel`: the nominal robot, and the values
in place of its constants. Everything else stays as it is; what stood on the constants, canonical
frames or masses moved along joints, is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, field, fields, frozen

from grid_core.algorithm import Algorithm, Options, Port
from grid_core.model.types import Inertia, RobotModel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from grid_core.model.types import Array

__all__ = [
    "INERTIAS",
    "PLACEMENTS",
    "RuntimeModel",
    "altered",
    "renewed",
    "runtime_model",
    "sharing",
    "with_runtime_ports",
]

INERTIAS = Port(
    name="inertias",
    shape=("nb", 10),
    unit="kg, kg m, kg m²",
    frame="each body's joint frame",
    doc="of each body m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin; None: its own",
    optional=True,
    on_demand=True,
    shared=True,
)
PLACEMENTS = Port(
    name="placements",
    shape=("nb", 4, 4),
    unit="m",
    frame="each parent body's joint frame",
    doc="T_parent_joint of each joint at zero motion, but a floating base's; None: its own",
    optional=True,
    on_demand=True,
    shared=True,
)


@frozen(eq=False)
class RuntimeModel(RobotModel):
    """A robot with some constants replaced by a program's scalars."""

    values: Mapping[str, Any] = field(factory=dict, kw_only=True)
    """Object arrays of the shapes of `INERTIAS` and `PLACEMENTS`, by name."""


def with_runtime_ports(algorithm: Algorithm, options: Options) -> Algorithm:
    """Return an algorithm with the inputs that the options add to it."""
    wanted = [(options.runtime_inertia, INERTIAS), (options.runtime_transform, PLACEMENTS)]
    taken = {port.name for port in (*algorithm.inputs, *algorithm.outputs)}
    more = [
        port
        for on, port in wanted
        if on and port.name in algorithm.constants and port.name not in taken
    ]
    return evolve(algorithm, inputs=(*algorithm.inputs, *more)) if more else algorithm


def sharing(algorithm: Algorithm, names: Sequence[str]) -> Algorithm:
    """Return an algorithm that takes some of its arrays once for all problems of a batch."""

    def once(port: Port) -> Port:
        return evolve(
            port, uniform=True, default=0.0, optional=False, on_demand=False, shared=False
        )

    inputs = [once(port) if port.name in names else port for port in algorithm.inputs]
    return evolve(algorithm, inputs=tuple(inputs))


def runtime_model(model: RobotModel, inputs: Mapping[str, Any]) -> RobotModel:
    """Return the model that a program sees, with those of the two inputs that are given."""
    values = {}
    for port in (INERTIAS, PLACEMENTS):
        value = inputs.get(port.name)
        # A third party's port of that name may be something else.
        if value is not None and np.shape(value) == port.dims(model, Options()):
            values[port.name] = value
    if PLACEMENTS.name in values:
        values[PLACEMENTS.name] = np.array(values[PLACEMENTS.name])
        values[PLACEMENTS.name][:, 3] = [0.0, 0.0, 0.0, 1.0]
    if not values:
        return model
    own = {one.name: getattr(model, one.name) for one in fields(RobotModel)}
    return RuntimeModel(**own, values=values)


def renewed(model: RobotModel, make: Callable[[str, Any], Any]) -> RobotModel:
    """Return the same for another trace: `make` gives the scalars of a name and its old ones."""
    if not isinstance(model, RuntimeModel):
        return model
    return evolve(model, values={name: make(name, x) for name, x in model.values.items()})


def altered(model: RobotModel, inertias: Array | None, placements: Array | None) -> RobotModel:
    """Return a model with other numbers.

    Args:
        model: the nominal one.
        inertias: (nb, 10), or None.
        placements: (nj, 4, 4), or None.
    """
    if inertias is not None:
        bodies = zip(model.bodies, inertias, strict=True)
        model = evolve(model, bodies=tuple(evolve(b, inertia=_inertia(pi)) for b, pi in bodies))
    if placements is not None:
        joints = [
            joint if joint.kind.nq == 7 else evolve(joint, placement=_affine(T))
            for joint, T in zip(model.joints, placements, strict=True)
        ]
        model = evolve(model, joints=tuple(joints))
    return model


def _inertia(pi: Array) -> Inertia:
    m, h, I = float(pi[0]), pi[1:4], pi[[4, 5, 7, 5, 6, 8, 7, 8, 9]].reshape(3, 3)
    com = h / m if m else np.zeros(3)
    return Inertia(m, com, I - m * (com @ com * np.eye(3) - np.outer(com, com)))


def _affine(T: Array) -> Array:
    return np.vstack([T[:3], [0.0, 0.0, 0.0, 1.0]])
