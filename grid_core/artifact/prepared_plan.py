"""What an artifact is to hold: the operations that a handle would compile, found by asking one.

A handle on a backend that only takes notes is called as its users will call it, so that methods
which plugins write themselves, and the programs that these choose by their arguments, need no
description of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import define, field, frozen

from grid_core.backend import BuildSettings, Operation
from grid_core.errors import GridError, OperationRefused, OptionError
from grid_core.handle import RobotHandle
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from grid_core.algorithm import Algorithm
    from grid_core.backend import Kernel
    from grid_core.binding import Binding
    from grid_core.plugins import PluginManager

__all__ = ["SHARED", "Plan", "note_operations", "read_calls", "uniform_inputs"]

SHARED = "shared"
"""In `calls`, of an array that one problem's worth of is given for the whole batch."""


@frozen
class Plan:
    """What to prepare."""

    operations: tuple[Operation, ...]
    """Each with one choice of optional inputs, under one choice of options."""
    refused: Mapping[str, str]
    """Why the robot cannot have an operation, by name."""


@define
class _Notes:
    """A backend that compiles nothing."""

    name: str = "artifact"
    summary: str = "takes notes"
    priority: int = -1
    dtypes: tuple[str, ...] = ("float32", "float64")
    taken: list[Operation] = field(factory=list)

    def unavailable(self) -> str | None:
        return None

    def build(self, operation: Operation, settings: BuildSettings) -> Kernel:
        del settings
        self.taken.append(operation)
        return _zeros


def _zeros(batch: int, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
    del batch, inputs
    for array in outputs.values():
        array[...] = 0.0


def note_operations(
    make: Callable[[Any, BuildSettings], Binding],
    plugins: PluginManager,
    calls: Sequence[tuple[str, Mapping[str, Any]]],
) -> Plan:
    """Return what a handle compiles at load, and what some calls of it compile beside.

    Args:
        make: makes the handle's binding on a backend.
        plugins: what there is.
        calls: (operation, keyword arguments): True for an optional array that is given, any
            other argument of the method as it is. Arrays that are required are filled in.

    Raises:
        OptionError: a call of an operation that is not prepared, or one that it refuses.
    """
    notes = _Notes()
    settings = BuildSettings(cache_dir=None, num_threads=1)
    handle = RobotHandle(make(notes, settings), plugins)
    refused = {}
    for call in handle.calls():
        try:
            call.require_possible()
        except OperationRefused as error:
            refused[call.algorithm.name] = _reason(error)
            continue
        for variant in call.variants():
            call.build(variant)
    for name, arguments in calls:
        _call(handle, name, arguments, refused)
    return Plan(tuple(_distinct(notes.taken)), refused)


def _reason(error: OperationRefused) -> str:
    """Return why, without what every handle says before it."""
    return str(error).partition(" cannot have it: ")[2] or str(error)


def _distinct(taken: Iterable[Operation]) -> Iterable[Operation]:
    found: dict[Any, Operation] = {}
    for operation in taken:
        uniform = uniform_inputs(operation.algorithm)
        key = (operation.algorithm.name, operation.options, operation.present, uniform)
        found.setdefault(key, operation)
    return found.values()


def _call(
    handle: RobotHandle, name: str, arguments: Mapping[str, Any], refused: Mapping[str, str]
) -> None:
    if name in refused:
        raise OptionError(f"calls: {name}: {handle.name!r} cannot have it: {refused[name]}")
    if name not in handle.algorithms:
        raise OptionError(
            f"calls: {name!r} is not prepared{near(name, handle.algorithms)}; there are "
            f"{listing(handle.algorithms)}; name it in algorithm_list"
        )
    (algorithm,) = (c.algorithm for c in handle.calls() if c.algorithm.name == name)
    given = {
        port.name: _array(algorithm, port.name, handle)
        for port in algorithm.inputs
        if not port.optional and not port.uniform
    }
    optional = {port.name for port in algorithm.inputs if port.optional}
    for key, value in arguments.items():
        if key in optional:
            given[key] = _optional(algorithm, key, handle, value)
        else:
            given[key] = value
    try:
        getattr(handle, name)(**given)
    except GridError as error:
        raise OptionError(f"calls: {error}") from error


def _optional(algorithm: Algorithm, name: str, handle: RobotHandle, value: object) -> Any:
    """Return zeros for an optional array that is given, or that the batch shares."""
    port = next(p for p in algorithm.inputs if p.name == name)
    if value is not True and not (value == SHARED and port.shared):
        also = f", or {SHARED!r} if one is given for the whole batch" if port.shared else ""
        raise OptionError(
            f"calls: {algorithm.name}: {name} is an array; say True if it is given{also}"
        )
    array = _array(algorithm, name, handle)
    return array if value is True else array[0]


def uniform_inputs(algorithm: Algorithm) -> tuple[str, ...]:
    """Return the inputs that the batch shares, as declared or as a call gave them."""
    return tuple(sorted(port.name for port in algorithm.inputs if port.uniform))


def _array(algorithm: Algorithm, name: str, handle: RobotHandle) -> Any:
    port = next(p for p in algorithm.inputs if p.name == name)
    return np.zeros((1, *port.dims(handle.model, handle.options)), handle.dtype)


def read_calls(given: object) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Check the form of `calls`: from an operation to keyword arguments, or to a list of them.

    Raises:
        OptionError: it has another form.
    """
    form = "calls must be a map: {'forward_dynamics': {'f_ext': True}, 'name': [{...}, {...}]}"
    if given is None:
        return ()
    if not isinstance(given, dict):
        raise OptionError(f"{form}; got {type(given).__name__}")
    found = []
    for name, some in given.items():
        for arguments in some if isinstance(some, list | tuple) else [some]:
            if not isinstance(name, str) or not isinstance(arguments, dict):
                raise OptionError(form)
            found.append((name, dict(arguments)))
    return tuple(found)
