"""Taking times: warm up, then in turns."""

from __future__ import annotations

import contextlib
import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grid_core.bench.contender import Prepared

__all__ = ["interleave"]

WARM_UP_S = 0.05
"""Each contender runs at least that long before it counts."""


def interleave(
    contenders: Sequence[Prepared], *, repeats: int, sample_s: float
) -> list[list[float]]:
    """Time contenders in turns, A B A B, so that what disturbs the machine meets all of them.

    Args:
        contenders: what to time.
        repeats: samples of each.
        sample_s: about how long one sample lasts, so that a short call is run many times [s].

    Returns:
        For each contender its samples, in nanoseconds an evaluation.
    """
    with _no_collection():
        runs = [_warm_up(contender, sample_s) for contender in contenders]
        samples: list[list[float]] = [[] for _ in contenders]
        for _ in range(repeats):
            for contender, count, taken in zip(contenders, runs, samples, strict=True):
                seconds = contender.clock(contender.run, count)
                taken.append(1e9 * seconds / (count * contender.problems))
    return samples


def _warm_up(contender: Prepared, sample_s: float) -> int:
    """Run until warm; returns how many runs make a sample."""
    total, count = 0.0, 1
    while True:
        seconds = contender.clock(contender.run, count)
        total += seconds
        if seconds >= sample_s / 2 and total >= WARM_UP_S:
            return max(1, round(count * sample_s / seconds))
        if seconds < sample_s / 2:
            count *= 2


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
