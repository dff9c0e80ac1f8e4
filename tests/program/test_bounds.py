"""Programs stay small and quick to trace; measured numbers, with little room above them."""

from __future__ import annotations

import time

import pytest

from grid_core.assets import asset_path
from grid_core.model import load_urdf, load_urdf_string
from tests.program.operations import traced
from tests.support.random_trees import random_urdf
from tests.support.robots import example

# Operations measured when this was written; a change that needs more has to say why.
BOUNDS = {
    ("iiwa14", "inverse_dynamics"): 440,
    ("iiwa14", "forward_dynamics"): 830,
    ("iiwa14", "crba"): 225,
    ("iiwa14", "minv"): 540,
    ("go2", "inverse_dynamics"): 760,
    ("go2", "forward_dynamics"): 1005,
    ("go2", "crba"): 230,
}


@pytest.mark.parametrize(("robot", "name"), BOUNDS)
def test_operation_counts_do_not_regress(robot: str, name: str) -> None:
    model = load_urdf(asset_path(robot))
    present = ["qdd"] if name == "inverse_dynamics" else []
    assert traced(model, name, present).counts.operations <= BOUNDS[robot, name]


def test_a_humanoid_with_hands_is_traced_in_seconds() -> None:
    """43 joints, some 13000 operations; 0.5 s on one core of 2023."""
    model = example("g1-g1_29dof_with_hand_rev_1_0").load()
    start = time.process_time()
    program = traced(model, "forward_dynamics")
    assert time.process_time() - start < 5.0
    assert 8_000 < program.counts.operations < 14_000


def test_operations_grow_linearly_along_a_chain() -> None:
    """Inverse dynamics is O(n): twice the joints cost twice the operations."""
    counts = [
        traced(
            load_urdf_string(random_urdf(1, n, kinds=("revolute",), branching=0.0)),
            "inverse_dynamics",
        ).counts.operations
        for n in (20, 40)
    ]
    assert counts[1] < 2.2 * counts[0]
