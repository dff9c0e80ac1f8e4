"""MuJoCo's coordinates at a program's doors, so that what is inside knows Pinocchio's only.

MuJoCo has quaternions scalar first, and a free body's linear velocity along the world's axes:
v_m = T v with T = diag(R, 1). T is a rotation, so forces, Jacobians' columns and both sides of
a mass matrix turn by it as velocities do. Its acceleration is the derivative of that velocity,
v̇_m = T v̇ + Ṫ v: what it calls no acceleration still turns with the body.

The same lines serve symbolic scalars (axes as the port says) and batches of numbers (one more
axis before them).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from grid_core.model.types import JointKind
from grid_core.program.motion import quaternion_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grid_core.algorithm import Algorithm, Context, Dim, Port
    from grid_core.model.types import RobotModel

__all__ = [
    "from_native",
    "rest_of",
    "times_nv",
    "to_native",
    "undeclared",
    "wxyz_to_xyzw",
    "xyzw_to_wxyz",
]


def undeclared(algorithm: Algorithm, model: RobotModel) -> str | None:
    """Say why an algorithm cannot be had in MuJoCo's coordinates; None when it can."""
    if model.floating_base and not np.array_equal(model.joints[0].placement, np.eye(4)):
        return "MuJoCo counts a free body's position from the world, and its joint stands elsewhere"
    for port in (*algorithm.inputs, *algorithm.outputs):
        if any(times_nv(d) for d in port.shape) and not port.role:
            return f"its port {port.name!r} does not say how it reads in MuJoCo's coordinates"
    return None


def wxyz_to_xyzw(model: RobotModel, q: Any) -> Any:
    """Return configurations (..., nq) with quaternions scalar last."""
    return _permuted(model, q, (1, 2, 3, 0))


def xyzw_to_wxyz(model: RobotModel, q: Any) -> Any:
    """Return configurations (..., nq) with quaternions scalar first."""
    return _permuted(model, q, (3, 0, 1, 2))


def to_native(ctx: Context[Any]) -> Context[Any]:
    """Return the context that an algorithm sees."""
    if ctx.options.output_convention == "pinocchio":
        return ctx
    inputs: dict[str, Any] = dict(ctx.inputs)
    for port in ctx.algorithm.inputs:
        if port.shape == ("nq",) and port.role != "own" and inputs[port.name] is not None:
            inputs[port.name] = wxyz_to_xyzw(ctx.model, inputs[port.name])
    rows = _base(ctx.model, inputs, ctx.algorithm)
    if rows is None:
        return evolve(ctx, inputs=inputs)
    for port in ctx.algorithm.inputs:
        if inputs[port.name] is not None:
            inputs[port.name] = _turned(port, inputs[port.name], rows, back=True)
    velocity = _velocity(ctx.algorithm, inputs)
    if velocity is None:
        return evolve(ctx, inputs=inputs)
    rest = rest_of(velocity)
    for port in ctx.algorithm.inputs:
        if port.role == "acceleration":
            given = inputs[port.name]
            inputs[port.name] = rest if given is None else given + rest
    return evolve(ctx, inputs=inputs, rest=rest)


def from_native(native: Context[Any], outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return an algorithm's outputs in the caller's coordinates.

    Args:
        native: what `to_native` returned.
        outputs: what the algorithm made of it.
    """
    if native.options.output_convention == "pinocchio":
        return dict(outputs)
    rows = _base(native.model, native.inputs, native.algorithm)
    if rows is None:
        return dict(outputs)
    results = {}
    for port in native.algorithm.outputs:
        value = outputs[port.name]
        if port.role == "acceleration":
            value = value - native.rest
        results[port.name] = _turned(port, value, rows, back=False)
    return results


def rest_of(velocity: Any) -> Any:
    """Return the acceleration (..., nv) that MuJoCo calls zero: the base turns, moving straight."""
    rest = np.zeros_like(velocity)
    rest[..., :3] = -_cross(velocity[..., 3:6], velocity[..., :3])
    return rest


def _permuted(model: RobotModel, q: Any, order: tuple[int, ...]) -> Any:
    result = np.array(q)
    for joint in model.joints:
        if joint.q_start is not None and joint.nq >= 4:
            start = joint.q_start + joint.nq - 4
            result[..., start : start + 4] = q[..., [start + k for k in order]]
    return result


def _base(model: RobotModel, inputs: Mapping[str, Any], algorithm: Algorithm) -> Any:
    """R of the free body as rows, from the first configuration; None where there is none."""
    if not model.floating_base:
        return None
    start = next(j.q_start for j in model.joints if j.kind is JointKind.FLOATING)
    assert start is not None
    q = next((inputs[p.name] for p in algorithm.inputs if p.shape == ("nq",)), None)
    if q is None:
        return None
    x, y, z, w = (q[..., start + k] for k in (3, 4, 5, 6))
    return quaternion_matrix(x, y, z, w)


def _velocity(algorithm: Algorithm, inputs: Mapping[str, Any]) -> Any:
    return next((inputs[p.name] for p in algorithm.inputs if p.role == "velocity"), None)


def _turned(port: Port, value: Any, rows: Any, *, back: bool) -> Any:
    """T or Tᵀ along every axis that counts velocities."""
    if port.role == "own":
        return value
    for axis, dim in enumerate(port.shape):
        for block in range(times_nv(dim)):
            value = _turn(value, axis - len(port.shape), block, times_nv(dim), rows, back=back)
    return value


def times_nv(dim: Dim) -> int:
    """How often an axis counts velocities: 1 for ``nv``, 2 for ``2*nv``, 0 for others."""
    if not isinstance(dim, str):
        return 0
    factor, _, name = dim.rpartition("*")
    return int(factor or 1) if name == "nv" else 0


def _turn(value: Any, axis: int, block: int, blocks: int, rows: Any, *, back: bool) -> Any:
    parts = np.moveaxis(value, axis, 0)
    result = np.array(parts)
    start = block * (len(parts) // blocks)
    x, y, z = parts[start : start + 3]
    for i in range(3):
        factors = [_broad(rows[j][i] if back else rows[i][j], parts.ndim) for j in range(3)]
        result[start + i] = factors[0] * x + factors[1] * y + factors[2] * z
    return np.moveaxis(result, 0, axis)


def _broad(factor: Any, ndim: int) -> Any:
    """One number a problem, shaped to multiply arrays with the batch first."""
    if not isinstance(factor, np.ndarray) or factor.dtype == object:
        return factor
    return factor.reshape(factor.shape + (1,) * (ndim - 1 - factor.ndim))


def _cross(a: Any, b: Any) -> Any:
    x, y, z = (a[..., k] for k in range(3))
    u, v, w = (b[..., k] for k in range(3))
    result = np.array(a)
    result[..., 0], result[..., 1], result[..., 2] = y * w - z * v, z * u - x * w, x * v - y * u
    return result
