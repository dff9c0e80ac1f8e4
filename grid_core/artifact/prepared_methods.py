"""Methods that plugins write themselves: code of theirs, which no artifact holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from grid_core.artifact.prepared_ports import port_record
from grid_core.errors import GridError, OperationNotLoaded

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_core.artifact.prepared_manifest import OperationRecord
    from grid_core.operation_call import OperationCall
    from grid_core.plugins import PluginManager

__all__ = ["find_method"]


def find_method(record: OperationRecord, plugins: PluginManager) -> Callable[..., Any] | None:
    """Return the method of an operation; None where the generated one is all there is.

    It is the installed plugin's, which must declare the same inputs and outputs as the one that
    was built with. Where there is none, the method that comes back says so.
    """
    if not record.hand_written:
        return None
    try:
        algorithm = plugins.algorithms.take(record.name).value
    except GridError as error:
        return _refusing(record, f"that cannot be used here: {error}")
    ports = (tuple(map(port_record, algorithm.inputs)), tuple(map(port_record, algorithm.outputs)))
    if ports != (record.inputs, record.outputs) or algorithm.method is None:
        release = plugins.algorithms.take(record.name).provider.release
        return _refusing(record, f"another version, {release}, with other arguments is installed")
    return algorithm.method


def _refusing(record: OperationRecord, reason: str) -> Callable[..., Any]:
    def method(call: OperationCall, /, *args: Any, **keywords: Any) -> NoReturn:
        del args, keywords
        raise OperationNotLoaded(
            f"{call.__name__}: its method is part of {record.provider}: {reason}; install what "
            "the artifact was built with, or build it again with what is installed"
        )

    return method
