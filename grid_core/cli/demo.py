"""``grid demo``: forward dynamics of an arm and a quadruped, checked and timed."""

from __future__ import annotations

import functools
import statistics
from typing import TYPE_CHECKING

import click
import numpy as np
from attrs import frozen
from rich.progress import Progress

from grid_core.bench.case import Case
from grid_core.bench.compare import TOLERANCES, worst_error
from grid_core.bench.contenders import grid_contenders
from grid_core.bench.robot import BUNDLED, bundled_robot
from grid_core.bench.timing import interleave
from grid_core.cli.options import COUNT, grid_command
from grid_core.cli.output import error_console, print_table, say
from grid_core.cores import available_cores
from grid_core.plugins import plugin_manager

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_core.bench.grid_contender import GridContender
    from grid_core.bench.robot import Robot
    from grid_core.model.types import Array

__all__ = ["command"]

OPERATION = "forward_dynamics"
CHUNK = 5000
"""Problems that the reference computes at once."""


@grid_command("demo", "grid demo", "grid demo --count 1000")
@click.option("--count", type=COUNT, default=100_000, show_default=True)
@click.option("--backend", default="cpu", show_default=True)
@click.pass_context
def command(ctx: click.Context, count: int, backend: str) -> None:
    """Check and time an arm and a quadruped.

    Runs forward dynamics of both on random states and compares every result with that of the
    backend `reference`, a textbook implementation in NumPy. Exit code 1: they differ.
    """
    threads = available_cores()
    say(f"{count:,} forward dynamics of each robot, on {threads} threads\n")
    rows = []
    console = error_console()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        for name in BUNDLED:
            robot = bundled_robot(name)
            task = progress.add_task(f"{name}: reference", total=count)
            case = _draw(robot, count, threads)
            expected = _reference(case, functools.partial(progress.advance, task))
            rows += [_row(case, contender, expected) for contender in grid_contenders([backend])]
    print_table(
        ("robot", "base", "backend", "dtype", "evaluations/s", "worst error", "allowed", "check"),
        [row.cells() for row in rows],
        right=("evaluations/s", "worst error", "allowed"),
    )
    say("\nerror of a problem: ‖result - reference‖ / ‖reference‖")
    if not all(row.good for row in rows):
        say("error: results differ from the reference's", err=True)
        ctx.exit(1)


@frozen(kw_only=True)
class _Row:
    robot: str
    floating: bool
    backend: str
    dtype: str
    rate: float
    """Evaluations a second."""
    error: float
    allowed: float

    @property
    def good(self) -> bool:
        return self.error <= self.allowed

    def cells(self) -> tuple[object, ...]:
        base = "floating" if self.floating else "fixed"
        numbers = (f"{self.rate:,.0f}", f"{self.error:.1e}", f"{self.allowed:.0e}")
        check = "ok" if self.good else "FAILED"
        return (self.robot, base, self.backend, self.dtype, *numbers, check)


def _draw(robot: Robot, count: int, threads: int) -> Case:
    algorithm = plugin_manager().algorithms.take(OPERATION).value
    handle = robot.load(backend="reference", dtype="float64")
    benchmark = algorithm.benchmarks[0]
    return Case.draw(robot, handle, algorithm, benchmark, batch=count, threads=threads)


def _reference(case: Case, advance: Callable[[int], None]) -> Array:
    """Compute all problems with the reference, a chunk at a time."""
    handle = case.robot.load(backend="reference", dtype="float64", algorithm_list=[OPERATION])
    (call,) = handle.calls()
    parts = []
    for start in range(0, case.batch, CHUNK):
        chunk = {name: x[start : start + CHUNK] for name, x in case.inputs.items()}
        parts.append(call(**chunk))
        advance(len(parts[-1]))
    return np.concatenate(parts)


def _row(case: Case, contender: GridContender, expected: Array) -> _Row:
    prepared = contender.prepare(case)
    (result,) = prepared.outputs()
    (samples,) = interleave([prepared], repeats=7, sample_s=0.01)
    return _Row(
        robot=case.robot.name,
        floating=case.model.floating_base,
        backend=contender.name,
        dtype=contender.dtype,
        rate=1e9 / statistics.median(samples),
        error=worst_error(result, expected),
        allowed=TOLERANCES[contender.dtype],
    )
