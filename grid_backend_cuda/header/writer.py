"""From a `grid_core.header.Header` to the text of ``grid.cuh``."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from grid_backend_cuda.emit import Real
from grid_backend_cuda.header import text
from grid_backend_cuda.header.functions import Body, HeaderReal, statements
from grid_backend_cuda.header.interface import Interface, interface
from grid_backend_cuda.header.memory import Memory
from grid_backend_cuda.header.signature import Signature
from grid_backend_cuda.header.staging import Stages, stages
from grid_backend_cuda.header.tables import frame_rows, joint_rows, json_lines
from grid_backend_cuda.templating import environment
from grid_core.abi import input_block
from grid_core.descriptor import describe, to_json
from grid_core.errors import OptionError
from grid_core.program.trace import trace

if TYPE_CHECKING:
    import jinja2

    from grid_core.backend import Operation
    from grid_core.header import Header
    from grid_core.program.program import Counts

__all__ = ["write_header"]

_DIGEST = "\0digest\0"
"""Stands for the text's own digest until that is known; no name is written with a NUL in it."""


@frozen
class Entry:
    """One operation as the templates see it."""

    operation: Operation
    face: Interface
    counts: Counts
    body: Body
    stages: Stages
    call: Signature


def write_header(header: Header) -> str:
    """Return the header's text; the same request gives the same text."""
    real = HeaderReal(header.dtype.name)
    faces = [interface(operation) for operation in header.operations]
    _require_apart(header, faces)
    memory = Memory.of(faces)
    entries = [
        _entry(operation, face, memory, real)
        for operation, face in zip(header.operations, faces, strict=True)
    ]
    descriptor = describe(header.model)
    block = input_block(header.model, len(header.options.targets))
    frames = header.model.frames
    written = _template().render(
        header=header,
        digest=_DIGEST,
        model=header.model,
        real=real,
        far_limit=Real(real.dtype).far_limit,
        version=_version(),
        block=block,
        targets=[frames[k].name for k in header.options.targets],
        descriptor=descriptor,
        joints=joint_rows(descriptor),
        frames=frame_rows(descriptor),
        json_lines=json_lines(to_json(descriptor)),
        entries=entries,
        memory=memory,
        quoted=text.quoted,
        comment=text.comment,
    )
    return written.replace(_DIGEST, f"t{hashlib.sha256(written.encode()).hexdigest()[:16]}")


def _entry(operation: Operation, face: Interface, memory: Memory, real: HeaderReal) -> Entry:
    program = trace(operation)
    chosen = stages(face, real)
    vectors = dict.fromkeys((p.name for p in face.outputs), 1) | chosen.vectors
    body = statements(program, face, real, vectors)
    return Entry(
        operation=operation,
        face=face,
        counts=program.counts,
        body=body,
        stages=chosen,
        call=Signature(face, chosen, memory, body.filled),
    )


def _require_apart(header: Header, faces: list[Interface]) -> None:
    """Raise `OptionError` where two operations would be one function."""
    seen: dict[str, str] = {}
    for operation, face in zip(header.operations, faces, strict=True):
        own = operation.algorithm.name
        if face.name in seen:
            raise OptionError(
                f"{seen[face.name]} and {own} would both be called {face.name} in the header; "
                "choose one of them in algorithm_list"
            )
        seen[face.name] = own


def _version() -> str:
    try:
        return importlib.metadata.version("grid-robotics")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


@functools.cache
def _template() -> jinja2.Template:
    found = environment(Path(__file__).parent / "templates")
    found.globals.update(_helpers())
    return found.get_template("grid.cuh.j2")


def _helpers() -> dict[str, Any]:
    return {"shape": lambda dims: "()" if not dims else f"({', '.join(map(str, dims))})"}
