"""The whole comparison on a GPU in one program, with a PyTorch and a grid-rbd that need none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from grid_core.bench import bundled_robot, gpu_report
from grid_core.bench.grid_rbd_robot import prebuild

if TYPE_CHECKING:
    from pathlib import Path

    from grid_core.bench.results import Trial
    from grid_core.bench.suite import Plan

ROBOTS = ("iiwa14", "go2")
pytestmark = pytest.mark.usefixtures("gpu")


def test_builds_run_side_by_side_and_faults_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    robots = [(bundled_robot(name), name == "go2") for name in ROBOTS]
    monkeypatch.setenv("PYTHONPATH", "")
    faults = prebuild(robots, ["crba"], timeout_s=60.0)
    assert set(faults) == set(ROBOTS)
    assert "pip install 'grid-rbd[torch]'" in faults["go2"]
    assert "took over 0 s" in prebuild(robots, ["crba"], timeout_s=0.0)["iiwa14"]


def report(*arguments: Any) -> Any:
    quick = ["--repeats", "1", "--sample-ms", "0.01", "--backend", "cpu", "--batches", "1,3"]
    return CliRunner().invoke(gpu_report.main, [*map(str, arguments), *quick])


def test_the_report_is_a_table_a_plot_and_a_document(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(gpu_report, "prebuild", lambda *_, **__: {"go2": "no compiler"})
    written, drawn = tmp_path / "r.json", tmp_path / "r.svg"
    result = report(written, drawn, "--operations", "crba,minv")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert len(lines) <= 60
    assert any(line.startswith("iiwa14 crba graph float32") and "x" in line for line in lines)
    assert "note: grid-rbd does not build go2: no compiler (go2 minv, go2 crba)" in lines
    found = json.loads(written.read_text())
    assert len(found["trials"]) == 2 * 2 * 2
    assert found["settings"]["batches"] == ["1", "3"]
    assert "floor float32" in drawn.read_text() or "<svg" in drawn.read_text()


def test_the_report_says_where_the_states_lay(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    written, drawn = tmp_path / "r.json", tmp_path / "r.svg"
    options = ("--no-peer", "--operations", "crba", "--robots", "iiwa14", "--dtypes", "float32")
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        result = report(written, drawn, *options, "--states", "turns,same")
    assert result.exit_code == 0, result.output
    heads = [line[:32].strip() for line in result.stdout.splitlines() if "float32" in line[:30]]
    lines = [f"{how} float32 {states}" for how in ("call", "graph") for states in ("turns", "same")]
    assert heads == [f"iiwa14 crba {line}" for line in lines]
    assert "same: every launch takes the same arrays" in result.stdout
    for how in ("call", "graph"):
        for states in ("turns", "same"):
            assert f"cpu float32, {how}, {states}<" in drawn.read_text()
    assert json.loads(written.read_text())["settings"]["states"] == ["turns", "same"]
    result = report(written, drawn, *options, "--states", "warm")
    assert result.exit_code == 1
    assert "states lie in turns or same; got 'warm'" in result.output


def test_a_report_that_breaks_off_leaves_what_it_had(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = gpu_report.run_case

    def run(case: Any, plan: Plan) -> Trial:
        if case.batch == 3:
            raise KeyboardInterrupt
        return whole(case, plan)

    monkeypatch.setattr(gpu_report, "run_case", run)
    result = report(tmp_path / "r.json", tmp_path / "r.svg", "--no-peer", "--operations", "crba")
    assert result.exit_code != 0
    assert "iiwa14 crba call float32" in result.stdout
    assert len(json.loads((tmp_path / "r.json").read_text())["trials"]) == 1


def test_a_case_that_goes_wrong_does_not_end_the_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = gpu_report.run_case

    def run(case: Any, plan: Plan) -> Trial:
        if case.batch == 1:
            raise RuntimeError("out of memory")
        return whole(case, plan)

    monkeypatch.setattr(gpu_report, "run_case", run)
    result = report(tmp_path / "r.json", tmp_path / "r.svg", "--no-peer", "--operations", "crba")
    assert result.exit_code == 1
    assert "iiwa14 crba from batch 1 FAILED RuntimeError: out of memory" in result.stderr
    assert len(json.loads((tmp_path / "r.json").read_text())["trials"]) == 2


def test_a_report_ends_in_time(tmp_path: Path) -> None:
    result = report(tmp_path / "r.json", tmp_path / "r.svg", "--no-peer", "--limit", "0")
    assert result.exit_code == 1
    assert "the time is up before iiwa14" in result.stderr
