"""A handle method that a plugin writes itself, around the generated call."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_core.operation_call import OperationCall

__all__ = ["customise"]


def customise(method: Callable[..., Any], call: OperationCall) -> Callable[..., Any]:
    """Bind the generated call as the first argument; users see the rest of the signature."""

    @functools.wraps(method)
    def bound(*args: Any, **keywords: Any) -> Any:
        return method(call, *args, **keywords)

    seen = inspect.signature(method)
    bound.__signature__ = seen.replace(  # type: ignore[attr-defined]
        parameters=list(seen.parameters.values())[1:]
    )
    bound.__name__ = call.__name__
    bound.__qualname__ = call.__qualname__
    bound.__doc__ = f"{inspect.getdoc(method) or call.algorithm.summary}\n\n{call.__doc__}"
    return bound
