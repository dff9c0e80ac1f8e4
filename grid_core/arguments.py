"""What is said of a call whose arguments do not fit a signature, in place of Python's words."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from grid_core.errors import ArgumentError, OptionError
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["argument_fault", "checked_arguments", "checked_options", "unannotated"]

P = ParamSpec("P")
R = TypeVar("R")


def unannotated(signature: inspect.Signature) -> inspect.Signature:
    """Return a signature as a line of text has it: names and defaults, no types."""
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return signature.replace(parameters=bare, return_annotation=signature.empty)


def argument_fault(
    name: str, signature: inspect.Signature, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> str | None:
    """Say why a function of that name and signature cannot be called so; None where it can."""
    try:
        signature.bind(*args, **keywords)
    except TypeError as error:
        reason = str(error)
    else:
        return None
    takes = f"it is {name}{signature.replace(return_annotation=inspect.Signature.empty)}"
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    positional = [p.name for p in signature.parameters.values() if p.kind not in kinds]
    open_ended = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    for keyword in keywords:
        if keyword not in signature.parameters and not open_ended:
            hint = near(keyword, signature.parameters)
            return f"{name}: there is no argument {keyword!r}{hint}; {takes}"
        if keyword in positional[: len(args)]:
            return f"{name}: {keyword} is given twice; {takes}"
    if len(args) > len(positional):
        return f"{name}: {len(args)} positional arguments; {takes}"
    for parameter in signature.parameters.values():
        filled = parameter.name in [*positional[: len(args)], *keywords]
        variable = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        if parameter.default is parameter.empty and not (filled or variable):
            return f"{name}: {parameter.name} is missing; {takes}"
    return f"{name}: {reason}; {takes}"


def checked_options(function: Callable[P, R]) -> Callable[P, R]:
    """Make a loading function raise `OptionError` for an unknown option, `ArgumentError` else."""
    bare = unannotated(inspect.signature(function))

    @functools.wraps(function)
    def checked(*args: P.args, **keywords: P.kwargs) -> R:
        try:
            return function(*args, **keywords)
        except TypeError:
            fault = argument_fault(function.__name__, bare, args, keywords)
            if fault is None:
                raise
            known = [p.name for p in bare.parameters.values() if p.kind is not p.VAR_KEYWORD]
            unknown = (
                [] if len(known) < len(bare.parameters) else [k for k in keywords if k not in known]
            )
            if unknown:
                raise OptionError(
                    f"there is no option {unknown[0]!r}{near(unknown[0], known)}; there are "
                    f"{listing(known)}"
                ) from None
            raise ArgumentError(fault) from None

    return checked


def checked_arguments(method: Callable[P, R]) -> Callable[P, R]:
    """Make a method raise `ArgumentError`, not a bare TypeError, for arguments that do not fit."""
    own = unannotated(inspect.signature(method))
    seen = own.replace(parameters=list(own.parameters.values())[1:])

    @functools.wraps(method)
    def checked(*args: P.args, **keywords: P.kwargs) -> R:
        try:
            return method(*args, **keywords)
        except TypeError:
            # Looked at afterwards: calls that are right pay nothing.
            fault = argument_fault(method.__name__, seen, args[1:], keywords)
            if fault is None:
                raise
            raise ArgumentError(fault) from None

    return checked
