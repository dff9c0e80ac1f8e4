"""Large robots compile, run, and cost in proportion to their size."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from grid_backend_cpu.compiler import compile_program, host
from grid_core.model import load_urdf_string
from tests.cpu.kernels import Compiled
from tests.program.operations import traced
from tests.support.compare import assert_accelerations_close
from tests.support.evaluate import Reference
from tests.support.random_trees import random_urdf
from tests.support.robots import example
from tests.support.states import random_state


def test_a_hundred_joints_and_more() -> None:
    """Some 19000 operations, over a thousand values alive at once."""
    model = example("tiago-tiago_dual").load()
    assert model.nv > 100
    kernel = Compiled(traced(model, "forward_dynamics"), host().lanes("float64"), num_threads=2)
    s = random_state(model, batch=19)
    inputs: dict[str, Any] = {"q": s.q, "qd": s.qd, "u": s.u, "gravity": -9.81}
    reference = Reference(model)
    expected = reference("forward_dynamics", **inputs)
    got = kernel(19, inputs)["qdd"]
    assert_accelerations_close(got, expected, reference("crba", q=s.q))


def test_compiling_grows_linearly() -> None:
    """Twice the joints, twice the code and hardly more than twice the time.

    Measured along a chain of skew revolute joints, inverse dynamics in float32: 25, 50 and 100
    joints take 0.5, 1.1 and 2.3 s on one core of 2023, and 81, 161 and 320 kB.
    """
    seconds, sizes = [], []
    for joints in (20, 40):
        urdf = random_urdf(1, joints, kinds=("revolute",), branching=0.0)
        program = traced(load_urdf_string(urdf), "inverse_dynamics", ["qdd"])
        start = time.process_time()
        code = compile_program(program, host().lanes("float32"))
        seconds.append(time.process_time() - start)
        sizes.append(len(code))
    assert sizes[1] < 2.2 * sizes[0]
    assert seconds[1] < 3.5 * seconds[0]


def test_a_deep_chain_is_no_recursion() -> None:
    """A thousand links in a row: nothing here recurses along the robot."""
    urdf = random_urdf(3, 1000, kinds=("prismatic",), branching=0.0)
    program = traced(load_urdf_string(urdf), "generalized_gravity")
    tau = program.evaluate({"q": np.zeros((1, 1000)), "gravity": -9.81})["g"]
    assert np.isfinite(tau).all()
