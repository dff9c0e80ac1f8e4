"""The robots of a folder of descriptions, as a planner offers them; benches are left out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from grid_core.description.description import RobotDescription
from grid_core.description.files import MANIFEST
from grid_core.description.placements import frame_poses

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike

    from grid_core.model.types import Array

__all__ = ["CatalogueEntry", "catalogue_entry", "read_catalogue"]


@frozen
class CatalogueEntry:
    """One robot. Both positions are of the URDF at its zero pose, uncalibrated, in the world."""

    model_id: str
    identity: str
    driven_joints: tuple[str, ...]
    work_world_m: tuple[float, ...]
    """Origin of the work frame [m]."""
    arm_base_world_m: tuple[float, ...]
    """Origin of the first driven joint's child link [m].

    A position only: clients that convert with it need an arm base whose axes are the world's.
    """

    def to_world(self, points: ArrayLike) -> Array:
        """Take points relative to the arm base to the world, shape (..., 3) [m]."""
        return np.add(points, self.arm_base_world_m)

    def to_arm_base(self, points: ArrayLike) -> Array:
        """Take points of the world to the arm base, shape (..., 3) [m]."""
        return np.subtract(points, self.arm_base_world_m)


def read_catalogue(folder: str | os.PathLike[str]) -> tuple[CatalogueEntry, ...]:
    """Return the robots of a folder such as ``robot_description/robots``, sorted by id.

    Raises:
        DescriptionError: one of the descriptions cannot be loaded.
    """
    found = sorted(path.parent for path in Path(folder).glob(f"*/{MANIFEST}"))
    descriptions = [RobotDescription.load(path) for path in found]
    return tuple(catalogue_entry(d) for d in descriptions if not d.is_bench)


def catalogue_entry(description: RobotDescription) -> CatalogueEntry:
    """Return what a catalogue says of one robot.

    Raises:
        DescriptionError: a bench.
    """
    shared = description.require_urdf()
    model, config = shared.model, shared.config
    zero = np.zeros((1, model.nq))
    first = shared.axes[config.driven_joints[0]]
    base = model.bodies[first.id].name
    return CatalogueEntry(
        model_id=description.model_id,
        identity=description.identity,
        driven_joints=config.driven_joints,
        work_world_m=_origin(frame_poses(model, config, config.frames.work, zero)),
        arm_base_world_m=_origin(frame_poses(model, config, base, zero)),
    )


def _origin(T: Array) -> tuple[float, ...]:
    return tuple(float(x) + 0.0 for x in T[0, :3, 3])
