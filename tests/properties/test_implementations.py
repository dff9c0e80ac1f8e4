"""The program, its compiled code and the reference agree on every robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grid_backend_cpu.compiler import host
from tests.cpu.kernels import Compiled
from tests.program.operations import traced
from tests.properties.robots import Operations, random_robots
from tests.support.compare import assert_accelerations_close
from tests.support.evaluate import Reference
from tests.support.hypothesis_profiles import heavy
from tests.support.states import random_state

if TYPE_CHECKING:
    from grid_core.model.types import RobotModel


@given(random_robots(), st.integers(0, 1000))
@heavy(15)
def test_the_program_is_the_reference(model: RobotModel, seed: int) -> None:
    ops, reference, s = Operations(model), Reference(model), random_state(model, seed)
    M = reference("crba", q=s.q)
    operations: dict[str, dict[str, Any]] = {
        "crba": {"q": s.q},
        "generalized_gravity": {"q": s.q, "gravity": -9.81},
        "inverse_dynamics": {"q": s.q, "qd": s.qd, "qdd": s.qdd, "f_ext": s.f_ext},
    }
    for name, inputs in operations.items():
        expected = reference(name, **inputs)
        scale = np.abs(expected).max(initial=1e-3)
        np.testing.assert_allclose(ops(name, **inputs), expected, rtol=0.0, atol=1e-11 * scale)
    motion: dict[str, Any] = {"q": s.q, "qd": s.qd, "u": s.u, "f_ext": s.f_ext}
    expected = reference("forward_dynamics", **motion)
    assert_accelerations_close(ops("forward_dynamics", **motion), expected, M)
    assert_accelerations_close(ops("minv", q=s.q), reference("minv", q=s.q), M)


@given(random_robots(most=12), st.integers(0, 1000), st.integers(1, 40))
@heavy(12)
def test_compiled_code_is_the_program(model: RobotModel, seed: int, batch: int) -> None:
    s = random_state(model, seed, batch)
    inputs = {"q": s.q, "qd": s.qd, "qdd": s.qdd, "gravity": -9.81}
    program = traced(model, "inverse_dynamics", ["qdd"])
    for dtype in ("float32", "float64"):
        kernel = Compiled(program, host().lanes(dtype))
        got, expected = kernel(batch, inputs)["tau"], kernel.expected(inputs)["tau"]
        # Row by row in the norm; terms that cancel leave their rounding behind.
        error = np.linalg.norm(got - expected, axis=1)
        size = np.linalg.norm(expected, axis=1) + 1.0
        assert np.all(error <= 300.0 * np.finfo(dtype).eps * size)
