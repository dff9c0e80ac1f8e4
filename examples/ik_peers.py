"""Other solvers of inverse kinematics, each at the settings that served it best.

Both start again at random until they arrive within the limits, as Grid's example does.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["PEERS", "Peer"]

STARTS = 100
"""At most."""


@frozen
class Peer:
    """One library."""

    name: str
    targets: int
    """How many are enough to time it."""
    prepare: Callable[[Path, str], Callable[[Any], Any]]
    """From a URDF and the joint at its tip to a function from a target to joint angles."""


def _roboticstoolbox(path: Path, joint: str) -> Callable[[Any], Any]:
    """Levenberg and Marquardt's method after Chan, in C++.

    ``pip install roboticstoolbox-python``. Of its methods and dampings this one was the quickest
    here, and found every target.
    """
    import roboticstoolbox  # type: ignore[import-not-found] # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = roboticstoolbox.Robot.URDF(str(path))
    chain = robot.ets(end=joint.replace("joint", "link"))

    def solve(target: Any) -> Any:
        # Its residual is half the squared error: 0.1 mm and 0.1 mrad.
        found = chain.ik_LM(target, ilimit=30, slimit=STARTS, tol=5e-9, k=0.1, method="chan")
        return found.q

    return solve


def _pinocchio(path: Path, joint: str) -> Callable[[Any], Any]:
    """The closed loop of Pinocchio's documentation, called from Python.

    ``pip install pin``. With whole steps, damped by the squared error, and starts at random, in
    place of the documentation's thousand small steps from one start.
    """
    import pinocchio as pin  # noqa: PLC0415

    model = pin.buildModelFromUrdf(str(path))
    data, last = model.createData(), model.getJointId(joint)
    low, high = model.lowerPositionLimit, model.upperPositionLimit
    rng = np.random.default_rng(0)

    def descend(goal: Any, q: Any) -> Any | None:
        for _ in range(30):
            pin.forwardKinematics(model, data, q)
            off = data.oMi[last].actInv(goal)
            error = pin.log6(off).vector
            if np.linalg.norm(error) < 1e-4:
                return q - 2.0 * np.pi * np.round(q / (2.0 * np.pi))
            J = -pin.Jlog6(off.inverse()) @ pin.computeJointJacobian(model, data, q, last)
            damping = 0.05 * (error @ error) + 1e-9
            step = J.T @ np.linalg.solve(J @ J.T + damping * np.eye(6), error)
            q = pin.integrate(model, q, -step / max(1.0, np.linalg.norm(step)))
        return None

    def solve(target: Any) -> Any:
        goal = pin.SE3(target)
        for _ in range(STARTS):
            q = descend(goal, rng.uniform(low, high))
            if q is not None and np.all((q >= low) & (q <= high)):
                return q
        return np.full(model.nq, np.nan)

    return solve


PEERS = (
    Peer("roboticstoolbox-python (C++, one thread)", 5000, _roboticstoolbox),
    Peer("Pinocchio's closed loop (Python, one thread)", 300, _pinocchio),
)
