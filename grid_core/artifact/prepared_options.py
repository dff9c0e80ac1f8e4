"""The options of `build_artifact`, checked."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import fields

from grid_core.errors import OptionError
from grid_core.load_options import LoadOptions, as_path
from grid_core.wording import listing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from grid_core.backend import PreparingBackend
    from grid_core.plugins import PluginManager

__all__ = ["Targets", "encodable", "find_backends", "given_options", "read_names", "read_place"]

Targets: TypeAlias = "tuple[tuple[PreparingBackend, Mapping[str, Mapping[str, str]]], ...]"
"""Backends, each with its targets and what their code depends on."""

_NO_CONTENT = frozenset(
    {"backend", "cache_dir", "calibration", "device", "dtype", "num_threads", "strict"}
)
"""Options of a load that are not part of what an artifact follows from, or are in another form."""


def read_place(directory: object) -> Path:
    """Return the folder to build into.

    Raises:
        OptionError: it is none.
    """
    if not isinstance(directory, str | os.PathLike) or not os.fspath(directory):
        raise OptionError(f"directory must be a folder to build into; got {directory!r}")
    # What a link points to is replaced, not the link.
    place = Path(os.path.realpath(as_path(directory, "directory")))
    if not place.name:
        raise OptionError(f"directory must be a folder to build into; got {str(directory)!r}")
    return place


def read_names(value: object, option: str) -> tuple[str, ...] | None:
    """Return names as a tuple, at least one and none twice; None where none are given.

    Raises:
        OptionError: they are none.
    """
    if value is None:
        return None
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(n, str) for n in names):
        raise OptionError(f"{option} must be a name or a list of names; got {value!r}")
    if not names or len(set(names)) < len(names):
        raise OptionError(f"{option} must name at least one, and none twice; got {value!r}")
    return tuple(names)


def find_backends(
    names: Sequence[str],
    chosen: Mapping[str, Sequence[str] | None],
    options: LoadOptions,
    plugins: PluginManager,
) -> Targets:
    """Return backends by name, each with its targets.

    Args:
        names: the backends.
        chosen: names of targets by backend; None, or nothing: the usual ones.
        options: the precision is checked.
        plugins: whose backends.

    Raises:
        OptionError: one that cannot compile ahead, or a target or precision that it has not.
        UnknownAlgorithm: no plugin offers it.
        BackendUnavailable: its compiler is missing here.
    """
    found = []
    for name in names:
        backend: Any = plugins.backends.take(name).value
        if not hasattr(backend, "prepare"):
            able = [
                n
                for n, offers in plugins.backends.claims.items()
                if all(hasattr(offer.value, "prepare") for offer in offers)
            ]
            raise OptionError(
                f"backends: {name!r} cannot compile ahead; there are {listing(sorted(able))}"
            )
        if options.dtype is not None and options.dtype not in backend.dtypes:
            raise OptionError(
                f"the backend {name!r} computes in {listing(backend.dtypes)}; "
                f"dtype={options.dtype!r} is not among them"
            )
        found.append((backend, backend.prepared_targets(chosen.get(name))))
    return tuple(found)


def encodable(name: str) -> str:
    """Return a robot's name, which files can hold.

    Raises:
        OptionError: they cannot.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        raise OptionError(f"name has an unpaired surrogate, which UTF-8 lacks: {name!r}") from None
    return name


def given_options(
    load: LoadOptions,
    dtype: np.dtype[Any],
    backends: Targets,
    calls: Sequence[tuple[str, Mapping[str, Any]]],
) -> dict[str, Any]:
    """Return what an artifact was asked for as plain JSON data, for its record and identity."""
    options = {f.name: getattr(load, f.name) for f in fields(LoadOptions)}
    return {
        **{name: _shown(value) for name, value in options.items() if name not in _NO_CONTENT},
        "calls": [[name, {k: _shown(v) for k, v in some.items()}] for name, some in calls],
        "dtype": dtype.name,
        "backends": {backend.name: list(targets) for backend, targets in backends},
    }


def _shown(value: Any) -> Any:
    """Return an argument as plain JSON data, for the record."""
    if isinstance(value, list | tuple):
        return [_shown(member) for member in value]
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return repr(value)
