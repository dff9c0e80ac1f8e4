"""Trace operations of the bundled families, or of algorithms made up in a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.algorithm import Algorithm, Options, Port
from grid_core.backend import Operation
from grid_core.model import load_urdf_string
from grid_core.program.trace import trace
from tests.support.evaluate import ALGORITHMS
from tests.support.urdf import joint, link, robot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from grid_core.model.types import RobotModel
    from grid_core.program.program import Program

__all__ = ["BODY", "DYNAMICS", "made_up", "operation", "pendulum", "traced"]

DYNAMICS = tuple(name for name, a in ALGORITHMS.items() if a.family in {"id", "fd"})
"""Names of the operations of the two families of dynamics."""
BODY = np.diag([0.02, 0.03, 0.04])
"""A rotational inertia that a body could have."""


def operation(
    model: RobotModel,
    algorithm: str | Algorithm,
    present: Iterable[str] = (),
    *,
    dtype: str = "float64",
    available: Mapping[str, Algorithm] | None = None,
    **options: Any,
) -> Operation:
    """Return an operation of the bundled algorithms, or of one given."""
    known = dict(ALGORITHMS if available is None else available)
    if isinstance(algorithm, str):
        algorithm = known[algorithm]
    return Operation(
        algorithm=algorithm,
        available={**known, algorithm.name: algorithm},
        model=model,
        options=Options(**options),
        dtype=np.dtype(dtype),
        present=frozenset(present),
    )


def traced(
    model: RobotModel, algorithm: str | Algorithm, present: Iterable[str] = (), **options: Any
) -> Program:
    """Trace an operation."""
    return trace(operation(model, algorithm, present, **options))


def made_up(
    program: Callable[..., Any],
    *,
    inputs: tuple[Port, ...] = (Port(name="q", shape=("nq",), doc="configuration"),),
    outputs: tuple[Port, ...] = (Port(name="y", shape=(1,), doc="result"),),
    name: str = "made_up",
    needs: tuple[str, ...] = (),
) -> Algorithm:
    """Return an algorithm with this program."""
    return Algorithm(
        name=name,
        family="made_up",
        summary="Made up in a test.",
        inputs=inputs,
        outputs=outputs,
        needs=needs,
        reference=lambda _: {},
        program=program,
        source="a test",
    )


def pendulum(
    *, axis: tuple[float, float, float] = (0.0, 1.0, 0.0), kind: str = "continuous"
) -> RobotModel:
    """Return two links in a row, the joints' axes alike."""
    body: dict[str, Any] = {"mass": 1.5, "com": (0.1, 0.0, -0.3), "inertia": BODY}
    return load_urdf_string(
        robot(
            "pendulum",
            link("base"),
            link("upper", **body),
            link("lower", **body),
            joint("j1", kind, "base", "upper", axis=axis, xyz=(0.0, 0.0, 1.0)),
            joint("j2", kind, "upper", "lower", axis=axis, xyz=(0.0, 0.0, -0.6)),
        )
    )
