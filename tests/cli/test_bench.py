"""``grid bench``: the options, the tables and the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

from grid_core.bench import Plan, bundled_robot
from grid_core.bench.card import Card
from grid_core.bench.results import Measurement, Trial

if TYPE_CHECKING:
    from tests.cli.conftest import Grid

QUICK = ("--quick", "--repeat", 1, "--batch", 2, "--threads", 1)
GRAVITY = (*QUICK, "--robot", "iiwa14", "--operation", "generalized_gravity")


def test_table_json_and_plot(grid: Grid, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    files = ("--json", tmp_path / "b.json", "--plot", tmp_path / "b.svg")
    result = grid("bench", *QUICK, "--operation", "crba", *files, "--backend", "cpu")
    text, rows = result.stdout, [x.split() for x in result.stdout.splitlines()]
    assert text.startswith("threads: 1\nbackend: cpu\nfloating base: go2\n\n")
    assert rows[4][:6] == ["robot", "operation", "batch", "dtype", "ns", "M/s"]
    assert rows[5][:4] == ["iiwa14", "crba", "2", "float32"]
    assert rows[7][:4] == ["go2", "crba", "2", "float32"]
    assert "physical cores" in result.stdout
    document = json.loads((tmp_path / "b.json").read_text())
    assert document["format"] == "grid.bench.v1"
    assert document["machine"]["cores"] >= 1
    assert len(document["trials"]) == 2
    assert "<svg" in (tmp_path / "b.svg").read_text()


def test_json_in_place_of_the_table(grid: Grid) -> None:
    document = json.loads(grid("bench", *GRAVITY, "--json", "-").stdout)
    (trial,) = document["trials"]
    assert trial["batch"] == 2
    assert len(trial["measurements"][0]["samples"]) == 1


def test_lists_with_commas(grid: Grid) -> None:
    call = (*GRAVITY[:3], "--batch", "2, 3", "--batch", 3, *GRAVITY[5:], "--json", "-")
    document = json.loads(grid("bench", *call, "--peer", "pinocchio").stdout)
    assert [trial["batch"] for trial in document["trials"]] == [2, 3]


def test_times_on_a_card(grid: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    card = Card(name="H200", driver="580.1", l2_bytes=1, copy_rate=4.2e12, issue_rates={})
    times = {"dtype": "float32", "boundary": "graph", "card": "H200", "states": "turns"}
    made = evolve(
        trial(failed=False),
        measurements=(
            Measurement(contender="cuda", peer=False, samples=(0.05,), floor=0.04, **times),
            Measurement(contender="grid-rbd", peer=True, samples=(5.0,), **times),
        ),
    )
    monkeypatch.setattr("grid_core.cli.bench.run_case", lambda *_: made)
    monkeypatch.setattr("grid_core.cli.bench._plan", lambda *_: (plan(), card))
    lines = grid("bench").stdout.splitlines()
    assert lines[:2] == ["backend: cuda", "states: turns"]
    assert any(line.startswith("turns: states lie in several places") for line in lines)
    assert "card: H200, driver 580.1, copies 4.2e+12 B/s" in lines
    row = next(line.split() for line in lines if line.startswith("r "))
    assert row == ["r", "crba", "2", "float32", "graph", "0.00", "0.0500", "20000.000", "5.0",
                   "graph", "100.00x", "80%"]  # fmt: skip
    assert not any(line.startswith("threads") for line in lines)


def test_states_that_lie_otherwise_have_rows_of_their_own(
    grid: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = {"contender": "cuda", "peer": False, "dtype": "float32", "boundary": "graph"}
    turns, same = (
        Measurement(card="H200", states=states, samples=(each,), **times)
        for states, each in (("turns", 0.05), ("same", 0.04))
    )
    made = evolve(trial(failed=False), measurements=(turns, same))
    monkeypatch.setattr("grid_core.cli.bench.run_case", lambda *_: made)
    monkeypatch.setattr("grid_core.cli.bench._plan", lambda *_: (plan(), None))
    rows = [line.split() for line in grid("bench").stdout.splitlines() if line.startswith("r ")]
    assert [row[4:6] for row in rows] == [["graph", "turns"], ["graph", "same"]]


def plan() -> Plan:
    robot = bundled_robot("iiwa14")
    return Plan(robots=(robot,), operations=("crba",), batches=(2,), threads=(1,), contenders=())


def test_loads(grid: Grid, tmp_path: Path) -> None:
    path = tmp_path / "loads.json"
    call = ("bench", "--load", "--quick", "--robot", "iiwa14", "--operation", "crba")
    result = grid(*call, "--backend", "cpu", "--dtype", "float64", "--json", path)
    rows = [x.split() for x in result.stdout.splitlines()]
    assert rows[1][:4] == ["iiwa14", "fixed", "cpu", "float64"]
    (load,) = json.loads(path.read_text())["loads"]
    assert load["operations"] == ["crba"]
    assert load["median_s"]["cold"] > 0


def test_an_operation_that_a_robot_cannot_have_is_a_note(grid: Grid, ghost: Path) -> None:
    result = grid("bench", *QUICK, "--robot", ghost, "--operation", "minv", "--backend", "cpu")
    assert "'ghost_tip' cannot have it" in result.stdout


@pytest.fixture
def ghost() -> Path:
    return Path(__file__).parents[1] / "cases" / "12a_zero_mass_leaf.urdf"


def trial(*, failed: bool) -> Trial:
    measurement = Measurement(
        contender="cpu", dtype="float32", boundary="call", peer=False,
        samples=() if failed else (1.0,), note="results differ by 1.0e+00" if failed else "",
        failed=failed,
    )  # fmt: skip
    return Trial(
        robot="r", floating=False, operation="crba", label="crba", batch=2, threads=1,
        measurements=(measurement,), failed=failed,
    )  # fmt: skip


def test_wrong_results_fail(grid: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grid_core.cli.bench.run_case", lambda *_: trial(failed=True))
    result = grid("bench", *GRAVITY, code=1)
    assert "results differ by 1.0e+00" in result.stdout


def test_an_interruption_shows_what_was_measured(
    grid: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = iter([trial(failed=False)])

    def run(*_: object) -> Trial:
        try:
            return next(found)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("grid_core.cli.bench.run_case", run)
    result = grid("bench", *GRAVITY, "--batch", 3, code=130)
    assert "crba" in result.stdout
    assert result.stderr.strip() == "interrupted"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--operation", "gravity"), "no algorithm is called 'gravity'"),
        (("--robot", "iiwa"), "(did you mean 'iiwa14'?)"),
        (("--backend", "gpus"), "no backend is called 'gpus'"),
        (("--backend", "reference", "--dtype", "float32"), "no backend here computes in float32"),
        (("--plot", "a.bmp"), "a plot's file ends in .svg, .png or .pdf; got a.bmp"),
        (("--json", "/nowhere/a.json"), "there is no folder /nowhere"),
        (("--batch", "1,x"), "'--batch': 'x' is not a valid integer."),
        (("--backend", "cpu", "--boundary", "graph"), "has no boundary graph"),
        (("--boundary", "graphs"), "'graphs' is not one of 'call', 'graph', 'host'"),
        (("--backend", "cpu", "--peer", "grid-rbd"), "beside a backend there: --backend cuda"),
        (("--load", "--plot", "a.svg"), "it does not go with --load"),
        (("--states", "cold"), "'cold' is not one of 'turns', 'same'"),
        (("--backend", "cpu", "--states", "same"), "nobody here is timed with tensors on a GPU"),
    ],
)
def test_mistakes(fails: Any, arguments: tuple[str, ...], message: str) -> None:
    assert message in fails("bench", "--quick", *arguments)
