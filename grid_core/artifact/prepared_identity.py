"""The content identity of an artifact: two that are built from the same have the same."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict

from grid_core.artifact.identity import operation_key, source_digest
from grid_core.artifact.prepared_manifest import FORMAT, SCHEMA_VERSION, plain
from grid_core.artifact.prepared_model import model_record
from grid_core.artifact.prepared_plan import uniform_inputs
from grid_core.descriptor.canonical import ID_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grid_core.artifact.prepared_request import Request

__all__ = ["content_identity", "files_identity"]


def content_identity(request: Request, header: Iterable[str]) -> str | None:
    """Return 64 hex digits of all that an artifact's files follow from; None: nobody can say.

    Args:
        request: what is built.
        header: modules that write the header.
    """
    sources = [source_digest(unit) for unit in header]
    parts: list[Any] = [
        f"{FORMAT}.v{SCHEMA_VERSION}",
        request.descriptor[ID_KEY],
        request.given,
        sources,
    ]
    parts += [plain(model_record(request.model)), dict(request.plan.refused)]
    if None in sources:
        return None
    for operation in request.plan.operations:
        name = operation.algorithm.name
        parts.append(_templates(operation.algorithm.template))
        parts.append([name, asdict(operation.options), sorted(operation.present)])
        parts.append(uniform_inputs(operation.algorithm))
        parts.append(operation.providers.get(name, ""))
        for backend, targets in request.backends:
            for target, depends in targets.items():
                where = {"backend": backend.name, "abi": str(backend.prepared_abi)}
                key = operation_key(operation, {**depends, **where})
                if key is None:
                    return None
                parts.append([backend.name, target, key])
    return _digest(parts)


def _templates(template: str | None) -> str:
    """Return a digest of all templates beside an algorithm's own; empty where it has none."""
    if template is None:
        return ""
    digest = hashlib.sha256()
    for file in sorted({Path(template), *Path(template).parent.glob("*.j2")}):
        data = file.read_bytes()
        digest.update(f"{file.name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def files_identity(files: Mapping[str, bytes]) -> str:
    """Return what stands for the content identity where nobody can say it: the bytes' own."""
    found = [[path, hashlib.sha256(data).hexdigest()] for path, data in sorted(files.items())]
    return _digest([f"{FORMAT}.v{SCHEMA_VERSION}.files", found])


def _digest(parts: Any) -> str:
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
