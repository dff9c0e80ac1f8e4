"""Random robots for properties, and their operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen
from hypothesis import strategies as st

from tests.program.operations import traced
from tests.support.compare import condition
from tests.support.random_trees import ALL_KINDS, random_urdf
from tests.support.robots import Robot

if TYPE_CHECKING:
    from grid_core.model.types import Array, RobotModel
    from grid_core.program.program import Program

__all__ = ["Operations", "random_robots"]


@frozen
class Operations:
    """The programs of one robot, traced at their first use: ``ops("crba", q=q)``."""

    model: RobotModel
    _programs: dict[tuple[str, frozenset[str]], Program] = field(factory=dict)

    def __call__(self, name: str, **inputs: Any) -> Array:
        """Evaluate an operation in float64 and return its only output."""
        present = frozenset({"qdd", "f_ext"} & set(inputs))
        if name not in {"inverse_dynamics", "forward_dynamics", "aba", "nonlinear_effects"}:
            present = frozenset()
        key = name, present
        if key not in self._programs:
            self._programs[key] = traced(self.model, name, present)
        (result,) = self._programs[key].evaluate({"gravity": -9.81, **inputs}).values()
        return result

    def kappa(self, M: Array) -> Array:
        """Condition number of each M scaled to a unit diagonal, at least 1."""
        return np.maximum(1.0, condition(M))


@st.composite
def random_robots(draw: st.DrawFn, most: int = 30) -> RobotModel:
    """Draw a tree of every kind of joint, skew axes and mimic joints, to `most` joints."""
    joints = draw(st.integers(1, most))
    kinds = draw(
        st.sampled_from(
            [
                ALL_KINDS,
                ("revolute",),
                ("revolute", "prismatic"),
                ("helical", "continuous"),
                ("spherical", "revolute"),
                (*ALL_KINDS, "planar", "floating"),
            ]
        )
    )
    text = random_urdf(
        draw(st.integers(0, 10_000)),
        joints,
        kinds=kinds,
        branching=draw(st.sampled_from([0.0, 0.3, 1.0])),
        mimic=draw(st.sampled_from([0.0, 0.0, 0.4])),
    )
    return Robot("random", text=text).load(floating_base=draw(st.booleans()))
