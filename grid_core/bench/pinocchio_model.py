"""The same robot in Pinocchio, and states in its coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from grid_core.bench.contender import Declined

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grid_core.bench.robot import Robot
    from grid_core.model.types import Array, RobotModel

__all__ = ["PinocchioRobot"]


@frozen
class PinocchioRobot:
    """A robot read by Pinocchio from the URDF that Grid read."""

    model: Any = field(repr=False)
    angles: tuple[tuple[int, int, bool], ...]
    """For each block of q: where it starts in Grid's, how wide it is, and whether it is an angle
    that Pinocchio has as cosine and sine."""

    @classmethod
    def read(cls, pin: Any, robot: Robot, ours: RobotModel) -> PinocchioRobot:
        """Read it and check that both have the same joints in the same order.

        Raises:
            Declined: there is no URDF file, or Pinocchio reads another tree from it.
        """
        if robot.path is None:
            raise Declined("there is no URDF file for Pinocchio to read")
        root = (pin.JointModelFreeFlyer(),) if ours.floating_base else ()
        try:
            model = pin.buildModelFromUrdf(str(robot.path), *root)
        except Exception as error:
            raise Declined(f"Pinocchio does not read it: {error}") from error
        names = list(model.names)[1:]
        mine = [joint.name for joint in ours.joints]
        if model.nv != ours.nv or names != mine:
            raise Declined(
                f"Pinocchio reads another tree: {len(names)} joints and nv={model.nv}, not "
                f"{len(mine)} and nv={ours.nv}"
            )
        blocks = []
        for theirs, joint in zip(list(model.joints)[1:], ours.joints, strict=True):
            if joint.q_start is None or theirs.nv != joint.nv or theirs.idx_v != joint.v_start:
                raise Declined(f"Pinocchio has another joint for {joint.name!r}")
            blocks.append((joint.q_start, joint.nq, theirs.nq == 2 and joint.nq == 1))
        return cls(model, tuple(blocks))

    def frames(self, pin: Any, names: Iterable[str]) -> list[int]:
        """Return Pinocchio's frames of joints and fixed joints.

        Raises:
            Declined: it has no such frame.
        """
        kinds = (pin.FrameType.JOINT, pin.FrameType.FIXED_JOINT)
        known = {f.name: i for i, f in enumerate(self.model.frames) if f.type in kinds}
        missing = [name for name in names if name not in known]
        if missing:
            raise Declined(f"Pinocchio has no frame {missing[0]!r}")
        return [known[name] for name in names]

    def state(self, name: str, array: Array) -> Array:
        """Return states in Pinocchio's coordinates, shape (B, width), C-contiguous."""
        if name != "q" or not any(angle for *_, angle in self.angles):
            return np.ascontiguousarray(array)
        columns = []
        for start, width, angle in self.angles:
            block = array[:, start : start + width]
            columns.append(np.hstack([np.cos(block), np.sin(block)]) if angle else block)
        return np.ascontiguousarray(np.hstack(columns))
