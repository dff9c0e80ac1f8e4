"""Robots loaded on the first GPU, once a process, and what their operations should give."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import grid_core
from grid_core.evaluation import evaluate_reference, refusal
from grid_core.plugins import plugin_manager
from grid_core.testing.inputs import random_inputs
from tests.cuda.kernels import DYNAMICS, ROBOTS, model
from tests.support.compare import condition
from tests.support.evaluate import Reference

if TYPE_CHECKING:
    from grid_core.algorithm import Algorithm
    from grid_core.handle import RobotHandle
    from grid_core.operation_call import OperationCall

HUMANOID = (*DYNAMICS, "end_effector_pose", "inverse_dynamics_gradient")
"""What is tried of the humanoid: the rest takes the compiler minutes."""
SOME = ("inverse_dynamics", "forward_dynamics", "crba", "minv", "end_effector_pose")
"""What is tried of every kind of array."""
ON_DEMAND = dict.fromkeys(("inverse_dynamics", "forward_dynamics"), ("f_ext",))


def operations(robot: str) -> tuple[str, ...]:
    """Names of what is tried with a robot."""
    if robot == "humanoid":
        return HUMANOID
    names = plugin_manager().algorithms.names
    if robot == "go2":
        slow = ("hessian", "runtime", "parameter_gradient")
        return tuple(n for n in names if not any(part in n for part in slow))
    return names


@functools.cache
def handle(robot: str, dtype: str = "float32", device: int = 0) -> RobotHandle:
    """Load a robot with all that is tried of it, compiled side by side."""
    found, floating = ROBOTS[robot]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return grid_core.load_robot(
            urdf_string=found.source(),
            floating_base=floating,
            backend="cuda",
            dtype=dtype,
            device=device,
            algorithm_list=list(operations(robot)),
        )


def call_of(robot: str, name: str, dtype: str = "float32") -> OperationCall:
    """Return the generated call of an operation, whatever method its plugin brings."""
    (found,) = [c for c in handle(robot, dtype).calls() if c.algorithm.name == name]
    return found


@functools.cache
def _available() -> Any:
    return plugin_manager().select(plugin_manager().algorithms.names).available


def possible(robot: str, name: str) -> bool:
    made = handle(robot)
    available = _available()
    return refusal(available[name], available, made.model, made.options) is None


def variants(algorithm: Algorithm) -> list[tuple[str, ...]]:
    """No optional input, each alone, and all."""
    optional = [p.name for p in algorithm.inputs if p.optional]
    found = [(), *((name,) for name in optional), tuple(optional)]
    return list(dict.fromkeys(found))


def inputs_of(
    robot: str,
    name: str,
    batch: int,
    present: tuple[str, ...] = (),
    dtype: str = "float32",
    seed: int = 0,
) -> dict[str, Any]:
    """Random inputs in the handle's precision; numbers are those that precision has."""
    made = handle(robot, dtype)
    algorithm = plugin_manager().algorithms.take(name).value
    drawn = random_inputs(
        algorithm, made.model, made.options, batch=batch, present=present, seed=seed
    )
    return {
        k: float(np.asarray(v, dtype)) if isinstance(v, float) else v.astype(dtype)
        for k, v in drawn.items()
    }


def reference(robot: str, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the textbook's results for the inputs as they are, in float64."""
    made = handle(robot)
    available = _available()
    exact = {k: v if isinstance(v, float) else v.astype(np.float64) for k, v in inputs.items()}
    return evaluate_reference(available[name], available, made.model, made.options, exact)


def as_results(call: OperationCall, results: Any) -> dict[str, Any]:
    """Name an operation's results."""
    if len(call.outputs) == 1:
        return {call.outputs[0].name: results}
    return {port.name: value for port, value in zip(call.outputs, results, strict=True)}


def allowed(robot: str, name: str, dtype: str, inputs: dict[str, Any]) -> Any:
    """Return the relative error, in the norm, that each problem may show.

    Inverse dynamics: 2e-5 in float32, 1e-12 in float64. What inverts M: that times M's condition
    (with a unit diagonal), squared for derivatives. Poses lose digits where their angles are
    singular.
    """
    algorithm = plugin_manager().algorithms.take(name).value
    base = {"float32": 2e-5, "float64": 1e-12}[dtype]
    batch = max((len(v) for v in inputs.values() if not isinstance(v, float)), default=1)
    if algorithm.family == "fd":
        M = Reference(model(robot))("crba", q=inputs["q"].astype(np.float64))
        power = 2 if "gradient" in name else 1
        return base * np.maximum(1.0, condition(M)) ** power
    if algorithm.family == "id" and "gradient" not in name:
        return np.full(batch, base)
    return np.full(batch, 1000.0 * base)


def require_close(got: dict[str, Any], expected: dict[str, Any], tolerance: Any, what: str) -> None:
    """Compare problem by problem in the norm."""
    assert set(got) == set(expected)
    for name, value in expected.items():
        actual = np.asarray(got[name], np.float64)
        assert actual.shape == value.shape, f"{what}: {name} {actual.shape} {value.shape}"
        if not value.size:
            continue
        assert np.isfinite(actual).all(), f"{what}: {name} is not finite"
        error = np.linalg.norm((actual - value).reshape(len(value), -1), axis=1)
        size = np.maximum(np.linalg.norm(value.reshape(len(value), -1), axis=1), 1.0)
        worst = int(np.argmax(error / size / tolerance))
        assert error[worst] <= tolerance[worst] * size[worst], (
            f"{what}: {name} of problem {worst} is off by {error[worst] / size[worst]:.2e}, "
            f"allowed are {tolerance[worst]:.2e}"
        )


def only(inputs: dict[str, Any], rows: Any) -> dict[str, Any]:
    """Return some rows of every array."""
    return {
        k: v if isinstance(v, float) else np.ascontiguousarray(v[rows]) for k, v in inputs.items()
    }


def fresh(robot: str = "iiwa14", **options: Any) -> RobotHandle:
    """Load a robot that the test may close."""
    found, floating = ROBOTS[robot]
    given = {"backend": "cuda", "dtype": "float32", "floating_base": floating, **options}
    return grid_core.load_robot(urdf_string=found.source(), **given)
