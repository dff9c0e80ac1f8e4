"""What makes two builds the same: robot, algorithm and its source, options, target.

The key is made without tracing, so that a process which finds its build on disk never traces.
It covers the bytes of every source file that tracing runs through: an edited plugin gets a new
key without anybody raising a version.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from grid_core.algorithm import Algorithm
    from grid_core.backend import Operation

__all__ = ["keep_no_builds", "operation_key", "source_digest"]

_SHARED = "grid_core"
"""What every trace runs through, beside the algorithms' own packages."""
_FAMILIES = "grid_plugins"
"""Its packages import nothing from each other, so each stands for itself."""
_STARTED = time.time()


def operation_key(operation: Operation, target: Mapping[str, str]) -> str | None:
    """Return 64 hex digits that identify a build, or None where something cannot be identified.

    That is source that cannot be read, or that was edited after this process began: it runs what
    it had imported, and nobody can say what that was.

    Args:
        operation: what is built.
        target: everything about backend, compiler and processor that the result depends on; an
            empty entry is one that cannot be identified.
    """
    sources = _sources(operation)
    if sources is None or not all(target.values()):
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
    # One program may be traced with other inputs than its plugin declares.
    _feed(digest, (operation.algorithm.inputs, operation.algorithm.outputs))
    # Where a robot was read from, and what it is called, change no arithmetic.
    _feed(digest, attrs.evolve(operation.model, name="", warnings=()))
    return digest.hexdigest()


_UNKEPT: weakref.WeakSet[Any] = weakref.WeakSet()


def keep_no_builds(algorithm: Algorithm) -> None:
    """Build an algorithm anew in each process: its source does not say all of what it computes."""
    _UNKEPT.add(algorithm.program)


def _sources(operation: Operation) -> list[tuple[str, str]] | None:
    """(unit, digest of its source) of all that tracing may run."""
    units = {_SHARED}
    pending, seen = [operation.algorithm], set()
    while pending:
        algorithm: Algorithm = pending.pop()
        if algorithm.name in seen:
            continue
        seen.add(algorithm.name)
        if algorithm.program in _UNKEPT:
            return None
        # The reference tells the plugin's package where its program is another's, partly applied.
        units |= {_unit(_module(f)) for f in (algorithm.program, algorithm.reference)}
        pending += [operation.available[name] for name in algorithm.needs]
    result = []
    for unit in sorted(units):
        digest = source_digest(unit)
        if digest is None:
            return None
        result.append((unit, digest))
    return result


def _module(function: Callable[..., Any]) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__module__", None) or "__main__"


def _unit(module: str) -> str:
    """What to digest for a module: all of its distribution's package, for it may use all of it."""
    first, *rest = module.split(".")
    package = sys.modules.get(first)
    shared = package is not None and getattr(package, "__file__", None) is None
    return ".".join([first, *rest[:1]]) if first == _FAMILIES or shared else first


@functools.cache
def source_digest(unit: str) -> str | None:
    """SHA-256 over a loaded package's or module's Python files.

    None where there are none, or where one was edited after this process began.
    """
    loaded = sys.modules.get(unit)
    if loaded is None or unit == "__main__":
        return None
    digest = hashlib.sha256()
    count = 0
    try:
        for name, path in _files(loaded):
            if _STARTED < path.stat().st_mtime <= time.time():
                return None
            data = path.read_bytes()
            digest.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogatepass"))
            digest.update(data)
            count += 1
    except OSError:
        return None
    return digest.hexdigest() if count else None


def _files(loaded: Any) -> Iterator[tuple[str, Path]]:
    """(name inside the unit, path) of each Python file, in an order that is always the same."""
    folders = list(getattr(loaded, "__path__", []))
    if not folders and getattr(loaded, "__file__", None):
        path = Path(str(loaded.__file__))
        yield path.name, path
    for folder in folders:
        found = [
            os.path.join(where, name)  # noqa: PTH118 - a load waits for this
            for where, _, names in os.walk(folder)
            for name in names
            if name.endswith(".py")
        ]
        for path_name in sorted(found):
            yield os.path.relpath(path_name, folder).replace(os.sep, "/"), Path(path_name)


def _feed(digest: Any, value: Any) -> None:
    """Hash a tree of records, sequences, arrays and plain values, each with its type."""
    if attrs.has(type(value)):
        digest.update(f"<{type(value).__name__}".encode())
        for item in attrs.fields(type(value)):
            if item.eq:  # what makes no record another makes no build another
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
