"""Which entries of a robot's Y are 0 at every state, as its program shows.

A joint does not feel a body that it does not move, a rotational inertia does not push along an
axis, and what an axis cannot feel of the body next to it, it never feels. The tracer folds such
entries to the constant 0, so they are known before any state is.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grid_core.model.parameters import inertial_permutation
from grid_core.program.graph import Graph
from grid_core.program.scalar import is_zero
from grid_core.program.trace import new_inputs
from grid_plugins.regressor.rows import Moment, by_axes, by_wrenches

if TYPE_CHECKING:
    from grid_core.algorithm import Options
    from grid_core.model.types import RobotModel

__all__ = ["Mask", "packed_width", "structure"]

Mask: TypeAlias = NDArray[np.bool_]

_RECENT: deque[tuple[RobotModel, Mask]] = deque(maxlen=4)
_RECENT_LOCK = threading.Lock()


def structure(model: RobotModel, options: Options) -> Mask:
    """Return which entries of Y (nv, p) are to be computed, in the order of the options."""
    bodies = _of_bodies(model).reshape(model.nv, model.nb, 10)
    ordered = bodies[:, :, inertial_permutation(options.parameter_order)]
    terms = [np.eye(model.nv, dtype=np.bool_) for _ in options.regressor_terms]
    return np.hstack([ordered.reshape(model.nv, 10 * model.nb), *terms])


def packed_width(model: RobotModel, options: Options) -> int:
    """Count those entries."""
    return int(np.count_nonzero(structure(model, options)))


def _of_bodies(model: RobotModel) -> Mask:
    with _RECENT_LOCK:  # operations are traced from several threads
        for known, mask in _RECENT:
            if known is model:
                return mask
    mask = _traced(model)
    with _RECENT_LOCK:
        _RECENT.append((model, mask))
    return mask


def _traced(model: RobotModel) -> Mask:
    graph = Graph()
    q, qd, qdd = (new_inputs(graph, (n,)) for n in (model.nq, model.nv, model.nv))
    moment = Moment(model, q, qd, qdd, new_inputs(graph, ()))
    # What one way computes and the other knows to be 0 is 0.
    zeros = np.zeros((model.nv, 10 * model.nb), dtype=np.bool_)
    for way in (by_axes, by_wrenches):
        zeros |= np.frompyfunc(is_zero, 1, 1)(way(moment)).astype(np.bool_)
    return ~zeros
