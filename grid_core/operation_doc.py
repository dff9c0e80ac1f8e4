"""Signature and docstring of an operation, for one robot."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from grid_core.arguments import unannotated
from grid_core.arrays import ArrayPort

if TYPE_CHECKING:
    import numpy as np

    from grid_core.algorithm import Algorithm, Options, Port
    from grid_core.model.types import RobotModel

__all__ = ["document", "document_method", "of_users", "signature"]


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
    shapes = [str((*("B",), *port.dims(model, options))) for port in algorithm.outputs]
    into = "array" if len(shapes) == 1 else f"{len(shapes)} arrays"
    return "\n".join(
        [
            f"{algorithm.name}{signature(algorithm)}",
            "",
            algorithm.summary,
            "",
            *_robot(model, dtype),
            "",
            "Args:",
            *arguments,
            f"    out: {into} to write the result into, C-contiguous {dtype}.",
            "",
            *_results(algorithm, model, options),
            *_rest(algorithm),
        ]
    )


def document_method(
    text: str,
    shown: inspect.Signature,
    algorithm: Algorithm,
    *,
    model: RobotModel,
    options: Options,
    dtype: np.dtype[Any],
) -> str:
    """Compose the docstring of a method around an operation, with what holds of both.

    Args:
        text: the method's own, as users are to read it (`of_users`); where it says nothing of
            results, those of the operation are given.
        shown: the signature that users see.
        algorithm: the operation.
        model: the robot.
        options: the handle's.
        dtype: the handle's.
    """
    results = [] if "\nReturns:\n" in text else _results(algorithm, model, options)
    lines = [
        f"{algorithm.name}{unannotated(shown)}",
        "",
        text,
        "",
        *_robot(model, dtype),
        "",
        *results,
    ]
    return "\n".join([*lines, *_rest(algorithm)])


def of_users(text: str, first: str) -> str:
    """Leave a method's first argument, which users do not give, out of its docstring."""
    return re.sub(rf"^    {re.escape(first)}: .*\n(?:     .*\n)*", "", text, flags=re.MULTILINE)


def _robot(model: RobotModel, dtype: np.dtype[Any]) -> list[str]:
    return [
        f"For {model.name!r}: nq={model.nq}, nv={model.nv}.",
        "B problems at once, or one without the axis B.",
        f"Arrays come out as {dtype}; other real numbers are converted to it.",
    ]


def _results(algorithm: Algorithm, model: RobotModel, options: Options) -> list[str]:
    return ["Returns:", *(_line(port, model, options) for port in algorithm.outputs), ""]


def _rest(algorithm: Algorithm) -> list[str]:
    return [
        "Raises:",
        "    InputError: an array of the wrong width, rank, batch or dtype.",
        "    OperationRefused: this robot cannot have the operation.",
        "    HandleClosed: the handle was closed.",
        "",
        f"Source: {algorithm.source}",
    ]


def _line(port: Port, model: RobotModel, options: Options) -> str:
    shape = "" if port.uniform else f"{ArrayPort.of(port, model, options).batched} "
    unit = f" [{port.unit}]" if port.unit else ""
    frame = f" ({port.frame})" if port.frame else ""
    end = "; may be left out" if port.optional else ""
    if port.uniform:
        end = f"; one number for all, {port.default} if left out"
    return f"    {port.name}: {shape}{port.doc.rstrip('.')}{unit}{frame}{end}."
