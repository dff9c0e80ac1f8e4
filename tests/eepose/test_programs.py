"""Program, compiled operation and reference agree, for every kind of joint and target."""

from __future__ import annotations

import numpy as np
import pytest

from grid_core.algorithm import Options
from grid_core.evaluation import refusal
from grid_core.testing import check_algorithm
from grid_plugins.eepose.plugin import grid_algorithms
from tests.eepose.states import some_targets
from tests.program.operations import traced
from tests.support.robots import HAND_MADE, Robot, example

FAMILY = {a.name: a for a in grid_algorithms()}
each_operation = pytest.mark.parametrize("name", FAMILY)
CASES = [
    *((name, bool(k % 2)) for k, name in enumerate(HAND_MADE)),
    *((name, True) for name in ("spherical", "mimic_chain", "one_body")),
    ("panda-panda", False),
    ("a1-a1", True),
]


@each_operation
@pytest.mark.parametrize(("robot", "floating"), CASES)
def test_agreement(name, robot, floating) -> None:
    found: Robot = HAND_MADE[robot] if robot in HAND_MADE else example(robot)
    model = found.load(floating_base=floating)
    if refusal(FAMILY[name], FAMILY, model, Options()):
        pytest.skip("this robot cannot have it")
    check_algorithm(
        FAMILY[name],
        model,
        others=grid_algorithms(),
        options=Options(targets=some_targets(model)),
        backends=("cpu",),
        batches=(0, 3),
        tolerance32=2e-3,
    )


def test_programs_stay_small() -> None:
    """A recursion that loses its zeros or its sharing shows here first."""
    import grid_core.assets  # noqa: PLC0415
    from grid_core.model import load_urdf  # noqa: PLC0415

    model = load_urdf(grid_core.assets.asset_path("iiwa14"))
    leaf = some_targets(model)[:1]
    allowed = {
        "end_effector_pose": 140,
        "end_effector_pose_gradient": 240,
        "end_effector_pose_hessian": 570,
    }
    for name, most in allowed.items():
        assert traced(model, name, targets=leaf).counts.operations <= most, name


def test_a_target_costs_its_own_chain_only() -> None:
    model = example("a1-a1").load()
    joints = {f.body: f.id for f in model.frames if f.kind.name == "JOINT"}
    one = traced(model, "end_effector_pose", targets=(joints[model.leaves[0]],))
    assert one.counts.trigonometric == 2 * 3 + 3
    assert np.prod(one.outputs[0].dims) == 6
