"""The end-effector family: poses of targets, their derivatives, and frames' Jacobians."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from grid_core.algorithm import Algorithm, BenchmarkCase, Context, Port
from grid_core.errors import ArgumentError
from grid_core.hookspecs import hookimpl
from grid_core.model.types import JointKind
from grid_core.offsets import offset_transforms
from grid_core.targets import find_frame, find_targets, require_name, require_names
from grid_core.wording import brief, listing
from grid_plugins.eepose import program, reference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.algorithm import Options
    from grid_core.model.types import Array, RobotModel
    from grid_core.operation_call import OperationCall

REFERENCE_FRAMES = ("local_world_aligned", "local", "world")
MOST_TARGETS = 16
"""Run-time targets of one kernel; more are taken in groups."""
MOST_JOINTS = 32
"""Joints that `fk_batched` is for."""


def runtime(
    call: OperationCall,
    q: Any,
    ee_joint_names: str | Sequence[str] | None = None,
    ee_offsets: Any = None,
    *,
    out: Any = None,
) -> Any:
    """Evaluate targets that each call chooses.

    The names and offsets are data to one compiled operation: other targets need no compilation,
    only another number of them does, once.

    Args:
        call: the generated call.
        q: configurations, (B, nq) or (nq,).
        ee_joint_names: joints or named fixed joints; None: every leaf joint.
        ee_offsets: where on each target, in its frame [m]: None for its origin; a point
            [x, y, z], a homogeneous point [x, y, z, 1] or a 4×4 transform, whose rotation
            counts; or a list of them, one for all targets or one for each. A 4×4 array whose
            last row is [0, 0, 0, 1] is one transform, for all.
        out: array to write the result into.

    Returns:
        Of the targets of the call, NEE of them, the poses [x y z roll pitch yaw] in the world
        [m, rad], (B, NEE, 6); of `end_effector_pose_gradient_runtime` their derivatives along
        the velocity's coordinates, (B, NEE, 6, nv).
    """
    model, name = call.model, call.__name__
    names = require_names(f"{name}: ee_joint_names", ee_joint_names)
    targets = find_targets(model, names)
    bodies, placed = _as_data(model, targets, offset_transforms(name, ee_offsets, len(targets)))
    starts = range(0, max(len(targets), 1), MOST_TARGETS)
    if len(starts) == 1:
        return _run(call, q, bodies, placed, out)
    parts = [
        _run(call, q, bodies[k : k + MOST_TARGETS], placed[k : k + MOST_TARGETS], None)
        for k in starts
    ]
    if not isinstance(parts[0], np.ndarray):
        raise ArgumentError(f"{name}: at most {MOST_TARGETS} targets a call on a device")
    return np.concatenate(parts, axis=-len(call.algorithm.outputs[0].shape), out=out)


def _as_data(model: RobotModel, targets: Sequence[int], offsets: Array) -> tuple[Array, Array]:
    """Return the targets' bodies (nee,), and the placements (nee, 3, 4) of the offsets in them."""
    frames = [model.frames[target] for target in targets]
    placed = np.array([frame.placement for frame in frames]).reshape(len(frames), 4, 4) @ offsets
    return np.array([frame.body for frame in frames], dtype=np.float64), placed[:, :3]


def drawn_targets(model: RobotModel, options: Options, rng: np.random.Generator) -> dict[str, Any]:
    """Draw what a call might ask for: a tool at each target, as far off as a hand is long."""
    offsets = np.tile(np.eye(4), (len(options.targets), 1, 1))
    offsets[:, :3, 3] = rng.uniform(-0.1, 0.1, (len(options.targets), 3))
    bodies, placed = _as_data(model, options.targets, offsets)
    return {"body": bodies, "placement": placed}


def _run(call: OperationCall, q: Any, bodies: Any, placements: Any, out: Any) -> Any:
    count = len(bodies)
    if count != len(call.options.targets):
        # What the targets are is data; only their number is compiled in.
        call = call.specialised(count, lambda options: evolve(options, targets=(0,) * count))
    return call(q, body=bodies, placement=placements, out=out)


def jacobian(
    call: OperationCall,
    q: Any,
    frame: str | None = None,
    reference_frame: str = "local_world_aligned",
    *,
    out: Any = None,
) -> Any:
    """Return the geometric Jacobian of a frame: V = J v, V = [linear; angular].

    The angular rows are an angular velocity, not rates of roll, pitch and yaw, so there is no
    singularity. Each frame is compiled at its first use, for its own chain alone.

    Args:
        call: the generated call.
        q: configurations, (B, nq) or (nq,).
        frame: a joint, a fixed joint or a link; None: the first end effector.
        reference_frame: ``local_world_aligned``: velocity of the frame's origin, world axes;
            ``local``: the same in the frame's axes; ``world``: the spatial velocity at the
            world's origin.
        out: array to write the result into.
    """
    return _of_frame(call, frame, reference_frame)(q, out=out)


def jacobian_dot(
    call: OperationCall,
    q: Any,
    qd: Any,
    frame: str | None = None,
    reference_frame: str = "local_world_aligned",
    *,
    out: Any = None,
) -> Any:
    """Return the time derivative of the geometric Jacobian, so that V̇ = J v̇ + J̇ v.

    Args:
        call: the generated call.
        q: configurations, (B, nq) or (nq,).
        qd: velocities, (B, nv) or (nv,).
        frame: a joint, a fixed joint or a link; None: the first end effector.
        reference_frame: as for `frame_jacobian`.
        out: array to write the result into.
    """
    return _of_frame(call, frame, reference_frame)(q, qd, out=out)


def placement(call: OperationCall, q: Any, frame: str | None = None, *, out: Any = None) -> Any:
    """Return a frame's placement in the world as a homogeneous matrix.

    Args:
        call: the generated call.
        q: configurations, (B, nq) or (nq,).
        frame: a joint, a fixed joint or a link; None: the first end effector.
        out: array to write the result into.
    """
    if frame is None:
        return call(q, out=out)  # whatever the axes of its Jacobian
    return _of_frame(call, frame, REFERENCE_FRAMES[0])(q, out=out)


def _of_frame(call: OperationCall, frame: str | None, reference_frame: str) -> OperationCall:
    """Return the call that is compiled for a frame."""
    if frame is None and reference_frame is call.options.reference_frame:
        return call  # as nearly always
    if frame is not None:
        require_name(f"{call.__name__}: frame", frame)
    kind = reference_frame.lower() if isinstance(reference_frame, str) else None
    if kind is None or kind not in REFERENCE_FRAMES:
        raise ArgumentError(
            f"{call.__name__}: reference_frame must be {listing(REFERENCE_FRAMES, 'or')}; "
            f"got {brief(reference_frame)}"
        )
    if frame is None and kind == call.options.reference_frame:
        return call

    def change(options: Any) -> Any:
        chosen = () if frame is None else (find_frame(call.model, frame, "frame"),)
        return evolve(options, targets=chosen or options.targets, reference_frame=kind)

    return call.specialised((frame, kind), change)


def first_leaf_pose(call: OperationCall, q: Any, use_warp: bool = False, *, out: Any = None) -> Any:
    """Return the first leaf's pose [tx ty tz qw qx qy qz], scalar first, qw ≥ 0.

    q is in Pinocchio's convention whatever the handle's.

    Args:
        call: the generated call.
        q: configurations, (B, nq) or (nq,).
        use_warp: changes nothing; there is one way to compute it.
        out: array to write the result into.
    """
    del use_warp
    return call(q, out=out)


def refuse_fk_batched(ctx: Context[Any]) -> str | None:
    """Say which robots `fk_batched` is not for."""
    model, cure = ctx.model, "use end_effector_pose"
    ball = next((j.name for j in model.joints if j.kind is JointKind.SPHERICAL), None)
    if ball is not None:
        return f"joint {ball!r} is spherical; {cure}"
    if model.nj > MOST_JOINTS:
        return f"it has {model.nj} joints, more than {MOST_JOINTS}; {cure}"
    if not model.joints:
        return f"it has no joint; {cure}"
    return None


SPECIFICATION = "kinematics specification: pose, Jacobian and Hessian of end effectors"
FEATHERSTONE = "Featherstone 2008, chapter 2 and section 4.4"
Q = Port(name="q", shape=("nq",), unit="rad, m", doc="configuration")
Q_XYZW = evolve(Q, role="own")
QD = Port(
    name="qd",
    shape=("nv",),
    unit="rad/s, m/s",
    frame="as q moves",
    doc="velocity",
    role="own",  # the columns are traced in the caller's coordinates
)
BODY = Port(
    name="body",
    shape=("nee",),
    unit="body ID",
    doc="the bodies that carry the targets, -1 for the root",
    uniform=True,
    default=-1.0,
)
PLACEMENT = Port(
    name="placement",
    shape=("nee", 3, 4),
    unit="m",
    frame="each target's body",
    doc="upper rows of the targets' placements",
    uniform=True,
    default=0.0,
)
SIX = "[x y z roll pitch yaw]; pitch within ±π/2, where roll and yaw alone are undefined"
TANGENT = "rows as the pose, columns as v"


def _operation(
    name: str,
    summary: str,
    output: Port,
    *,
    pinocchio: str | None = None,
    shared: Any = None,
    **more: Any,
) -> Algorithm:
    """Fill in what all of the family have alike."""
    given: dict[str, Any] = {"inputs": (Q,), "source": SPECIFICATION, **more}
    return Algorithm(
        name=name,
        family="eepose",
        summary=summary,
        outputs=(output,),
        reference=getattr(reference, name),
        program=getattr(program, name),
        constants=("placements",),
        benchmarks=(BenchmarkCase(label=name, inputs=(), pinocchio=pinocchio, shared=shared),),
        **given,
    )


def _pose(name: str, shape: tuple[Any, ...], doc: str, unit: str = "m, rad") -> Port:
    return Port(name=name, shape=shape, unit=unit, frame="world", doc=doc)


def _gradient(shape: tuple[Any, ...], doc: str) -> Port:
    return Port(
        name="J", shape=shape, unit="m or rad per rad or m", frame=TANGENT, doc=doc, role="own"
    )


def _jacobian(name: str) -> Port:
    return Port(
        name=name,
        shape=(6, "nv"),
        frame="as reference_frame says",
        doc="linear rows first",
        role="own",
    )


ALGORITHMS = (
    _operation(
        "end_effector_pose",
        "Position and roll, pitch, yaw of each end effector, R = Rz(yaw) Ry(pitch) Rx(roll).",
        _pose("pose", ("6*nee",), SIX),
        pinocchio="updateFramePlacements",
    ),
    _operation(
        "end_effector_pose_gradient",
        "First derivatives of the pose's coordinates along the tangent: ∂pose(q ⊕ v)/∂v.",
        _gradient(("6*nee", "nv"), "rates of the angles, not an angular velocity; singular"),
        pinocchio="computeFrameJacobian",
    ),
    _operation(
        "end_effector_pose_hessian",
        "Second derivatives of the pose's coordinates along the tangent: ∂²pose(q ⊕ v)/∂v².",
        Port(
            name="H",
            shape=("6*nee", "nv", "nv"),
            unit="m or rad per rad², rad m or m²",
            frame=TANGENT,
            doc="symmetric in its last two axes; singular at pitch ±π/2",
            role="own",
        ),
    ),
    _operation(
        "end_effector_pose_quaternion",
        "Position and unit quaternion xyzw of each end effector: no singularity.",
        _pose("pose", ("7*nee",), "[x y z qx qy qz qw] of each target, qw ≥ 0", "m, 1"),
        pinocchio="updateFramePlacements",
    ),
    _operation(
        "end_effector_pose_runtime",
        "The pose of targets that each call chooses, any joints and fixed frames.",
        _pose("pose", ("nee", 6), SIX),
        inputs=(Q, BODY, PLACEMENT),
        method=runtime,
        shared=drawn_targets,
        default=False,
    ),
    _operation(
        "end_effector_pose_gradient_runtime",
        "First derivatives of the pose of targets that each call chooses.",
        _gradient(("nee", 6, "nv"), "as end_effector_pose_gradient"),
        inputs=(Q, BODY, PLACEMENT),
        method=runtime,
        shared=drawn_targets,
        default=False,
    ),
    _operation(
        "fk_batched",
        "Position and quaternion wxyz of the first leaf, for up to 32 joints, none spherical.",
        _pose("pose", (7,), "[tx ty tz qw qx qy qz], qw ≥ 0", "m, 1"),
        inputs=(Q_XYZW,),
        refuse=refuse_fk_batched,
        method=first_leaf_pose,
        pinocchio="updateFramePlacements",
    ),
    _operation(
        "frame_jacobian",
        "Geometric Jacobian of a frame: its velocity [linear; angular] is J v.",
        _jacobian("J"),
        source=FEATHERSTONE,
        method=jacobian,
        pinocchio="computeFrameJacobian",
    ),
    _operation(
        "frame_jacobian_dot",
        "Time derivative of a frame's geometric Jacobian.",
        _jacobian("dJ"),
        inputs=(Q, QD),
        source=FEATHERSTONE,
        method=jacobian_dot,
    ),
    _operation(
        "frame_placement",
        "Placement of a frame in the world, as a homogeneous matrix.",
        _pose("T", (4, 4), "T_world_frame, by rows", "m"),
        source=FEATHERSTONE,
        method=placement,
        pinocchio="updateFramePlacements",
    ),
    _operation(
        "forward_kinematics",
        "Placement of every body's joint frame in the world, as homogeneous matrices.",
        _pose("T", ("nb", 4, 4), "T_world_body, by rows", "m"),
        source=FEATHERSTONE,
        pinocchio="forwardKinematics",
    ),
)


@hookimpl
def grid_algorithms() -> list[Algorithm]:
    """Offer the family."""
    return list(ALGORITHMS)
