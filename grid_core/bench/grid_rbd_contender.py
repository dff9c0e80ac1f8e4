"""grid-rbd, in float32 on the same card, called as its documentation says."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from grid_core.bench.contender import Declined, Prepared
from grid_core.bench.device_boundaries import Steps
from grid_core.bench.device_contender import moved_bytes
from grid_core.bench.grid_rbd_order import METHODS
from grid_core.bench.grid_rbd_robot import MAX_BATCH, GridRbdRobot, find_grid_rbd

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grid_core.bench.case import Case
    from grid_core.bench.device import Device

__all__ = ["GridRbdContender", "GridRbdRobots"]


@frozen
class GridRbdRobots:
    """What is built; contenders share it, as a build takes minutes."""

    module: Any = field(repr=False)
    algorithms: tuple[str, ...]
    """What every robot is built with."""
    max_batch: int = MAX_BATCH
    """The largest batch that every robot is built for."""
    known: dict[tuple[str, bool], GridRbdRobot | Declined] = field(factory=dict, repr=False)

    @classmethod
    def of(cls, operations: Iterable[str], max_batch: int = MAX_BATCH) -> GridRbdRobots:
        """Find the library; of the operations it builds those that it has.

        Raises:
            OptionError: it is not installed.
        """
        return cls(find_grid_rbd(), tuple(sorted(set(operations) & set(METHODS))), max_batch)

    def get(self, case: Case) -> GridRbdRobot:
        """Return a case's robot, built at most once.

        Raises:
            Declined: it cannot be built.
        """
        key = (case.robot.name, case.model.floating_base)
        if key not in self.known:
            try:
                self.known[key] = GridRbdRobot.load(
                    self.module, case.robot, case.model, self.algorithms, self.max_batch
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
    states: str
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
        method = METHODS.get(name)
        known = method is not None and set(case.inputs) <= set(method.takes)
        if method is None or not known or name not in self.robots.algorithms:
            raise Declined(f"grid-rbd is not compared in {case.benchmark.label}")
        if case.batch > self.robots.max_batch:
            raise Declined(f"grid-rbd is built for batches up to {self.robots.max_batch}")
        moved = moved_bytes(case, self.dtype)
        robot = self.robots.get(case)
        call = functools.partial(getattr(robot.handle, name), **_shared(case))
        given = [one for one in method.takes if one in case.inputs]
        states = [case.inputs[one][:, robot.columns(one)] for one in given]
        sets = self.device.sets(
            states, batch=case.batch, dtype=self.dtype, moved=moved, states=self.states
        )
        return Steps(
            device=self.device,
            who=f"grid-rbd's {name}",
            calls=[functools.partial(call, *one) for one in sets],
            states=self.states,
            batch=case.batch,
            drawn=case.drawn,
            order=functools.partial(method.in_order, order=robot.order),
            details={"bytes": moved},
            note="" if robot.order.same else "joints in its own order",
        ).prepare(self.boundary)


def _shared(case: Case) -> dict[str, Any]:
    """Name the targets that a call chooses, and where the tools are in their frames."""
    if not case.shared:
        return {}
    names = [case.model.joints[int(body)].name for body in case.shared["body"]]
    offsets = [np.vstack([rows, [0.0, 0.0, 0.0, 1.0]]) for rows in case.shared["placement"]]
    return {"ee_joint_names": names, "ee_offsets": offsets}
