"""Methods that plugins write themselves: code of theirs, which no artifact holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from attrs import field, frozen

from grid_core.artifact.prepared_ports import port_record
from grid_core.errors import GridError, OperationNotLoaded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grid_core.artifact.prepared_manifest import OperationRecord
    from grid_core.operation_call import OperationCall
    from grid_core.plugins import PluginManager

__all__ = ["Method", "find_method"]


@frozen
class Method:
    """What a plugin writes of an operation beside its arithmetic."""

    function: Callable[..., Any] | None = None
    """None: the generated method is all there is."""
    helpers: Mapping[str, Callable[..., Any]] = field(factory=dict)


def find_method(record: OperationRecord, plugins: PluginManager) -> Method:
    """Return the method of an operation.

    It is the installed plugin's, which must declare the same inputs and outputs as the one that
    was built with. Where there is none, the method that comes back says so.
    """
    if not record.hand_written:
        return Method()
    try:
        offer = plugins.algorithms.take(record.name)
    except GridError as error:
        return Method(_refusing(record, f"that cannot be used here: {error}"))
    found = offer.value
    ports = (tuple(map(port_record, found.inputs)), tuple(map(port_record, found.outputs)))
    if ports != (record.inputs, record.outputs) or found.method is None:
        other = f"another version, {offer.provider.release}, with other arguments is installed"
        return Method(_refusing(record, other))
    return Method(found.method, found.helpers)


def _refusing(record: OperationRecord, reason: str) -> Callable[..., Any]:
    def method(call: OperationCall, /, *args: Any, **keywords: Any) -> NoReturn:
        del args, keywords
        raise OperationNotLoaded(
            f"{call.__name__}: its method is part of {record.provider}: {reason}; install what "
            "the artifact was built with, or build it again with what is installed"
        )

    return method
