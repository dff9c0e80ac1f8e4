"""Signature and docstring of an operation, for one robot."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from grid_core.arrays import ArrayPort

if TYPE_CHECKING:
    import numpy as np

    from grid_core.algorithm import Algorithm, Options, Port
    from grid_core.model.types import RobotModel

__all__ = ["document", "signature"]


def signature(algorithm: Algorithm) -> inspect.Signature:
    """Return the signature: array inputs, then ``*``, uniform inputs and ``out``."""
    arrays = [
        inspect.Parameter(
            port.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=None if port.optional else inspect.Parameter.empty,
        )
        for port in algorithm.inputs
        if not port.uniform
    ]
    keywords = [
        inspect.Parameter(port.name, inspect.Parameter.KEYWORD_ONLY, default=port.default)
        for port in algorithm.inputs
        if port.uniform
    ]
    out = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)
    return inspect.Signature([*arrays, *keywords, out])


def document(
    algorithm: Algorithm, model: RobotModel, options: Options, dtype: np.dtype[Any]
) -> str:
    """Compose the docstring, with the shapes in numbers."""
    arguments = [_line(port, model, options) for port in algorithm.inputs]
    results = [_line(port, model, options) for port in algorithm.outputs]
    shapes = [str((*("B",), *port.dims(model, options))) for port in algorithm.outputs]
    into = "array" if len(shapes) == 1 else f"{len(shapes)} arrays"
    return "\n".join(
        [
            f"{algorithm.name}{signature(algorithm)}",
            "",
            algorithm.summary,
            "",
            f"For {model.name!r}: nq={model.nq}, nv={model.nv}.",
            "B problems at once, or one without the axis B.",
            f"Arrays come out as {dtype}; other real numbers are converted to it.",
            "",
            "Args:",
            *arguments,
            f"    out: {into} to write the result into, C-contiguous {dtype}.",
            "",
            "Returns:",
            *results,
            "",
            "Raises:",
            "    InputError: an array of the wrong width, rank, batch or dtype.",
            "    OperationRefused: this robot cannot have the operation.",
            "    HandleClosed: the handle was closed.",
            "",
            f"Source: {algorithm.source}",
        ]
    )


def _line(port: Port, model: RobotModel, options: Options) -> str:
    shape = "" if port.uniform else f"{ArrayPort.of(port, model, options).batched} "
    unit = f" [{port.unit}]" if port.unit else ""
    frame = f" ({port.frame})" if port.frame else ""
    end = "; may be left out" if port.optional else ""
    if port.uniform:
        end = f"; one number for all, {port.default} if left out"
    return f"    {port.name}: {shape}{port.doc.rstrip('.')}{unit}{frame}{end}."
