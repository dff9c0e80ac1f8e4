"""Who takes part here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid_core.backends import choose_backend
from grid_core.bench.grid_contender import GridContender
from grid_core.bench.pinocchio_contender import PinocchioContender
from grid_core.errors import OptionError
from grid_core.plugins import plugin_manager
from grid_core.wording import listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.bench.contender import Contender

__all__ = ["grid_contenders", "peers"]


def grid_contenders(
    backends: Sequence[str] = (), dtypes: Sequence[str] = ()
) -> tuple[GridContender, ...]:
    """Return Grid on each backend in each precision.

    Args:
        backends: names; empty: every backend that runs here, the reference aside.
        dtypes: precisions; empty: all that a backend has.

    Raises:
        UnknownAlgorithm: no plugin offers a backend of that name.
        BackendUnavailable: this machine cannot run a backend that is named.
        OptionError: no backend computes in the precisions given.
    """
    found = []
    for name in backends or _available():
        backend = choose_backend(plugin_manager(), name)
        wanted = [d for d in backend.dtypes if not dtypes or d in dtypes]
        found += [GridContender(backend.name, dtype) for dtype in wanted]
    if not found:
        raise OptionError(f"no backend here computes in {listing(dtypes, 'or')}")
    return tuple(found)


def peers() -> tuple[Contender, ...]:
    """Return the other libraries that are installed."""
    pinocchio = PinocchioContender.installed()
    return (pinocchio,) if pinocchio is not None else ()


def _available() -> list[str]:
    catalogue = plugin_manager().backends
    backends = [catalogue.take(name).value for name in catalogue.names]
    return [b.name for b in backends if b.priority >= 0 and b.unavailable() is None]
