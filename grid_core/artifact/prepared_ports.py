"""Algorithms as an artifact keeps them: their ports, without their arithmetic."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, NoReturn

from attrs import asdict, fields

from grid_core.algorithm import Algorithm, Port
from grid_core.artifact.prepared_manifest import PortRecord, WidthRecord
from grid_core.errors import OperationNotLoaded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.algorithm import Options
    from grid_core.artifact.prepared_manifest import OperationRecord
    from grid_core.model.types import RobotModel

__all__ = ["algorithm_from", "port_record", "width_record"]


def port_record(port: Port) -> PortRecord:
    """Return a port as plain data; widths of its plugin's own are apart, in `width_record`."""
    return PortRecord(**{f.name: getattr(port, f.name) for f in fields(PortRecord)})


def width_record(algorithm: Algorithm, model: RobotModel, options: Options) -> WidthRecord | None:
    """Return the widths that the ports compute themselves; None where there are none."""
    ports = (*algorithm.inputs, *algorithm.outputs)
    values = {
        f"{port.name}.{name}": int(width(model, options))
        for port in ports
        for name, width in port.widths.items()
    }
    return WidthRecord(asdict(options), values) if values else None


def algorithm_from(record: OperationRecord, **method: Any) -> Algorithm:
    """Return an operation's declaration again; its arithmetic is machine code now.

    Args:
        record: what was saved.
        **method: ``method`` and ``helpers``, where its plugin writes them.
    """

    def nothing(_context: Any) -> NoReturn:
        raise OperationNotLoaded(
            f"{record.name} comes from an artifact, which holds code and no program to trace"
        )

    return Algorithm(
        name=record.name,
        family=record.family,
        summary=record.summary,
        inputs=tuple(_port(port, record) for port in record.inputs),
        outputs=tuple(_port(port, record) for port in record.outputs),
        reference=nothing,
        program=nothing,
        source=record.source,
        constants=record.constants,
        **method,
    )


def _port(saved: PortRecord, record: OperationRecord) -> Port:
    known = {_key(entry.options): entry.values for entry in record.widths}
    own = {key for values in known.values() for key in values}
    widths = {
        name: functools.partial(_width, record.name, known, f"{saved.name}.{name}")
        for port, _, name in (key.partition(".") for key in sorted(own))
        if port == saved.name
    }
    return Port(**asdict(saved), widths=widths)


def _width(
    operation: str,
    known: Mapping[str, Mapping[str, int]],
    key: str,
    _model: RobotModel,
    options: Options,
) -> int:
    values = known.get(_key(asdict(options)), {})
    if key not in values:
        raise OperationNotLoaded(
            f"{operation}: it was not prepared for these arguments, and the artifact does not say "
            "how wide its arrays are then; build it again with grid_core.build_artifact(..., "
            f"calls={{{operation!r}: {{...}}}})"
        )
    return values[key]


def _key(options: Mapping[str, Any]) -> str:
    return json.dumps(options, sort_keys=True)
