"""Programs of plain expressions, without a robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.program import scalar
from grid_core.program.graph import Graph
from grid_core.program.program import Program, ProgramPort
from grid_core.program.schedule import schedule
from grid_core.program.trace import new_inputs, node_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["NUMERIC", "SYMBOLIC", "names", "program_of"]

SYMBOLIC: dict[str, Any] = {
    "sin": scalar.sin,
    "cos": scalar.cos,
    "sqrt": scalar.sqrt,
    "absolute": scalar.absolute,
    "sign": scalar.sign,
    "atan2": scalar.atan2,
    "maximum": scalar.maximum,
    "minimum": scalar.minimum,
}
NUMERIC: dict[str, Any] = {
    name: getattr(np, {"atan2": "arctan2"}.get(name, name)) for name in SYMBOLIC
}
"""The same functions in NumPy."""


def program_of(
    function: Callable[..., Mapping[str, Any]],
    *,
    uniform: tuple[str, ...] = (),
    **dims: tuple[int, ...],
) -> Program:
    """Trace a function over ports of these shapes; it returns arrays by output name."""
    graph = Graph()
    inputs = {name: new_inputs(graph, shape) for name, shape in dims.items()}
    outputs = {name: np.asarray(v, dtype=object) for name, v in function(**inputs).items()}
    nodes = [node_of(graph, value) for array in outputs.values() for value in array.reshape(-1)]
    scheduled = schedule(graph, nodes)
    return Program(
        name="synthetic",
        inputs=tuple(ProgramPort(n, d, uniform=n in uniform) for n, d in dims.items()),
        outputs=tuple(ProgramPort(n, array.shape) for n, array in outputs.items()),
        constants=scheduled.constants,
        instructions=scheduled.instructions,
        results=scheduled.results,
    )


def names(program: Program) -> str:
    """Return the operations in order, as words."""
    return " ".join(op.name for op, _, _ in program.instructions)
