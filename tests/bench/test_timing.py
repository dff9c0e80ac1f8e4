"""Taking times in turns, on a clock that the tests turn."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from grid_core.bench.contender import Prepared, wall_clock
from grid_core.bench.timing import WARM_UP_S, interleave

if TYPE_CHECKING:
    from collections.abc import Callable


def contender(name: str, each: float, log: list[str], problems: int = 1) -> Prepared:
    """A contender one run of which takes `each` seconds."""

    def clock(_: Callable[[], object], runs: int) -> float:
        log.append(name)
        return each * runs

    return Prepared(run=lambda: None, boundary="call", problems=problems, outputs=list, clock=clock)


def test_contenders_take_turns() -> None:
    log: list[str] = []
    interleave([contender("a", 0.1, log), contender("b", 0.2, log)], repeats=3, sample_s=0.05)
    assert "".join(log) == "ab" + "ababab"


def test_samples_are_nanoseconds_of_one_evaluation() -> None:
    (samples,) = interleave([contender("a", 1e-5, [], 100)], repeats=2, sample_s=0.01)
    assert samples == pytest.approx([100.0, 100.0])


def test_short_runs_are_repeated_until_a_sample_is_long_enough() -> None:
    runs: list[int] = []

    def clock(_: Callable[[], object], count: int) -> float:
        runs.append(count)
        return 1e-6 * count

    made = Prepared(run=lambda: None, boundary="call", problems=1, outputs=list, clock=clock)
    interleave([made], repeats=1, sample_s=0.005)
    assert runs[-1] == 5000
    assert sum(runs[:-1]) * 1e-6 >= WARM_UP_S


def test_the_collector_rests_and_is_back_after() -> None:
    states: list[bool] = []
    made = Prepared(
        run=lambda: None,
        boundary="call",
        problems=1,
        outputs=list,
        clock=lambda _run, runs: states.append(gc.isenabled()) or 1.0 * runs,
    )
    interleave([made], repeats=1, sample_s=0.01)
    assert states == [False, False]
    assert gc.isenabled()


def test_the_wall_clock_runs_as_often_as_it_is_told() -> None:
    count = []
    assert wall_clock(lambda: count.append(1), 7) > 0
    assert len(count) == 7
