"""What makes two builds the same: robot, algorithm and its source, options, target.

The key is made without tracing, so that a process which finds its build on disk never traces.
It covers the bytes of every source file that tracing runs through: an edited plugin gets a new
key without anybody raising a version.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grid_core.algorithm import Algorithm
    from grid_core.backend import Operation

__all__ = ["operation_key", "source_digest"]

_SHARED = ("grid_core.program", "grid_core.algorithm", "grid_core.model.types")
"""What every trace runs through, beside the algorithms' own packages."""


def operation_key(operation: Operation, target: Mapping[str, str]) -> str | None:
    """Return 64 hex digits that identify a build, or None where the source cannot be read.

    Args:
        operation: what is built.
        target: everything about backend, compiler and processor that the result depends on.
    """
    sources = _sources(operation)
    if sources is None:
        return None
    digest = hashlib.sha256(b"grid.build.v1\0")
    parts: list[Any] = [
        sorted(target.items()),
        sources,
        operation.algorithm.name,
        operation.dtype.name,
        sorted(operation.present),
        attrs.astuple(operation.options),
        np.__version__,
    ]
    _feed(digest, parts)
    _feed(digest, operation.model)
    return digest.hexdigest()


def _sources(operation: Operation) -> list[tuple[str, str]] | None:
    """(module, digest of its source) of all that tracing may run."""
    modules = set(_SHARED)
    pending, seen = [operation.algorithm], set()
    while pending:
        algorithm: Algorithm = pending.pop()
        if algorithm.name in seen:
            continue
        seen.add(algorithm.name)
        modules.add(getattr(algorithm.program, "__module__", None) or "__main__")
        pending += [operation.available[name] for name in algorithm.needs]
    result = []
    for module in sorted(modules):
        digest = source_digest(_unit(module))
        if digest is None:
            return None
        result.append((module, digest))
    return result


def _unit(module: str) -> str:
    """The package to digest for a module: its own folder, or itself where it stands alone."""
    loaded = sys.modules.get(module)
    if loaded is None or hasattr(loaded, "__path__"):
        return module
    return getattr(loaded, "__package__", None) or module


@functools.cache
def source_digest(unit: str) -> str | None:
    """SHA-256 over a loaded package's or module's Python files; None where there are none."""
    loaded = sys.modules.get(unit)
    if loaded is None or unit == "__main__":
        return None
    folders = [Path(p) for p in getattr(loaded, "__path__", [])]
    if folders:
        files: Iterable[Path] = sorted(f for d in folders for f in d.rglob("*.py"))
    elif getattr(loaded, "__file__", None):
        files = [Path(str(loaded.__file__))]
    else:
        return None
    digest = hashlib.sha256()
    try:
        for file in files:
            data = file.read_bytes()
            digest.update(f"{file.name}\0{len(data)}\0".encode())
            digest.update(data)
    except OSError:
        return None
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    """Hash a tree of records, sequences, arrays and plain values, each with its type."""
    if attrs.has(type(value)):
        digest.update(f"<{type(value).__name__}".encode())
        for item in attrs.fields(type(value)):
            _feed(digest, getattr(value, item.name))
        digest.update(b">")
    elif isinstance(value, np.ndarray):
        digest.update(f"a{value.shape}{value.dtype.str}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, (tuple, list)):
        digest.update(f"({len(value)}".encode())
        for item in value:
            _feed(digest, item)
    elif isinstance(value, float):
        digest.update(f"f{value.hex()}".encode())
    else:
        text = repr(value).encode("utf-8", "surrogatepass")
        digest.update(f"{type(value).__name__}{len(text)}:".encode() + text)
