"""Every plugin's benchmark cases under pytest-benchmark: ``make bench-suite``.

The file's name keeps it out of an ordinary run of the tests. Times are those of a call, for
comparing one revision with another; `grid bench` compares with other libraries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from grid_core.bench import Case, Declined, Plan, bundled_robot
from grid_core.bench.contenders import grid_contenders
from grid_core.bench.robot import BUNDLED
from grid_core.bench.suite import cases
from grid_core.cores import available_cores

if TYPE_CHECKING:
    from grid_core.bench.grid_contender import GridContender

BATCHES = (1, 1024, 16384)


def _cases() -> list[Any]:
    plan = Plan(
        robots=tuple(bundled_robot(name) for name in BUNDLED),
        batches=BATCHES,
        threads=(available_cores(),),
        contenders=(),
    )
    return [
        pytest.param(case, id=f"{case.robot.name}-{case.benchmark.label}-{case.batch}")
        for case in cases(plan)
    ]


@pytest.mark.parametrize("contender", grid_contenders(), ids=lambda c: f"{c.name}-{c.dtype}")
@pytest.mark.parametrize("case", _cases())
def test_operation(benchmark: Any, case: Case, contender: GridContender) -> None:
    try:
        prepared = contender.prepare(case)
    except Declined as reason:
        pytest.skip(str(reason))
    benchmark.group = f"{case.robot.name} {case.benchmark.label} batch {case.batch}"
    benchmark(prepared.run)
    if benchmark.stats is not None:
        median = benchmark.stats["median"]
        benchmark.extra_info |= {
            "boundary": prepared.boundary,
            "note": prepared.note,
            "threads": case.threads,
            "ns_per_evaluation": 1e9 * median / prepared.problems,
        }
