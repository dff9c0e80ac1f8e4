"""The peer on the CPU: the same robot, the same states, the right function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from attrs import evolve

from grid_core.bench import Declined, Plan, bundled_robot, cases
from grid_core.bench.compare import difference
from grid_core.bench.grid_contender import GridContender
from grid_core.bench.pinocchio_contender import LOOP_STATES, PinocchioContender
from grid_core.bench.robot import robot_from_path
from tests.support.robots import HAND_MADE

if TYPE_CHECKING:
    from pathlib import Path

    from grid_core.bench import Case, Robot

pytest.importorskip("pinocchio")
PEER = PinocchioContender.installed()
assert PEER is not None
OURS = GridContender("reference", "float64")


def case(robot: Robot, operation: str = "crba", batch: int = 4, threads: int = 1) -> Case:
    made = Plan(
        robots=(robot,), operations=(operation,), batches=(batch,), threads=(threads,),
        contenders=(),
    )  # fmt: skip
    (found,) = cases(made)
    return found


def hand_made(name: str, folder: Path) -> Robot:
    path = folder / f"{name}.urdf"
    path.write_text(HAND_MADE[name].source(), encoding="utf-8")
    return robot_from_path(path)


@pytest.mark.parametrize("name", ["axis_aligned", "skew_axes", "branching", "prismatic"])
def test_it_computes_the_same_in_its_own_coordinates(name: str, tmp_path: Path) -> None:
    one = case(hand_made(name, tmp_path), "forward_dynamics")
    apart = difference(OURS.prepare(one).outputs(), PEER.prepare(one).outputs())
    assert apart is not None
    assert apart < 1e-9


def test_how_it_is_called_is_said() -> None:
    go2 = bundled_robot("go2")
    parallel = PEER.prepare(case(go2, "inverse_dynamics", batch=5, threads=2))
    assert (parallel.boundary, parallel.problems, parallel.note) == ("call", 5, "")
    loop = PEER.prepare(case(go2, "crba", batch=5, threads=2))
    assert (loop.boundary, loop.problems) == ("loop", 10)
    assert loop.note == "loop, overhead subtracted, divided by 2"
    single = PEER.prepare(case(go2, "crba", batch=1, threads=2))
    assert (single.boundary, single.problems, single.note) == ("call", 1, "")


@pytest.mark.parametrize("name", ["iiwa14", "go2"])
@pytest.mark.parametrize("batch", [1, 3])
def test_poses_of_the_end_effectors(name: str, batch: int) -> None:
    one = case(bundled_robot(name), "end_effector_pose", batch=batch)
    apart = difference(OURS.prepare(one).outputs(), PEER.prepare(one).outputs())
    assert apart is not None
    assert apart < 1e-9


def test_a_jacobian_of_another_kind_is_timed_but_not_compared() -> None:
    prepared = PEER.prepare(case(bundled_robot("go2"), "end_effector_pose_gradient"))
    assert list(prepared.outputs()) == []
    assert prepared.note.startswith("geometric Jacobian")
    assert prepared.clock(prepared.run, 1) > 0


def test_a_loop_goes_over_some_of_the_states() -> None:
    prepared = PEER.prepare(case(bundled_robot("iiwa14"), batch=LOOP_STATES + 5))
    assert prepared.problems == LOOP_STATES


def test_the_overhead_is_subtracted() -> None:
    prepared = PEER.prepare(case(bundled_robot("go2"), batch=64))
    calls: list[int] = []
    assert prepared.clock(lambda: calls.append(1), 3) > 0
    assert len(calls) == 3


@pytest.mark.parametrize("name", ["planar", "mimic_chain"])
def test_a_robot_that_it_reads_otherwise_is_declined(name: str, tmp_path: Path) -> None:
    with pytest.raises(Declined, match="Pinocchio"):
        PEER.prepare(case(hand_made(name, tmp_path)))


def test_what_it_cannot_do_is_declined() -> None:
    one = case(bundled_robot("iiwa14"))

    def declined(message: str, **changes: Any) -> None:
        with pytest.raises(Declined, match=message):
            PEER.prepare(evolve(one, **changes))

    declined("no such function", benchmark=evolve(one.benchmark, pinocchio=None))
    declined("cannot be called so", benchmark=evolve(one.benchmark, pinocchio="integrate"))
    declined("has no nonsense", benchmark=evolve(one.benchmark, pinocchio="nonsense"))
    declined("f_ext", inputs={**one.inputs, "f_ext": np.zeros((4, 7, 6))})
    declined("no URDF file", robot=evolve(one.robot, path=None))
