"""Trials: who takes part, who is checked against whom, and what counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve, frozen

from grid_core.bench import Case, Declined, Plan, Prepared, bundled_robot, cases, run_case
from grid_core.bench.contenders import grid_contenders, peers
from grid_core.bench.grid_contender import GridContender
from grid_core.bench.results import document
from grid_core.bench.robot import robot_from_path
from grid_core.bench.suite import count
from grid_core.errors import BackendError, UnknownAlgorithm

OURS = GridContender("reference", "float64")
GHOST = Path(__file__).parents[1] / "cases" / "12a_zero_mass_leaf.urdf"


@frozen
class Fake:
    """A peer that returns what it is told to."""

    factor: float | None = 1.0
    """What the right result is multiplied by; None: it cannot tell."""
    error: Exception | None = None
    name: str = "fake"
    dtype: str = "float64"
    peer: bool = True

    def prepare(self, case: Case) -> Prepared:
        if self.error is not None:
            raise self.error
        right = OURS.prepare(case).outputs()
        results = [] if self.factor is None else [x * self.factor for x in right]
        return Prepared(
            run=lambda: None,
            boundary="loop",
            problems=case.batch,
            outputs=lambda: results,
            clock=lambda _, runs: 1e-3 * runs,
            note="made up",
        )


def plan(*contenders: Any, **changes: Any) -> Plan:
    fields: dict[str, Any] = {
        "robots": (bundled_robot("iiwa14"),),
        "operations": ("crba",),
        "batches": (3,),
        "threads": (1,),
        "contenders": contenders,
        "repeats": 2,
        "sample_s": 0.0001,
    }
    return Plan(**{**fields, **changes})


def only(made: Plan) -> Any:
    (case,) = cases(made)
    return run_case(case, made)


def test_cases_are_every_combination() -> None:
    made = plan(OURS, operations=("id",), batches=(1, 2), threads=(1, 2))
    found = list(cases(made))
    named = {case.benchmark.label for case in found}
    assert len(found) == count(made) == len(named) * 2 * 2
    assert {"inverse_dynamics", "crba"} < named
    assert {(c.algorithm.name, c.batch, c.threads) for c in found} >= {("inverse_dynamics", 2, 1)}


def test_a_case_holds_the_same_states_each_time() -> None:
    made = plan(OURS, operations=("inverse_dynamics",))
    (a,), (b,) = cases(made), cases(made)
    assert list(a.inputs) == ["q", "qd", "qdd"]
    assert all(np.array_equal(a.inputs[name], b.inputs[name]) for name in a.inputs)
    (other,) = cases(evolve(made, seed=1))
    assert not np.array_equal(a.inputs["q"], other.inputs["q"])
    assert a.first(2).inputs["q"].shape == (2, 7)


def test_an_unknown_operation_is_an_error() -> None:
    with pytest.raises(UnknownAlgorithm):
        list(cases(plan(OURS, operations=("gravity",))))


def test_ours_is_compared_with_the_peer() -> None:
    made = plan(OURS, Fake())
    trial = only(made)
    ours, fake = trial.measurements
    assert (ours.difference, ours.failed, ours.boundary) == (0.0, False, "call")
    assert (fake.note, fake.boundary, len(fake.samples)) == ("made up", "loop", 2)
    assert fake.median == pytest.approx(1e6 / 3)
    assert trial.ratio(ours, fake) == pytest.approx(fake.median / ours.median)
    assert not trial.failed


def test_wrong_results_are_not_timed() -> None:
    trial = only(plan(OURS, Fake(factor=1.5)))
    ours, _ = trial.measurements
    assert (ours.failed, ours.samples, trial.failed) == (True, (), True)
    assert ours.note == "results differ by 3.3e-01"
    assert trial.ratio(*trial.measurements) is None


def test_the_reference_tells_where_no_peer_can() -> None:
    for contenders in ((OURS,), (OURS, Fake(factor=None))):
        trial = only(plan(*contenders))
        assert trial.measurements[0].difference == 0.0
        assert not trial.failed
    wrong = evolve(plan(OURS), reference=Fake(factor=2.0))
    assert only(wrong).failed


def test_a_peer_that_declines_is_a_note() -> None:
    trial = only(plan(OURS, Fake(error=Declined("not on Sundays"))))
    assert [m.contender for m in trial.measurements] == ["reference"]
    assert (trial.note, trial.failed) == ("not on Sundays", False)


def test_a_peer_that_breaks_is_a_note() -> None:
    trial = only(plan(OURS, Fake(error=ZeroDivisionError("not today"))))
    assert (trial.note, trial.failed) == ("fake: ZeroDivisionError: not today", False)


def test_a_backend_that_fails_is_a_failure() -> None:
    ours = Fake(error=BackendError("no compiler"), peer=False)
    trial = only(plan(ours, Fake()))
    assert (trial.measurements, trial.note, trial.failed) == ((), "no compiler", True)


def test_an_operation_that_the_robot_cannot_have_is_a_note() -> None:
    made = plan(OURS, Fake(), robots=(robot_from_path(GHOST),), operations=("minv",))
    trial = only(made)
    assert (trial.measurements, trial.failed) == ((), False)
    assert "'ghost_tip' cannot have it" in trial.note


def test_the_document_holds_every_sample() -> None:
    trial = only(plan(OURS, Fake()))
    written = document([trial], {"quick": True})
    ours, fake = written["trials"][0]["measurements"]
    assert ours["samples"] == list(trial.measurements[0].samples)
    assert ours["ratios"] == {"fake": trial.ratio(*trial.measurements)}
    assert fake["ratios"] == {}
    assert set(written["machine"]) >= {"processor", "cores", "logical_cores"}
    assert "numpy" in written["versions"]


def test_contenders_are_all_backends_in_all_precisions() -> None:
    found = [(c.name, c.dtype) for c in grid_contenders()]
    assert ("cpu", "float32") in found
    assert ("cpu", "float64") in found
    assert "reference" not in dict(found)
    assert [c.dtype for c in grid_contenders(["cpu"], ["float64"])] == ["float64"]


def test_our_backend_agrees_with_every_peer_that_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("grid_core.bench.timing.WARM_UP_S", 0.0)
    robots = (bundled_robot("iiwa14"), bundled_robot("go2"))
    names = ("inverse_dynamics", "crba")
    made = plan(*grid_contenders(["cpu"]), *peers(), robots=robots, operations=names)
    for case in cases(evolve(made, batches=(1, 5), repeats=1)):
        trial = run_case(case, made)
        assert not trial.failed, trial
        assert len(trial.peers) == len(peers()), trial.note
