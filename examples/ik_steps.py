"""A plugin: a few steps of damped least squares towards a placement, compiled as one program.

It is written over two of Grid's own operations, whose arithmetic is traced into it. Limits have no
part in it: held at them, descents get stuck more often than they end within.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grid_core.algorithm import Algorithm, Context, Port
from grid_core.hookspecs import hookimpl
from grid_core.model.types import JointKind
from grid_core.program import LTDL, atan2, maximum, sqrt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STEPS = 4
"""Steps of one call."""
DAMPING = 0.05
"""Times the squared error: steps get bolder as it falls."""
LEAST = 1e-9
"""Damping that is always there, for singular configurations."""
LONGEST = 1.0
"""Longest step [rad]."""


def reference(ctx: Context[Any]) -> Mapping[str, Any]:
    """The steps in NumPy, for a batch."""
    q, target = ctx["q"], ctx["target"]
    for _ in range(STEPS):
        twist = _twist(ctx.call("frame_placement", q=q)["T"], target)
        J = ctx.call("frame_jacobian", q=q)["J"]
        damping = DAMPING * np.sum(twist**2, axis=1) + LEAST
        A = J @ J.swapaxes(1, 2) + damping[:, None, None] * np.eye(6)
        step = (J.swapaxes(1, 2) @ np.linalg.solve(A, twist[..., None]))[..., 0]
        length = np.linalg.norm(step, axis=1, keepdims=True)
        q = q + step * (LONGEST / np.maximum(length, LONGEST))
    return {"q_next": q, "error": distances(ctx.call("frame_placement", q=q)["T"], target)}


def distances(T: Any, target: Any) -> Any:
    """Distance [m] and angle [rad] from frames to their targets, (B, 2)."""
    return np.linalg.norm(_twist(T, target).reshape(-1, 2, 3), axis=2)


def _twist(T: Any, target: Any) -> Any:
    """[linear; angular] that leads from a frame to its target, in the world's axes, (B, 6)."""
    R = target[:, :3, :3] @ T[:, :3, :3].swapaxes(1, 2)
    skew = R - R.swapaxes(1, 2)
    axis = 0.5 * np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)
    sine = np.linalg.norm(axis, axis=1)
    angle = np.arctan2(sine, 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0))
    turn = axis * (angle / np.maximum(sine, 1e-30))[:, None]
    return np.concatenate([target[:, :3, 3] - T[:, :3, 3], turn], axis=1)


def program(ctx: Context[Any]) -> Mapping[str, Any]:
    """The same over symbolic scalars, for one problem: every loop here is unrolled."""
    q, target = list(ctx["q"]), ctx["target"]
    for _ in range(STEPS):
        twist = _symbolic_twist(ctx, q, target)
        J = ctx.call("frame_jacobian", q=np.array(q, dtype=object))["J"]
        damping = DAMPING * _dot(twist, twist) + LEAST
        A = J @ J.T + damping * np.eye(6)
        step = J.T @ np.array(LTDL(A).solve(twist), dtype=object)
        shrink = LONGEST / maximum(sqrt(_dot(step, step)), LONGEST)
        q = [at + shrink * change for at, change in zip(q, step, strict=True)]
    twist = _symbolic_twist(ctx, q, target)
    error = [sqrt(_dot(part, part)) for part in (twist[:3], twist[3:])]
    return {"q_next": q, "error": error}


def _symbolic_twist(ctx: Context[Any], q: Sequence[Any], target: Any) -> list[Any]:
    T = ctx.call("frame_placement", q=np.array(q, dtype=object))["T"]
    R = target[:3, :3] @ T[:3, :3].T
    axis = [0.5 * (R[i, j] - R[j, i]) for i, j in ((2, 1), (0, 2), (1, 0))]
    sine = sqrt(_dot(axis, axis))
    angle = atan2(sine, 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0))
    scale = angle / maximum(sine, 1e-30)
    return [*(target[:3, 3] - T[:3, 3]), *(scale * x for x in axis)]


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


def refuse(ctx: Context[Any]) -> str | None:
    """Say which robots it is not for."""
    kinds = {JointKind.SPHERICAL, JointKind.FLOATING}
    turning = next((j.name for j in ctx.model.joints if j.kind in kinds), None)
    return turning and f"joint {turning!r} has more than one coordinate"


IK_STEPS = Algorithm(
    name="ik_steps",
    family="ik",
    summary="Configurations nearer to a placement of the first end effector.",
    source="Sugihara 2011, Solvability-unconcerned inverse kinematics by Levenberg-Marquardt",
    inputs=(
        Port(name="q", shape=("nq",), unit="rad, m", doc="configuration"),
        Port(name="target", shape=(4, 4), unit="m", doc="T_world_frame, by rows"),
    ),
    outputs=(
        Port(name="q_next", shape=("nq",), unit="rad, m", doc="configuration after the steps"),
        Port(name="error", shape=(2,), unit="m, rad", doc="distance and angle that are left"),
    ),
    needs=("frame_placement", "frame_jacobian"),
    reference=reference,
    program=program,
    refuse=refuse,
)


@hookimpl
def grid_algorithms() -> list[Algorithm]:
    """Offer the steps."""
    return [IK_STEPS]
