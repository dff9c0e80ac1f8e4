"""What takes part in a trial: Grid on one backend, or another library."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

from attrs import field, frozen

from grid_core.errors import GridError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grid_core.bench.case import Case
    from grid_core.model.types import Array

__all__ = ["Contender", "Declined", "Prepared", "wall_clock"]


class Declined(GridError):
    """A contender that cannot do a case; the message says why."""


def wall_clock(run: Callable[[], object], runs: int) -> float:
    """Return the seconds that `runs` runs take, one after the other."""
    start = time.perf_counter()
    for _ in range(runs):
        run()
    return time.perf_counter() - start


@frozen(kw_only=True)
class Prepared:
    """A contender ready to be timed on a case: everything outside the boundary is done."""

    run: Callable[[], object]
    """Cross the timed boundary once."""
    boundary: str
    """What lies between start and stop; see `grid_core.bench.results.BOUNDARIES`."""
    problems: int
    """Evaluations in one run."""
    states: str = ""
    """Where states on a GPU lie; see `grid_core.bench.results.STATES`."""
    outputs: Callable[[], Sequence[Array]]
    """Results on the first problems, one array (n, ...) an output; empty: cannot be told."""
    clock: Callable[[Callable[[], object], int], float] = wall_clock
    """Seconds of so many runs; a contender with clocks of its own (device events) brings them."""
    note: str = ""
    """What a reader of the time must know."""
    card: str = ""
    """Name of the GPU where arrays lie that are not on the host."""
    floor: float | None = None
    """Least time of an evaluation that the card allows [ns]."""
    details: dict[str, Any] = field(factory=dict)
    """What else JSON is to hold."""


class Contender(Protocol):
    """One way to compute a case."""

    @property
    def name(self) -> str:
        """What tables call it: a backend of Grid, or the library."""
        ...

    @property
    def dtype(self) -> str:
        """Precision in which it computes."""
        ...

    @property
    def peer(self) -> bool:
        """Whether it is another library, which Grid is compared with."""
        ...

    def prepare(self, case: Case) -> Prepared:
        """Load, convert the states, allocate the outputs.

        Raises:
            Declined: it cannot do this case.
        """
        ...
