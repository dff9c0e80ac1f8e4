"""The end-effector family: poses of targets, their derivatives, and frames' Jacobians."""

from __future__ import annotations

from grid_core.algorithm import Algorithm, BenchmarkCase, Port
from grid_core.hookspecs import hookimpl
from grid_plugins.eepose import program, reference

Q = Port(name="q", shape=("nq",), unit="rad, m", doc="configuration")
SPECIFICATION = "kinematics specification: pose, Jacobian and Hessian of end effectors"

POSE = Algorithm(
    name="end_effector_pose",
    family="eepose",
    summary="Position and roll, pitch, yaw of each end effector, R = Rz(yaw) Ry(pitch) Rx(roll).",
    source=SPECIFICATION,
    inputs=(Q,),
    outputs=(
        Port(
            name="pose",
            shape=("6*nee",),
            unit="m, rad",
            frame="world",
            doc="[x y z roll pitch yaw] of each target; pitch in ±π/2, where roll and yaw part",
        ),
    ),
    reference=reference.end_effector_pose,
    program=program.end_effector_pose,
    benchmarks=(
        BenchmarkCase(label="end_effector_pose", inputs=(), pinocchio="updateFramePlacements"),
    ),
)

GRADIENT = Algorithm(
    name="end_effector_pose_gradient",
    family="eepose",
    summary="First derivatives of the pose's coordinates along the tangent: ∂pose(q ⊕ v)/∂v.",
    source=SPECIFICATION,
    inputs=(Q,),
    outputs=(
        Port(
            name="J",
            shape=("6*nee", "nv"),
            unit="m/rad, m/m, rad/rad, rad/m",
            frame="rows as the pose, columns as v",
            doc="not the geometric Jacobian: rows of roll, pitch, yaw; singular at pitch ±π/2",
        ),
    ),
    reference=reference.end_effector_pose_gradient,
    program=program.end_effector_pose_gradient,
    benchmarks=(
        BenchmarkCase(
            label="end_effector_pose_gradient", inputs=(), pinocchio="computeFrameJacobian"
        ),
    ),
)

HESSIAN = Algorithm(
    name="end_effector_pose_hessian",
    family="eepose",
    summary="Second derivatives of the pose's coordinates along the tangent: ∂²pose(q ⊕ v)/∂v².",
    source=SPECIFICATION,
    inputs=(Q,),
    outputs=(
        Port(
            name="H",
            shape=("6*nee", "nv", "nv"),
            unit="m, rad per rad², rad m or m²",
            frame="rows as the pose, both other axes as v",
            doc="symmetric in its last two axes; singular at pitch ±π/2",
        ),
    ),
    reference=reference.end_effector_pose_hessian,
    program=program.end_effector_pose_hessian,
    benchmarks=(BenchmarkCase(label="end_effector_pose_hessian", inputs=()),),
)


@hookimpl
def grid_algorithms() -> list[Algorithm]:
    """Offer the family."""
    return [POSE, GRADIENT, HESSIAN]
