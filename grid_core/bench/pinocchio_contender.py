"""Pinocchio, in float64: its own parallel functions where it has them, a loop elsewhere."""

from __future__ import annotations

import os
import statistics
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from grid_core.bench.contender import Declined, Prepared, wall_clock
from grid_core.bench.pinocchio_functions import Function, find_function
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
        # Its threads would else spin after each call, on the core that Grid's need next.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        os.environ.setdefault("KMP_BLOCKTIME", "0")
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
        unknown = sorted({*case.inputs, *case.shared}.difference(_ARGUMENTS))
        if unknown:
            raise Declined(f"no comparison with {unknown}")
        robot = PinocchioRobot.read(self.pin, case.robot, case.model)
        shapes = [dim for port in case.algorithm.outputs for dim in port.shape]
        every = any("nee" in str(dim) for dim in shapes)
        targets = case.options.targets if every else case.options.targets[:1]
        names = [case.model.frames[target].name for target in targets]
        one = find_function(self.pin, function, robot.frames(self.pin, names))
        order = [name for name in _ARGUMENTS if name in case.inputs]
        states = [robot.state(name, case.inputs[name]) for name in order]
        self._try(function, one, robot.model, states)
        if case.batch == 1:
            return self._single(one, robot.model, states)
        if function in _PARALLEL and len(states) == 3:
            return self._parallel(_PARALLEL[function], robot.model, states, case.threads)
        idle = find_function(self.pin, function, [0] * len(names))
        return self._loop(one, idle, robot.model, states, case.threads)

    def _try(self, name: str, function: Function, model: Any, states: Sequence[Array]) -> None:
        """Call it once: a plugin's benchmark may name a function of other arguments."""
        try:
            function.call(model, model.createData(), *(state[0] for state in states))
        except Exception as error:
            reason = str(error).strip().splitlines()[:1]
            raise Declined(f"Pinocchio's {name} cannot be called so: {reason}") from error

    def _single(self, function: Function, model: Any, states: Sequence[Array]) -> Prepared:
        """Prepare one call as a user makes it, with all that Python adds."""
        data = model.createData()
        row = [state[0] for state in states]
        return Prepared(
            run=lambda: function.call(model, data, *row),
            boundary="call",
            problems=1,
            outputs=lambda: _collect(function, model, [row]),
            note=function.note,
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
        self,
        function: Function,
        idle: Function,
        model: Any,
        states: Sequence[Array],
        threads: int,
    ) -> Prepared:
        """Prepare a loop; `idle` is the same function, for a robot of one joint."""
        rows = list(zip(*(state[:LOOP_STATES] for state in states), strict=True))
        # There next to nothing is computed, so that the calls' own time is left.
        nothing = [(np.full(1, 0.1),) * len(states)] * len(rows)
        overhead = _repeat(idle, self._one_joint(), nothing)

        spent: list[float] = []

        def clock(timed: Callable[[], object], runs: int) -> float:
            total = wall_clock(timed, runs)
            spent.append(wall_clock(overhead, runs) / runs)
            # The median so far: one disturbed run of the empty loop would spoil the difference.
            return max(total - runs * statistics.median(spent), 0.02 * total)

        notes = [function.note, "loop, overhead subtracted"]
        notes += [f"divided by {threads}"] * (threads > 1)
        return Prepared(
            run=_repeat(function, model, rows),
            boundary="loop",
            # As if a loop in C++ spread over the threads without any loss.
            problems=len(rows) * threads,
            outputs=lambda: _collect(function, model, rows),
            clock=clock,
            note=", ".join(note for note in notes if note),
        )

    def _one_joint(self) -> Any:
        pin = self.pin
        model = pin.Model()
        model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "joint")
        model.appendBodyToJoint(1, pin.Inertia.Identity(), pin.SE3.Identity())
        return model


def _collect(function: Function, model: Any, rows: Sequence[Sequence[Array]]) -> list[Array]:
    """Return what the calls return, one array an output; nothing if they return nothing."""
    data = model.createData()
    found = [function.read(function.call(model, data, *row)) for row in rows]
    return [np.stack(column) for column in zip(*found, strict=True)]


def _repeat(
    function: Function, model: Any, rows: Sequence[Sequence[Array]]
) -> Callable[[], object]:
    data = model.createData()
    call = function.call

    def run() -> None:
        for row in rows:
            call(model, data, *row)

    return run
