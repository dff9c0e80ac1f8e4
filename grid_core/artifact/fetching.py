"""A backend's build of an operation: from the store where it is kept, else made and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.artifact.identity import operation_key
from grid_core.artifact.store import BuildStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from grid_core.backend import Operation

__all__ = ["fetch_build"]


def fetch_build(
    operation: Operation,
    cache_dir: Path | None,
    target: Mapping[str, str],
    shown: Mapping[str, str],
    make: Callable[[], bytes],
) -> bytes:
    """Return the payload of an operation's build.

    Args:
        operation: what is built.
        cache_dir: folder of the store; None makes it anew.
        target: all that the build depends on beside the operation, ``backend`` included.
        shown: what a listing says of it beside what every build's entry says.
        make: makes the payload; not called when it is kept.
    """
    key = operation_key(operation, target) if cache_dir is not None else None
    if key is None or cache_dir is None:
        return make()
    what = {
        "backend": target["backend"],
        "operation": operation.algorithm.name,
        "provider": operation.providers.get(operation.algorithm.name, ""),
        "robot": operation.model.name,
        "dtype": operation.dtype.name,
        "optional inputs": ", ".join(sorted(operation.present)),
        **shown,
    }
    return BuildStore(cache_dir).fetch(key, what, make)
