"""Who takes part in a run: Grid on hosts and devices, by every boundary, and the peers."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from grid_core.bench.contenders import grid_contenders, peers
from grid_core.bench.device import Device
from grid_core.bench.device_boundaries import DEVICE_BOUNDARIES
from grid_core.bench.device_contender import DeviceContender, HostContender
from grid_core.bench.grid_rbd_contender import GridRbdContender, GridRbdRobots
from grid_core.bench.grid_rbd_robot import MAX_BATCH
from grid_core.bench.results import STATES
from grid_core.errors import OptionError
from grid_core.plugins import plugin_manager
from grid_core.wording import listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.bench.card import Card
    from grid_core.bench.contender import Contender
    from grid_core.bench.grid_contender import GridContender

__all__ = ["BOUNDARY_NAMES", "DEVICE_BATCHES", "PEERS", "Lineup", "line_up"]

PEERS = ("pinocchio", "grid-rbd")
BOUNDARY_NAMES = (*DEVICE_BOUNDARIES, "host")
"""What can be asked for on a device; a backend on the host has ``call`` only."""
DEVICE_BATCHES = (1, 16, 64, 256, 1024, 4096, 16384, 65536, 131072, 1048576, 4194304)
"""From one problem, by the peer's largest batch, to where a card is full."""
DRAWN = 131072
"""Different states of a batch on a device; drawing millions takes longer than timing them."""


@frozen(kw_only=True)
class Lineup:
    """The contenders in the order of their turns."""

    contenders: tuple[Contender, ...]
    card: Card | None = None
    """The GPU, if somebody has tensors there."""
    on_host: bool = True
    """Whether a backend on the host takes part."""
    drawn: int | None = field(default=None)
    """Different states at most; None: a whole batch."""


def line_up(
    *,
    backends: Sequence[str] = (),
    dtypes: Sequence[str] = (),
    boundaries: Sequence[str] = (),
    states: Sequence[str] = (),
    peer_names: Sequence[str] = (),
    peer_batch: int = MAX_BATCH,
    operations: Sequence[str] | None = None,
) -> Lineup:
    """Choose the contenders.

    Args:
        backends: names; empty: all that run here.
        dtypes: precisions; empty: all that a backend has.
        boundaries: of `BOUNDARY_NAMES`; empty: call, and on a device graph too.
        states: of `STATES`, for tensors on a device; empty: in turns.
        peer_names: of `PEERS`; empty: Pinocchio beside backends on the host, if it is installed.
        peer_batch: the largest batch that the peer grid-rbd is built for.
        operations: names and families that a peer is built with; None: all.

    Raises:
        OptionError: nothing is left to time, a peer that is asked for cannot take part, or nobody
            has the states that are asked for.
        BackendUnavailable: a boundary on the device without a device, or without PyTorch.
    """
    plain = grid_contenders(backends, dtypes)
    there = [one for one in plain if _has_devices(one.name)]
    here = [one for one in plain if one not in there and (not boundaries or "call" in boundaries)]
    if not here and not there:
        raise OptionError(
            f"{listing([one.name for one in plain])} has no boundary {listing(boundaries, 'or')}"
        )
    rivals = _robots(peer_names, peer_batch, there, operations)
    device = _open(boundaries, rivals) if there else None
    _check_states(states, device if set(boundaries) != {"host"} else None)
    on_cpu = _on_cpu(peer_names, alone=not here)
    return Lineup(
        contenders=(*here, *_in_turns(there, boundaries, states, device, rivals), *on_cpu),
        card=None if device is None else device.card,
        on_host=bool(here),
        drawn=None if here or on_cpu else DRAWN,
    )


def _has_devices(backend: str) -> bool:
    return hasattr(plugin_manager().backends.take(backend).value, "edge")


def _robots(
    peer_names: Sequence[str],
    peer_batch: int,
    there: Sequence[GridContender],
    operations: Sequence[str] | None,
) -> GridRbdRobots | None:
    if "grid-rbd" not in peer_names:
        return None
    if not there:
        raise OptionError(
            "the peer grid-rbd works on a GPU, beside a backend there: --backend cuda"
        )
    return GridRbdRobots.of(plugin_manager().select(operations).chosen, peer_batch)


def _open(boundaries: Sequence[str], rivals: GridRbdRobots | None) -> Device | None:
    """Return the device where somebody needs it, or may have it."""
    if rivals is not None or set(boundaries) & set(DEVICE_BOUNDARIES):
        return Device.open()
    if boundaries or importlib.util.find_spec("torch") is None:
        return None
    return Device.open()


def _check_states(states: Sequence[str], device: Device | None) -> None:
    """Raise `OptionError` for what is no way for states to lie, or where nobody's lie there."""
    for name in states:
        if name not in STATES:
            raise OptionError(f"states lie in {listing(list(STATES), 'or')}; got {name!r}")
    if states and device is None:
        raise OptionError(
            "how states lie is asked for, and nobody here is timed with tensors on a GPU: "
            "--backend cuda --boundary call,graph"
        )


def _in_turns(
    plain: Sequence[GridContender],
    boundaries: Sequence[str],
    states: Sequence[str],
    device: Device | None,
    rivals: GridRbdRobots | None,
) -> list[Contender]:
    """Return the contenders on the device, those with one boundary and states side by side."""
    found: list[Contender] = []
    handles: dict[tuple[str, bool, str, str], Any] = {}
    for boundary in boundaries or (("host",) if device is None else DEVICE_BOUNDARIES):
        if boundary == "host":
            found += [HostContender(one.name, one.dtype, handles) for one in plain]
            continue
        for lie in states or ("turns",):
            if device is None:
                continue
            found += [
                DeviceContender(one.name, one.dtype, boundary, lie, device, handles)
                for one in plain
            ]
            if rivals is not None:
                found.append(GridRbdContender(boundary, lie, device, rivals))
    return found


def _on_cpu(peer_names: Sequence[str], *, alone: bool) -> tuple[Contender, ...]:
    if "pinocchio" in peer_names:
        found = peers()
        if not found:
            raise OptionError("the peer pinocchio is not installed: pip install pin")
        return found
    return () if peer_names or alone else peers()
