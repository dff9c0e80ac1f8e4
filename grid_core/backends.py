"""Choosing the backend and the precision of a load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.errors import BackendUnavailable, GridError, OptionError
from grid_core.load_options import DEFAULT_DTYPE
from grid_core.wording import listing

if TYPE_CHECKING:
    from grid_core.backend import Backend
    from grid_core.plugins import Offer, PluginManager

__all__ = ["choose_backend", "choose_dtype"]

AUTO = "auto"


def choose_backend(plugins: PluginManager, name: str = AUTO) -> Backend:
    """Return the backend of a name; ``auto`` is the available one of the highest priority.

    Raises:
        UnknownAlgorithm: no plugin offers a backend of that name.
        PluginConflict: two plugins claim the name.
        BackendUnavailable: this machine cannot run it, or any; says what is missing.
    """
    if name != AUTO:
        offer = plugins.backends.take(name)
        reason = _unavailable(offer)
        if reason:
            raise BackendUnavailable(f"the backend {name!r} cannot run here: {reason}")
        return offer.value
    offers = [plugins.backends.take(name) for name in _candidates(plugins)]
    # Names break ties, so that the order of loading does not.
    offers.sort(key=lambda offer: (-offer.value.priority, offer.value.name))
    reasons = []
    for offer in offers:
        reason = _unavailable(offer)
        if not reason:
            return offer.value
        reasons.append(f"{offer.value.name}: {reason}")
    failed = [r.failure() for r in plugins.failures if r.may_offer("grid_backends")]
    raise BackendUnavailable(
        f"no backend can run here: {'; '.join([*reasons, *failed]) or 'none is installed'}; "
        f"there are {listing(plugins.backends.names)}"
    )


def choose_dtype(backend: Backend, dtype: str | None) -> np.dtype[Any]:
    """Return the precision; None is float32, or what the backend has instead.

    Raises:
        OptionError: the backend has no such precision.
    """
    if dtype is None:
        dtype = DEFAULT_DTYPE if DEFAULT_DTYPE in backend.dtypes else backend.dtypes[0]
    if dtype not in backend.dtypes:
        raise OptionError(
            f"the backend {backend.name!r} computes in {listing(backend.dtypes)}; "
            f"dtype={dtype!r} is not among them"
        )
    return np.dtype(dtype)


def _candidates(plugins: PluginManager) -> list[str]:
    """Return the names that ``auto`` may take."""
    claims = plugins.backends.claims
    return [name for name in sorted(claims) if any(o.value.priority >= 0 for o in claims[name])]


def _unavailable(offer: Offer[Backend]) -> str | None:
    try:
        return offer.value.unavailable()
    except GridError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - a driver that cannot be asked is not there
        return f"{offer.provider} could not tell: {type(error).__name__}: {error}"
