"""Which cases are timed, and timing one with everybody who can do it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from grid_core.bench.case import Case
from grid_core.bench.compare import TOLERANCES, difference
from grid_core.bench.contender import Contender, Declined, Prepared
from grid_core.bench.grid_contender import GridContender
from grid_core.bench.results import Measurement, Trial
from grid_core.bench.timing import interleave
from grid_core.errors import GridError
from grid_core.plugins import plugin_manager

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grid_core.algorithm import Algorithm, BenchmarkCase
    from grid_core.bench.robot import Robot
    from grid_core.model.types import Array

__all__ = ["Plan", "cases", "count", "run_case"]

CHECKED = 256
"""Problems that are checked against the reference where there is no peer."""


@frozen(kw_only=True)
class Plan:
    """What to time."""

    robots: tuple[Robot, ...]
    operations: tuple[str, ...] | None = None
    """Names and families; None: every operation with a benchmark."""
    batches: tuple[int, ...]
    threads: tuple[int, ...]
    contenders: tuple[Contender, ...]
    """Grid's own first, then the peers."""
    repeats: int = 15
    sample_s: float = 0.1
    """About how long one sample lasts [s]."""
    seed: int = 0
    drawn: int | None = None
    """Different states at most, where all contenders can repeat them; None: a whole batch."""
    reference: Contender = field(factory=lambda: GridContender("reference", "float64"))
    """What Grid is checked against where no peer can tell."""


def cases(plan: Plan) -> Iterator[Case]:
    """Yield every case, with the states drawn when its turn comes.

    Raises:
        UnknownAlgorithm: an operation that no plugin offers.
        ModelError: a robot that cannot be read.
    """
    for robot in plan.robots:
        handle = robot.load(backend="reference", dtype="float64")
        for (algorithm, benchmark), batch, threads in _combinations(plan):
            yield Case.draw(
                robot,
                handle,
                algorithm,
                benchmark,
                batch=batch,
                threads=threads,
                seed=plan.seed,
                drawn=plan.drawn,
            )


def count(plan: Plan) -> int:
    """Return how many cases there are."""
    return len(plan.robots) * len(_combinations(plan))


def _combinations(plan: Plan) -> list[tuple[tuple[Algorithm, BenchmarkCase], int, int]]:
    selection = plugin_manager().select(plan.operations)
    algorithms = [selection.available[name] for name in selection.chosen]
    benchmarks = [(algorithm, one) for algorithm in algorithms for one in algorithm.benchmarks]
    return list(itertools.product(benchmarks, plan.batches, plan.threads))


@frozen
class _Entry:
    """A contender on its way through a trial."""

    contender: Contender
    prepared: Prepared
    difference: float | None = None
    fault: str = ""
    """Why its results do not count."""
    samples: tuple[float, ...] = ()

    def measurement(self) -> Measurement:
        return Measurement(
            contender=self.contender.name,
            dtype=self.contender.dtype,
            boundary=self.prepared.boundary,
            states=self.prepared.states,
            peer=self.contender.peer,
            samples=self.samples,
            difference=self.difference,
            note=self.fault or self.prepared.note,
            failed=bool(self.fault),
            card=self.prepared.card,
            floor=self.prepared.floor,
            details=self.prepared.details,
        )


def run_case(case: Case, plan: Plan) -> Trial:
    """Prepare everybody, check that the results agree, then time in turns."""
    entries: list[_Entry] = []
    notes: list[str] = []
    failed = False
    for contender in plan.contenders:
        if contender.peer and not entries:
            continue  # nobody to compare with; Grid's own come first
        try:
            entries.append(_Entry(contender, contender.prepare(case)))
        except Declined as reason:
            notes.append(str(reason))
        except GridError as error:
            notes.append(str(error))
            failed = True
        except Exception as error:
            if not contender.peer:
                raise
            notes.append(f"{contender.name}: {type(error).__name__}: {error}")
    entries = _time(_check(case, plan, entries), plan)
    return Trial(
        robot=case.robot.name,
        floating=case.model.floating_base,
        operation=case.algorithm.name,
        label=case.benchmark.label,
        batch=case.batch,
        threads=case.threads,
        measurements=tuple(entry.measurement() for entry in entries),
        note="; ".join(dict.fromkeys(notes)),
        failed=failed or any(entry.fault for entry in entries),
    )


def _check(case: Case, plan: Plan, entries: list[_Entry]) -> list[_Entry]:
    """Compare results with those of the first peer that can tell, or the reference's.

    Only a peer in float64 can. One in float32 is compared like Grid, and timed whatever it
    returns: its time says something, with the note beside it.
    """
    judges = [entry for entry in entries if _judges(entry.contender)]
    expected: Sequence[Array] = next((o for e in judges if (o := e.prepared.outputs())), [])
    checked = []
    for entry in entries:
        if _judges(entry.contender):
            checked.append(entry)
            continue
        outputs = entry.prepared.outputs()
        apart = difference(outputs, expected)
        if apart is None:
            expected = plan.reference.prepare(case.first(CHECKED)).outputs()
            apart = difference(outputs, expected)
        checked.append(_judged(entry, apart))
    return checked


def _judges(contender: Contender) -> bool:
    return contender.peer and contender.dtype == "float64"


def _judged(entry: _Entry, apart: float | None) -> _Entry:
    """Write down how far an entry's results are off, and what that means for it."""
    fault = ""
    if apart is None or not apart <= TOLERANCES[entry.contender.dtype]:
        fault = "results of another shape" if apart is None else f"results differ by {apart:.1e}"
    if not fault or not entry.contender.peer:
        return evolve(entry, difference=apart, fault=fault)
    note = ", ".join(filter(None, [entry.prepared.note, fault]))
    return evolve(entry, difference=apart, prepared=evolve(entry.prepared, note=note))


def _time(entries: list[_Entry], plan: Plan) -> list[_Entry]:
    """Time all whose results are right."""
    sound = [entry for entry in entries if not entry.fault]
    samples = interleave(
        [entry.prepared for entry in sound], repeats=plan.repeats, sample_s=plan.sample_s
    )
    timed = {id(e): evolve(e, samples=tuple(s)) for e, s in zip(sound, samples, strict=True)}
    return [timed.get(id(entry), entry) for entry in entries]
