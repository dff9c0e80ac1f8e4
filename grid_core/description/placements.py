"""Where a description's frames are: links and surfaces, in the world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grid_core.errors import InputError, UnknownName
from grid_core.model.spatial import pose, rpy_matrix
from grid_core.reference.kinematics import forward_kinematics

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from grid_core.description.documents import Config
    from grid_core.model.types import Array, RobotModel

__all__ = ["frame_poses"]


def frame_poses(model: RobotModel, config: Config, name: str, q: ArrayLike) -> Array:
    """Return T_world_frame of a link or surface, shape (B, 4, 4) [m].

    A pose relative to the work is ``inv(T_world_work) @ T_world_tool``.

    Args:
        model: the robot, corrected and with its axes held or not.
        config: the description's config.
        name: a link of the URDF or a surface of the config.
        q: configurations of the model, shape (B, nq).

    Raises:
        UnknownName: there is no such link or surface.
        InputError: q of another width.
    """
    surface = config.surfaces.get(name)
    links = {link.name: link for link in model.links}
    link = links.get(name if surface is None else surface.link)
    if link is None:
        raise UnknownName(f"there is no link or surface {name!r} in {model.name!r}")
    q = np.asarray(q, dtype=np.float64)
    if q.ndim != 2 or q.shape[1] != model.nq:
        raise InputError(f"q must be (B, nq={model.nq}); got {q.shape}")
    T = np.tile(np.eye(4), (len(q), 1, 1))
    if link.body >= 0:
        T = forward_kinematics(model, q)[:, link.body]
    T = T @ link.placement
    if surface is not None:
        T = T @ pose(surface.xyz_m, rpy_matrix(*surface.rpy_rad))
    return np.asarray(T)
