"""From what an artifact is to hold to the bytes of its files."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import platform
import re
from typing import TYPE_CHECKING

import numpy as np
from attrs import asdict

from grid_core.artifact.launch_record import launch_text
from grid_core.artifact.prepared_identity import files_identity
from grid_core.artifact.prepared_manifest import (
    CODE,
    DESCRIPTOR,
    FORMAT,
    HEADER,
    LAUNCH,
    MANIFEST,
    SCHEMA_VERSION,
    BackendRecord,
    CodeRecord,
    FileRecord,
    Manifest,
    OperationRecord,
    VariantRecord,
    WidthRecord,
    manifest_bytes,
    plain,
)
from grid_core.artifact.prepared_model import model_record
from grid_core.artifact.prepared_plan import uniform_inputs
from grid_core.artifact.prepared_ports import port_record, width_record
from grid_core.compiling import run_all
from grid_core.descriptor.write import to_json
from grid_core.errors import BackendError, GridError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from grid_core.algorithm import Algorithm, Options
    from grid_core.artifact.prepared_request import Request
    from grid_core.backend import Operation, PreparedCode, PreparingBackend

__all__ = ["artifact_files", "compile_plan"]

Codes = dict[int, list[tuple[str, "PreparedCode"]]]
"""For each operation of a plan, by number: (backend, code)."""


def compile_plan(request: Request) -> Codes:
    """Compile every operation for every target, side by side.

    Raises:
        GridError: the first failure.
    """
    tasks = [
        (number, backend.name, functools.partial(_prepare, request, operation, backend, targets))
        for number, operation in enumerate(request.plan.operations)
        for backend, targets in request.backends
    ]
    made = run_all([task for _, _, task in tasks], request.settings.num_threads)
    codes: Codes = {number: [] for number in range(len(request.plan.operations))}
    for (number, name, _), found in zip(tasks, made, strict=True):
        codes[number] += [(name, code) for code in found]
    return codes


def _prepare(
    request: Request,
    operation: Operation,
    backend: PreparingBackend,
    targets: Mapping[str, Mapping[str, str]],
) -> Sequence[PreparedCode]:
    try:
        return backend.prepare(operation, targets, request.settings)
    except GridError:
        raise
    except Exception as error:
        name = operation.algorithm.name
        raise BackendError(
            f"{name} (from {operation.providers.get(name, 'an unknown distribution')}) could not "
            f"be prepared for {request.model.name!r} on the backend {backend.name!r}: "
            f"{type(error).__name__}: {error}"
        ) from error


def artifact_files(request: Request, codes: Codes, identity: str | None) -> dict[str, bytes]:
    """Return every file by path, ``artifact.json`` last."""
    files = {
        DESCRIPTOR: f"{to_json(request.descriptor)}\n".encode(),
        HEADER: request.header().encode(),
    }
    operations = tuple(_operations(request, codes, files))
    manifest = Manifest(
        format=FORMAT,
        schema_version=SCHEMA_VERSION,
        content_id=identity or files_identity(files),
        descriptor_id=request.descriptor["descriptor_id"],
        name=request.model.name,
        dtype=request.dtype.name,
        options=asdict(request.options),
        built_from=request.given,
        built_with=_versions(),
        model=model_record(request.model),
        backends={b.name: BackendRecord(b.prepared_abi, dict(t)) for b, t in request.backends},
        operations=operations,
        files={},
        sha256="",
    )
    files[LAUNCH] = launch_text(manifest).encode()
    records = {
        path: plain(FileRecord(hashlib.sha256(data).hexdigest(), len(data)))
        for path, data in files.items()
    }
    files[MANIFEST] = manifest_bytes({**plain(manifest), "files": records})
    return files


def _operations(
    request: Request, codes: Codes, files: dict[str, bytes]
) -> Iterator[OperationRecord]:
    """Describe each operation with what was compiled of it; its code goes into `files`."""
    variants: dict[str, list[VariantRecord]] = {}
    algorithms: dict[str, Algorithm] = {}
    widths: dict[str, list[WidthRecord]] = {}
    paths = _Paths(files)

    def note_widths(algorithm: Algorithm, options: Options) -> None:
        found = width_record(algorithm, request.model, options)
        if found is not None and found not in widths.setdefault(algorithm.name, []):
            widths[algorithm.name].append(found)

    for number, operation in enumerate(request.plan.operations):
        name = operation.algorithm.name
        algorithms[name] = operation.algorithm
        record = VariantRecord(
            present=tuple(sorted(operation.present)),
            uniform=uniform_inputs(operation.algorithm),
            options=asdict(operation.options),
            codes=tuple(paths.keep(operation, codes[number])),
        )
        variants.setdefault(name, []).append(record)
        note_widths(operation.algorithm, operation.options)
    selection = request.selection
    for name in selection.chosen:
        # As its plugin declares it: what options add to it is added again at load.
        algorithms[name] = selection.available[name]
        note_widths(selection.available[name], request.options)
    for name, algorithm in sorted(algorithms.items()):
        yield OperationRecord(
            name=name,
            family=algorithm.family,
            summary=algorithm.summary,
            source=algorithm.source,
            provider=selection.providers.get(name, ""),
            chosen=name in selection.chosen,
            hand_written=algorithm.method is not None,
            constants=algorithm.constants,
            refused=request.plan.refused.get(name),
            inputs=tuple(map(port_record, algorithm.inputs)),
            outputs=tuple(map(port_record, algorithm.outputs)),
            widths=tuple(widths.get(name, ())),
            variants=tuple(variants.get(name, ())),
        )


class _Paths:
    """Gives each code a path of its own, that every file system tells apart."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files
        self._taken: set[str] = set()

    def keep(
        self, operation: Operation, codes: Iterable[tuple[str, PreparedCode]]
    ) -> Iterator[CodeRecord]:
        words = [operation.algorithm.name, *sorted(operation.present)]
        stem = first = re.sub(r"[^A-Za-z0-9_-]", "_", "-".join(words))
        count = 1
        while stem.lower() in self._taken:
            count += 1
            stem = f"{first}-{count}"
        self._taken.add(stem.lower())
        for backend, code in codes:
            path = f"{CODE}/{backend}/{stem}.{code.target}.{code.suffix}"
            self._files[path] = code.data
            yield CodeRecord(backend, code.target, code.suffix, path, dict(code.launch))


def _versions() -> dict[str, str]:
    """Return the versions of what builds, beside those that each target names."""
    try:
        own = importlib.metadata.version("grid-robotics")
    except importlib.metadata.PackageNotFoundError:
        own = "(not installed)"
    return {
        "grid-robotics": own,
        "numpy": str(np.__version__),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
