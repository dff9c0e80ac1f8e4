"""A handle method that a plugin writes itself, around the generated call."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.arguments import argument_fault, unannotated
from grid_core.errors import ArgumentError
from grid_core.operation_doc import document_method, of_users
from grid_core.wording import brief

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_core.algorithm import Algorithm
    from grid_core.operation_call import OperationCall

__all__ = ["customise", "require_flag"]


def customise(algorithm: Algorithm, call: OperationCall) -> Callable[..., Any]:
    """Return an algorithm's own method for a generated call, its helpers as attributes."""
    method = algorithm.method
    assert method is not None
    bound = _bind(method, call, call.__name__)
    added = [p.name for p in call.algorithm.inputs if p.shared and p.name in algorithm.constants]
    if added:
        bound = _taking(bound, method, call, added)
    bound.__qualname__ = call.__qualname__
    bound.__doc__ = document_method(
        bound.__doc__ or "",
        inspect.signature(bound),
        call.algorithm,
        model=call.model,
        options=call.options,
        dtype=np.dtype(call.dtype_name),
    )
    for name, helper in algorithm.helpers.items():
        made = _bind(helper, call, name)
        made.__qualname__ = f"{call.__qualname__}.{name}"
        setattr(bound, name, made)
    return bound


def _bind(method: Callable[..., Any], call: OperationCall, name: str) -> Callable[..., Any]:
    """Bind the generated call as the first argument; users see the rest of the signature.

    Arguments that do not fit it are refused in the words of a generated operation.
    """
    own = inspect.signature(method)
    first, *parameters = own.parameters.values()
    seen = own.replace(parameters=parameters)
    bare = unannotated(seen)

    @functools.wraps(method)
    def bound(*args: Any, **keywords: Any) -> Any:
        try:
            return method(call, *args, **keywords)
        except TypeError:
            _refuse(name, bare, args, keywords)
            raise

    bound.__signature__ = seen  # type: ignore[attr-defined]
    bound.__name__ = name
    bound.__doc__ = of_users(inspect.getdoc(method) or call.algorithm.summary, first.name)
    return bound


def _refuse(
    name: str, bare: inspect.Signature, args: tuple[Any, ...], keywords: dict[str, Any]
) -> None:
    """Raise `ArgumentError` where arguments do not fit.

    They are looked at after a call went wrong: calls that are right pay nothing.
    """
    fault = argument_fault(name, bare, args, keywords)
    if fault is not None:
        raise ArgumentError(fault) from None


class _Giving:
    """A generated call with some arguments given beforehand; else it is that call."""

    def __init__(self, call: OperationCall, given: dict[str, Any]) -> None:
        self._call = call
        self._given = given

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._call(*args, **{**self._given, **keywords})

    def companion(self, *args: Any) -> _Giving:
        return _Giving(self._call.companion(*args), self._given)

    def specialised(self, *args: Any) -> _Giving:
        return _Giving(self._call.specialised(*args), self._given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)


def _taking(
    bound: Callable[..., Any], method: Callable[..., Any], call: OperationCall, added: list[str]
) -> Callable[..., Any]:
    """Let a method take, by keyword, what the handle's options add to the call it is made around.

    The method knows nothing of them: what it calls has them already.
    """
    own: inspect.Signature = bound.__signature__  # type: ignore[attr-defined]
    bare = unannotated(own)
    kind = inspect.Parameter.KEYWORD_ONLY
    more = [inspect.Parameter(name, kind, default=None) for name in added]

    @functools.wraps(bound)
    def taking(*args: Any, **keywords: Any) -> Any:
        given = {name: keywords.pop(name) for name in added if keywords.get(name) is not None}
        if not given:
            return bound(*args, **{n: x for n, x in keywords.items() if n not in added})
        try:
            return method(_Giving(call, given), *args, **keywords)
        except TypeError:
            _refuse(call.__name__, bare, args, keywords)
            raise

    taking.__signature__ = own.replace(parameters=[*own.parameters.values(), *more])  # type: ignore[attr-defined]
    return taking


def require_flag(call: OperationCall, name: str, value: object) -> bool:
    """Return an argument that is True or False.

    Raises:
        ArgumentError: it is neither.
    """
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{call.__name__}: {name} must be True or False; got {brief(value)}")
    return bool(value)
