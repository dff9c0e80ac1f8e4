"""Pinocchio, in float64: its own parallel functions where it has them, a loop elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from grid_core.bench.contender import Declined, Prepared, wall_clock
from grid_core.bench.pinocchio_model import PinocchioRobot

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grid_core.bench.case import Case
    from grid_core.model.types import Array

__all__ = ["PinocchioContender"]

_PARALLEL = {"rnea": "rneaInParallel", "aba": "abaInParallel"}
"""What runs over a batch in C++, by the function for one state."""
_ARGUMENTS = ("q", "qd", "qdd", "u")
"""Inputs that Pinocchio's functions take, in their order."""
LOOP_STATES = 1024
"""A Python loop goes over so many states of the batch at most."""


@frozen
class PinocchioContender:
    """The peer on the CPU."""

    pin: Any = field(repr=False)
    """The module ``pinocchio``."""
    name: str = field(default="pinocchio", init=False)
    dtype: str = field(default="float64", init=False)
    peer: bool = field(default=True, init=False)

    @classmethod
    def installed(cls) -> PinocchioContender | None:
        """Return it, or None where it cannot be imported."""
        try:
            import pinocchio  # noqa: PLC0415 - optional, and slow to import
        except ImportError:
            return None
        return cls(pinocchio)

    def prepare(self, case: Case) -> Prepared:
        """Read the robot's URDF and convert the states.

        Raises:
            Declined: the operation has no counterpart, or the robot is not the same.
        """
        function = case.benchmark.pinocchio
        if function is None:
            raise Declined("Pinocchio has no such function")
        if set(case.inputs) - set(_ARGUMENTS):
            raise Declined(f"no comparison with {sorted(set(case.inputs) - set(_ARGUMENTS))}")
        if not hasattr(self.pin, function):
            raise Declined(f"this Pinocchio has no {function}")
        robot = PinocchioRobot.read(self.pin, case.robot, case.model)
        order = [name for name in _ARGUMENTS if name in case.inputs]
        states = [robot.state(name, case.inputs[name]) for name in order]
        call = getattr(self.pin, function)
        if case.batch == 1:
            return self._single(call, robot.model, states)
        if function in _PARALLEL and len(states) == 3:
            return self._parallel(_PARALLEL[function], robot.model, states, case.threads)
        return self._loop(call, robot.model, states, case.threads)

    def _single(self, call: Callable[..., Any], model: Any, states: Sequence[Array]) -> Prepared:
        """Prepare one call as a user makes it, with all that Python adds."""
        data = model.createData()
        row = [state[0] for state in states]
        return Prepared(
            run=lambda: call(model, data, *row),
            boundary="call",
            problems=1,
            outputs=lambda: _collect(call, model, [row]),
        )

    def _parallel(
        self, function: str, model: Any, states: Sequence[Array], threads: int
    ) -> Prepared:
        call = getattr(self.pin, function)
        pool = self.pin.ModelPool(model, threads)
        # Pinocchio has one state a column; a transposed row-major array is that, without a copy.
        columns = [state.T for state in states]
        out = np.empty((model.nv, len(states[0])), order="F")

        def run() -> None:
            call(threads, pool, *columns, out)

        def results() -> list[Array]:
            run()
            return [np.array(out.T)]

        return Prepared(run=run, boundary="call", problems=len(states[0]), outputs=results)

    def _loop(
        self, call: Callable[..., Any], model: Any, states: Sequence[Array], threads: int
    ) -> Prepared:
        rows = list(zip(*(state[:LOOP_STATES] for state in states), strict=True))
        run = _repeat(call, model, rows)
        idle = self._overhead(call, len(rows), len(states))

        def clock(timed: Callable[[], object], runs: int) -> float:
            total = wall_clock(timed, runs)
            return max(total - wall_clock(idle, runs), 0.02 * total)

        note = "loop, overhead subtracted" + (f", divided by {threads}" if threads > 1 else "")
        return Prepared(
            run=run,
            boundary="loop",
            # As if a loop in C++ spread over the threads without any loss.
            problems=len(rows) * threads,
            outputs=lambda: _collect(call, model, rows),
            clock=clock,
            note=note,
        )

    def _overhead(
        self, call: Callable[..., Any], count: int, arguments: int
    ) -> Callable[[], object]:
        """Return the same loop on a robot of one joint, where next to nothing is computed."""
        pin = self.pin
        model = pin.Model()
        model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "joint")
        model.appendBodyToJoint(1, pin.Inertia.Identity(), pin.SE3.Identity())
        return _repeat(call, model, [(np.full(1, 0.1),) * arguments] * count)


def _collect(call: Callable[..., Any], model: Any, rows: Sequence[Sequence[Array]]) -> list[Array]:
    """Return what the calls return, one array an output; nothing if they return nothing."""
    data = model.createData()
    found = [call(model, data, *row) for row in rows]
    if found[0] is None:
        return []
    parts = [one if isinstance(one, tuple) else (one,) for one in found]
    return [np.stack([np.array(x) for x in column]) for column in zip(*parts, strict=True)]


def _repeat(
    call: Callable[..., Any], model: Any, rows: Sequence[Sequence[Array]]
) -> Callable[[], object]:
    data = model.createData()

    def run() -> None:
        for row in rows:
            call(model, data, *row)

    return run
