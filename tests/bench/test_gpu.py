"""Timing on a GPU, with a PyTorch and a grid-rbd that need none."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from attrs import evolve

from grid_core.bench import bundled_robot, cases, run_case
from grid_core.bench.card import Card
from grid_core.bench.contender import Declined
from grid_core.bench.device import Device
from grid_core.bench.grid_rbd_robot import match_joints
from grid_core.bench.lineup import Lineup, line_up
from grid_core.bench.results import Trial, document
from grid_core.bench.suite import Plan
from grid_core.errors import BackendUnavailable, OptionError
from tests.bench.fakes import Graph, fake_grid_rbd, fake_torch

if TYPE_CHECKING:
    from pathlib import Path

ROBOTS = ("iiwa14", "go2")
pytestmark = pytest.mark.usefixtures("gpu")


def lineup(**changes: Any) -> Lineup:
    usual = {"backends": ["cpu"], "dtypes": ["float32"], "peer_names": ["grid-rbd"]}
    return line_up(**{**usual, "operations": ["crba", "inverse_dynamics"], **changes})


def trials(made: Lineup, *batches: int, robots: Any = ROBOTS, **changes: Any) -> list[Trial]:
    plan = Plan(
        robots=tuple(bundled_robot(name) for name in robots),
        operations=changes.pop("operations", ("crba", "inverse_dynamics")),
        batches=batches,
        threads=(1,),
        contenders=made.contenders,
        repeats=1,
        sample_s=1e-5,
        drawn=made.drawn,
        **changes,
    )
    return [run_case(case, plan) for case in cases(plan)]


def test_boundaries_take_turns_with_the_peer() -> None:
    order = [(c.name, c.dtype, c.boundary) for c in lineup(dtypes=()).contenders]  # type: ignore[attr-defined]
    assert order == [
        (*who, boundary)
        for boundary in ("call", "graph")
        for who in (("cpu", "float32"), ("cpu", "float64"), ("grid-rbd", "float32"))
    ]


def test_the_peer_agrees_though_its_joints_are_in_another_order(gpu: Any) -> None:
    found = trials(lineup(), 3)
    assert len(found) == 4
    for trial in found:
        assert not trial.failed, trial
        assert not trial.note
        assert [m.boundary for m in trial.ours] == ["call", "graph"]
        assert all(m.difference is not None and m.difference < 1e-5 for m in trial.measurements)
        assert {m.note for m in trial.peers} == {"joints in its own order"}
        for ours in trial.ours:
            beside = trial.counterpart(ours, "grid-rbd")
            assert beside is not None
            assert beside.boundary == ours.boundary
            assert trial.ratio(ours, beside)
    assert [load["floating_base"] for load in gpu.loads] == [False, True]
    assert gpu.loads[0] == {
        "backend": "torch",
        "floating_base": False,
        "enable_mujoco_kernels": False,
        "max_batch_size": 131072,
        "algorithm_list": ["crba", "inverse_dynamics"],
    }


def test_a_peer_that_is_wrong_is_timed_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grid_rbd", fake_grid_rbd(factor=1.5))
    (trial,) = trials(lineup(), 3, robots=("iiwa14",), operations=("crba",))
    assert not trial.failed
    assert all("results differ by 5.0e-01" in m.note and m.samples for m in trial.peers)


def test_a_peer_that_cannot_be_captured_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grid_rbd", fake_grid_rbd(refuses=True))
    (trial,) = trials(lineup(), 3, robots=("iiwa14",), operations=("crba",))
    assert [m.boundary for m in trial.peers] == ["call"]
    assert trial.note == (
        "grid-rbd's crba cannot be captured in a CUDA graph: operation not permitted when stream "
        "is capturing"
    )
    assert not trial.failed


def test_what_the_peer_cannot_do_is_a_note(gpu: Any) -> None:
    (trial,) = trials(lineup(peer_batch=2), 3, robots=("iiwa14",), operations=("crba",))
    assert trial.note == "grid-rbd is built for batches up to 2"
    trials(lineup(peer_batch=2), 2, robots=("iiwa14",), operations=("crba",))
    assert [load["max_batch_size"] for load in gpu.loads] == [2]
    (trial,) = trials(lineup(), 1, robots=("iiwa14",), operations=("minv",))
    assert trial.note == "grid-rbd is not compared in minv"


def test_a_robot_that_does_not_build_is_tried_once(
    gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(path: str, **options: Any) -> None:
        gpu.loads.append(path)
        raise RuntimeError("nvcc: not found\nand more")

    monkeypatch.setattr(gpu, "load_robot", load, raising=False)
    found = trials(lineup(), 1, 2, robots=("iiwa14",))
    assert {trial.note for trial in found} == {"grid-rbd does not build iiwa14: nvcc: not found"}
    assert len(gpu.loads) == 1


def test_other_joints_are_no_match() -> None:
    model = bundled_robot("iiwa14").load(backend="reference", dtype="float64").model
    names = [joint.name for joint in model.joints]
    assert match_joints(names, model) == (tuple(range(7)), tuple(range(7)))
    for other in ([], names[1:], [*names[1:], "elbow"]):
        with pytest.raises(Declined, match="grid-rbd has other joints"):
            match_joints(other, model)


def test_a_large_batch_repeats_the_states_and_a_fault_at_its_end_shows(gpu: Any) -> None:
    made = evolve(lineup(), drawn=4)
    options: dict[str, Any] = {"robots": ("iiwa14",), "operations": ("crba",)}
    (trial,) = trials(made, 11, **options)
    assert not trial.failed
    device = Device.open()
    right = np.arange(22.0).reshape(11, 2) % 8
    tensor = device.torch.from_numpy(right)
    assert not np.isnan(device.read([tensor], 4)[0]).any()
    for row, value in ((7, 5.0), (10, np.nan)):
        wrong = device.torch.from_numpy(right)
        wrong[row] = value
        assert np.isnan(device.read([wrong], 4)[0]).all()
    assert gpu.calls


def test_states_are_rotated_while_they_fit_the_cache() -> None:
    device = Device.open()
    states = np.arange(12.0).reshape(6, 2)
    usual: dict[str, Any] = {"batch": 6, "dtype": "float32", "states": "turns"}
    sets = device.sets([states], moved=8000, **usual)
    assert len(sets) == 3  # 64 KiB of cache, twice
    assert np.array_equal(sets[0][0], states)
    assert np.array_equal(np.sort(sets[1][0], axis=0), states)
    assert not np.array_equal(sets[1][0], states)
    assert len(device.sets([states], moved=1 << 20, **usual)) == 1
    assert len(device.sets([states], moved=1, **usual)) == 64
    (only,) = device.sets([states], moved=1, **{**usual, "states": "same"})
    assert np.array_equal(only[0], states)


def test_states_that_stay_where_they_are_are_timed_beside_those_in_turns() -> None:
    made = lineup(states=["turns", "same"])
    order = [(c.name, c.boundary, c.states) for c in made.contenders]  # type: ignore[attr-defined]
    assert order == [
        (name, boundary, states)
        for boundary in ("call", "graph")
        for states in ("turns", "same")
        for name in ("cpu", "grid-rbd")
    ]
    (trial,) = trials(made, 3, robots=("iiwa14",), operations=("crba",))
    assert not trial.failed, trial
    assert all(m.difference is not None and m.difference < 1e-5 for m in trial.measurements)
    for one in trial.measurements:
        assert (one.details["sets"] == 1) is (one.states == "same")
    for ours in trial.ours:
        beside = trial.counterpart(ours, "grid-rbd")
        assert beside is not None
        assert (beside.boundary, beside.states) == (ours.boundary, ours.states)
    written = document([trial], {}, made.card)
    assert set(written["states"]) == {"turns", "same"}
    found = [m["states"] for m in written["trials"][0]["measurements"]]
    assert found == [c.states for c in made.contenders]  # type: ignore[attr-defined]
    # What lies in the cache is not bound by device memory, and no build says more here.
    assert [m.floor is None for m in trial.ours] == [m.states == "same" for m in trial.ours]


def test_a_batch_beyond_the_cache_has_the_floor_of_memory_wherever_its_states_lie() -> None:
    device = evolve(Device.open(), card=Card(
        name="c", driver="d", l2_bytes=1000, copy_rate=1e12, issue_rates={"float32": 1e12}
    ))  # fmt: skip
    usual: dict[str, Any] = {"dtype": "float32", "moved": 100, "fused": 50}
    assert device.floor(batch=10, states="turns", **usual) == pytest.approx(0.1)
    assert device.floor(batch=10, states="same", **usual) == pytest.approx(0.05)
    assert device.floor(batch=11, states="same", **usual) == pytest.approx(0.1)


def test_results_that_are_not_written_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Graph, "replay", lambda _: None)
    (trial,) = trials(lineup(peer_names=()), 3, robots=("iiwa14",), operations=("crba",))
    eager, captured = trial.ours
    assert (eager.failed, captured.failed, trial.failed) == (False, True, True)
    assert captured.note == "results differ by inf"


def test_the_host_boundary_needs_no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    made = lineup(peer_names=(), boundaries=["host"])
    (trial,) = trials(made, 5, robots=("go2",), operations=("crba",))
    (one,) = trial.measurements
    assert (one.boundary, one.failed, trial.note) == ("host", False, "")
    assert one.samples


def test_a_batch_that_is_too_large_is_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grid_core.bench.device_contender.MOST_BYTES", 300)
    (trial,) = trials(lineup(peer_names=()), 3, robots=("iiwa14",), operations=("crba",))
    assert "crba in float32 at batch 3 would move" in trial.note
    assert not trial.failed


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError, match="--backend cuda"):
        line_up(backends=["reference"], peer_names=["grid-rbd"])
    with pytest.raises(OptionError, match="reference has no boundary graph"):
        line_up(backends=["reference"], boundaries=["graph"])
    for changes in ({"backends": ["reference"], "dtypes": ()}, {"boundaries": ["host"]}):
        with pytest.raises(OptionError, match="nobody here is timed with tensors on a GPU"):
            lineup(**{"peer_names": (), "states": ["same"], **changes})
    with pytest.raises(OptionError, match="states lie in turns or same; got 'warm'"):
        lineup(states=["warm"])
    monkeypatch.setitem(sys.modules, "grid_rbd", None)
    with pytest.raises(OptionError, match=r"pip install 'grid-rbd\[torch\]'"):
        lineup()
    monkeypatch.setitem(sys.modules, "torch", fake_torch(gpu=False))
    with pytest.raises(BackendUnavailable, match="sees no GPU"):
        lineup(peer_names=())
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(BackendUnavailable, match="pip install torch"):
        lineup(peer_names=(), boundaries=["graph"])


def test_the_floor_is_the_slower_of_memory_and_arithmetic() -> None:
    card = Card(
        name="c", driver="d", l2_bytes=1, copy_rate=4.2e12, issue_rates={"float32": 33.5e12}
    )
    assert card.floor(112, 559, "float32") == pytest.approx(1e9 * 112 / 4.2e12)
    assert card.floor(112, 5590, "float32") == pytest.approx(1e9 * 5590 / 33.5e12)
    assert card.floor(224, 5590, "float64") == pytest.approx(1e9 * 224 / 4.2e12)


def test_the_clock_comes_from_nvidia_smi(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho '580.1, 1980'\n")
    program.chmod(0o755)
    monkeypatch.setattr("grid_core.bench.card.shutil.which", lambda _: str(program))
    card = Device.open().card
    assert card.driver == "580.1"
    assert card.issue_rates["float32"] == pytest.approx(33.45e12, rel=1e-3)
    assert card.issue_rates["float64"] == pytest.approx(16.73e12, rel=1e-3)


def test_the_document_names_card_boundaries_and_floors() -> None:
    made = lineup()
    written = document(trials(made, 2, robots=("iiwa14",)), {}, made.card)
    assert written["card"]["name"] == "Fake H200"
    one = written["trials"][0]["measurements"][-2]
    assert (one["boundary"], one["card"], one["contender"]) == ("graph", "Fake H200", "cpu")
    assert one["floor"] > 0
    assert one["details"]["launches"] == one["details"]["sets"]
    assert one["details"]["bytes"] == 4 * (7 + 49)
    assert list(one["ratios"]) == ["grid-rbd"]
