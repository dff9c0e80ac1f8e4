"""Calls on a GPU, one after the other from Python, or captured in a graph."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

from attrs import frozen

from grid_core.bench.contender import Declined, Prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grid_core.bench.device import Device
    from grid_core.model.types import Array

__all__ = ["DEVICE_BOUNDARIES", "Steps"]

DEVICE_BOUNDARIES = ("call", "graph")
"""What a contender with tensors on the device can be timed by."""
GRAPH_S = 1e-3
"""About how long one replay lasts: the launch of a graph is then little beside its kernels."""
MOST_LAUNCHES = 128


@frozen(kw_only=True)
class Steps:
    """The same work on several sets of states."""

    device: Device
    who: str
    """For messages."""
    calls: Sequence[Callable[[], Any]]
    """One for each set; each enqueues the work and returns the results."""
    states: str
    """Where the sets lie; see `grid_core.bench.results.STATES`."""
    batch: int
    drawn: int
    """Problems after which the states repeat."""
    order: Callable[[Sequence[Any]], Sequence[Any]] = tuple
    """From results to tensors in Grid's order, axis by axis."""
    details: dict[str, Any]
    """For JSON."""
    floor: float | None = None
    """Least time of an evaluation [ns]."""
    note: str = ""

    def prepare(self, boundary: str) -> Prepared:
        """Make it ready for a boundary.

        Raises:
            Declined: it cannot be captured in a graph.
        """
        return self._graph() if boundary == "graph" else self._eager()

    def _prepared(
        self,
        boundary: str,
        run: Callable[[], object],
        clock: Callable[[Callable[[], object], int], float],
        launches: int,
        outputs: Callable[[], Sequence[Array]],
    ) -> Prepared:
        return Prepared(
            run=run,
            boundary=boundary,
            problems=self.batch * launches,
            states=self.states,
            outputs=outputs,
            clock=clock,
            note=self.note,
            card=self.device.card.name,
            floor=self.floor,
            details={**self.details, "sets": len(self.calls), "launches": launches},
        )

    def _eager(self) -> Prepared:
        turns = itertools.cycle(self.calls)
        device = self.device

        def run() -> None:
            next(turns)()

        def outputs() -> Sequence[Array]:
            # What is freed is taken again by the next call, so the poison lies under its results.
            device.poison(_tensors(self.calls[0]()))
            return device.read(self.order(_tensors(self.calls[0]())), self.drawn)

        return self._prepared("call", run, device.wall, 1, outputs)

    def _graph(self) -> Prepared:
        device = self.device
        launches = self._launches()
        try:
            graph, kept = device.capture(self.calls, launches)
        except RuntimeError as error:
            # The end of a capture that went wrong fails too, and says less.
            cause = error.__context__ or error
            said = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
            raise Declined(f"{self.who} cannot be captured in a CUDA graph: {said}") from error
        results = _tensors(kept)

        def outputs() -> Sequence[Array]:
            device.poison(results)
            graph.replay()
            return device.read(self.order(results), self.drawn)

        return self._prepared("graph", graph.replay, device.events, launches, outputs)

    def _launches(self) -> int:
        """Return how many calls make a graph: a multiple of the sets, if only one of each."""
        self.device.warm(self.calls)
        count = len(self.calls)
        turns = itertools.cycle(self.calls)

        def one() -> None:
            next(turns)()

        each = self.device.events(one, count) / count
        wanted = min(MOST_LAUNCHES, max(1, round(GRAPH_S / max(each, 1e-9))))
        return count * math.ceil(wanted / count)


def _tensors(result: Any) -> tuple[Any, ...]:
    """Return results as a tuple; one tensor is one result."""
    return tuple(result) if isinstance(result, tuple | list) else (result,)
