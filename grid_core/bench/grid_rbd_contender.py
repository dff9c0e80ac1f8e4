"""grid-rbd, in float32 on the same card, called as its documentation says."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from grid_core.bench.contender import Declined, Prepared
from grid_core.bench.device_boundaries import Steps
from grid_core.bench.device_contender import moved_bytes
from grid_core.bench.grid_rbd_robot import MAX_BATCH, GridRbdRobot, find_grid_rbd
from grid_core.model.parameters import inertial_permutation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grid_core.bench.case import Case
    from grid_core.bench.device import Device

__all__ = ["METHODS", "GridRbdContender", "GridRbdRobots", "columns_in_our_order"]

METHODS = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "nonlinear_effects": ("q", "qd"),
    "generalized_gravity": ("q",),
    "forward_dynamics": ("q", "qd", "u"),
    "aba": ("q", "qd", "u"),
    "crba": ("q",),
    "minv": ("q",),
    "inverse_dynamics_regressor": ("q", "qd", "qdd"),
}
"""Its methods that have the same name and results as operations, and what they take."""


_BY_PARAMETER = {"inverse_dynamics_regressor"}
"""Those whose last axis is of parameters, ten a body."""


@frozen
class GridRbdRobots:
    """What is built; contenders share it, as a build takes minutes."""

    module: Any = field(repr=False)
    algorithms: tuple[str, ...]
    """What every robot is built with."""
    known: dict[tuple[str, bool], GridRbdRobot | Declined] = field(factory=dict, repr=False)

    @classmethod
    def of(cls, operations: Iterable[str]) -> GridRbdRobots:
        """Find the library; of the operations it builds those that it has.

        Raises:
            OptionError: it is not installed.
        """
        return cls(find_grid_rbd(), tuple(sorted(set(operations) & set(METHODS))))

    def get(self, case: Case) -> GridRbdRobot:
        """Return a case's robot, built at most once.

        Raises:
            Declined: it cannot be built.
        """
        key = (case.robot.name, case.model.floating_base)
        if key not in self.known:
            try:
                self.known[key] = GridRbdRobot.load(
                    self.module, case.robot, case.model, self.algorithms
                )
            except Declined as reason:
                self.known[key] = reason
        found = self.known[key]
        if isinstance(found, Declined):
            raise found
        return found


@frozen
class GridRbdContender:
    """The peer on the GPU, by one boundary."""

    boundary: str
    device: Device
    robots: GridRbdRobots = field(repr=False)
    name: str = field(default="grid-rbd", init=False)
    dtype: str = field(default="float32", init=False)
    peer: bool = field(default=True, init=False)

    def prepare(self, case: Case) -> Prepared:
        """Build the robot; put states on the device in the order of its joints.

        Raises:
            Declined: it has no such operation, the batch is too large, or the robot not the same.
        """
        name = case.algorithm.name
        takes = METHODS.get(name, ())
        if name not in self.robots.algorithms or not {*case.inputs, *case.shared} <= set(takes):
            raise Declined(f"grid-rbd is not compared in {case.benchmark.label}")
        if case.batch > MAX_BATCH:
            raise Declined(f"grid-rbd is built for batches up to {MAX_BATCH}")
        moved = moved_bytes(case, self.dtype)
        robot = self.robots.get(case)
        method = getattr(robot.handle, name)
        states = [case.inputs[one][:, robot.columns(one)] for one in takes if one in case.inputs]
        sets = self.device.sets(states, batch=case.batch, dtype=self.dtype, moved=moved)
        return Steps(
            device=self.device,
            who=f"grid-rbd's {name}",
            calls=[functools.partial(method, *one) for one in sets],
            batch=case.batch,
            drawn=case.drawn,
            order=functools.partial(
                columns_in_our_order if name in _BY_PARAMETER else _in_our_order,
                back=list(robot.back),
            ),
            details={"bytes": moved},
            note="" if robot.back == tuple(range(len(robot.back))) else "joints in its own order",
        ).prepare(self.boundary)


def _in_our_order(results: Sequence[Any], *, back: list[int]) -> list[Any]:
    """Permute vectors, and matrices on both axes."""
    vectors = [result[:, back] for result in results]
    return [x if x.ndim < 3 else x[:, :, back] for x in vectors]


def columns_in_our_order(results: Sequence[Any], *, back: list[int]) -> list[Any]:
    """Permute the rows as vectors, the columns body by body and within each body.

    It has the inertia row by row: Ixx, Ixy, Ixz, Iyy, Iyz, Izz. A free base is its body 0.
    """
    own = np.argsort(inertial_permutation("grid"))
    found = []
    for result in results:
        several = len(back) - result.shape[2] // 10
        bodies = [v - several for v in back if v >= 6] if several else back
        bodies = [0, *bodies] if several else bodies
        columns = [10 * body + k for body in bodies for k in own.tolist()]
        found.append(result[:, back][:, :, columns])
    return found
