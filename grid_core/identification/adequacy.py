"""What a log is good for: whether anything moves in it, and what it tells apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve

from grid_core.errors import InputError
from grid_core.identification.base_parameters import INDEPENDENT
from grid_core.identification.factors import independent_columns
from grid_core.identification.least_squares import Normal, row_scale
from grid_core.wording import listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.identification.base_parameters import BaseParameters
    from grid_core.identification.information import Information

__all__ = ["check_motion", "excited"]


def check_motion(name: str, information: Information, rows: Sequence[str]) -> list[str]:
    """Refuse a log in which nothing moves; return warnings of joints that do not.

    Args:
        name: the robot's.
        information: the log.
        rows: names of the rows of τ.

    Raises:
        InputError: no torque, or no motion at all.
    """
    if not np.any(information.total().torque > 0.0):
        raise InputError(f"identification of {name!r}: tau is zero in every sample")
    still = (information.speed == 0.0) & (information.acceleration == 0.0)
    if not np.any(still):
        return []
    if not np.all(still):
        names = listing(row for row, no in zip(rows, still, strict=True) if no)
        return [f"qd and qdd are zero in every sample: {names}"]
    if not information.moved:
        raise InputError(
            f"identification of {name!r}: nothing moves: qd and qdd are zero and q is the "
            "same in every sample"
        )
    return ["qd and qdd are zero in every sample: what gravity feels is all that can be told"]


def excited(
    name: str, structure: BaseParameters, information: Information
) -> tuple[BaseParameters, Information, list[str]]:
    """Keep the base parameters that a log tells apart; return warnings of those that it does not.

    Args:
        name: the robot's.
        structure: all base parameters.
        information: the log.

    Raises:
        InputError: too few samples, or torques that depend on nothing.
    """
    total = information.total()
    rows = len(total.torque)
    A, _ = total.normal(1.0 / row_scale(total) ** 2)
    columns = independent_columns(Normal.of(A).root, INDEPENDENT)
    kept = np.array(columns.independent, dtype=np.intp)
    if not len(kept):
        raise InputError(
            f"identification of {name!r}: the torques of this log depend on no parameter"
        )
    if total.samples * rows < structure.rank + rows:
        raise InputError(
            f"identification of {name!r}: {total.samples} times {rows} torques are too few for "
            f"{structure.rank} base parameters"
        )
    if len(kept) == structure.rank:
        return structure, information, []
    own = [structure.names[column] for column in structure.independent]
    lost = listing(own[k] for k in range(len(own)) if k not in columns.independent)
    warning = (
        f"the log tells {len(kept)} of {structure.rank} base parameters apart; it does not excite "
        f"those of {lost}"
    )
    folds = tuple(fold.restricted(kept) for fold in information.folds)
    return structure.reduced(columns), evolve(information, folds=folds), [warning]
