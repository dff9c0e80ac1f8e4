"""The same robot in grid-rbd, and arrays in the order of its joints.

Run as a program, it builds a robot into grid-rbd's cache:
``python -m grid_core.bench.grid_rbd_robot robot.urdf fixed crba,minv 131072``.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import IO, TYPE_CHECKING, Any

from attrs import field, frozen

from grid_core.bench.contender import Declined
from grid_core.bench.grid_rbd_order import Order
from grid_core.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grid_core.bench.robot import Robot
    from grid_core.model.types import RobotModel

__all__ = ["MAX_BATCH", "GridRbdRobot", "find_grid_rbd", "prebuild"]

MAX_BATCH = 131072
"""The largest batch that it is built for, where nothing else is said: it holds memory for it."""


def find_grid_rbd() -> Any:
    """Return the module ``grid_rbd``.

    Raises:
        OptionError: it is not installed.
    """
    try:
        return importlib.import_module("grid_rbd")
    except ImportError as error:
        raise OptionError(
            f"the peer grid-rbd cannot be imported ({error}): pip install 'grid-rbd[torch]'; to "
            "build robots it also needs nvcc and a C++ compiler"
        ) from error


@frozen
class GridRbdRobot:
    """A robot built by grid-rbd from the URDF that Grid read."""

    handle: Any = field(repr=False)
    q: tuple[int, ...]
    """For each entry of its q, the place in Grid's."""
    v: tuple[int, ...]
    """For each entry of its velocities, the place in Grid's."""
    order: Order
    """Where in its results Grid's entries are."""

    @classmethod
    def load(
        cls,
        module: Any,
        robot: Robot,
        ours: RobotModel,
        algorithms: Sequence[str],
        max_batch: int = MAX_BATCH,
    ) -> GridRbdRobot:
        """Build it, or take it from its cache, and match the joints by name.

        Raises:
            Declined: there is no URDF file, it cannot be built, or it has other joints.
        """
        if robot.path is None:
            raise Declined("there is no URDF file for grid-rbd to read")
        try:
            handle = _build(module, str(robot.path), ours.floating_base, algorithms, max_batch)
        except Exception as error:
            said = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise Declined(f"grid-rbd does not build {robot.name}: {said}") from error
        names = getattr(handle, "joint_names", None)
        if names is None:  # its handle for PyTorch wraps the one that knows them
            names = getattr(getattr(handle, "_base", None), "joint_names", None)
        q, v = match_joints(names or (), ours)
        if (handle.num_joints, handle.num_vel) != (ours.nq, ours.nv):
            raise Declined(
                f"grid-rbd has nq={handle.num_joints} and nv={handle.num_vel} for {robot.name}, "
                f"not {ours.nq} and {ours.nv}"
            )
        back = tuple(v.index(k) for k in range(len(v)))
        return cls(handle, q, v, Order(back, match_ends(names or (), ours)))

    def columns(self, name: str) -> list[int]:
        """Return the places in Grid's array of the entries of an input's."""
        return list(self.q if name == "q" else self.v)


def match_joints(names: Iterable[str], ours: RobotModel) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return where each entry of its q and of its velocities is in Grid's.

    Args:
        names: its joints in the order of its vectors; a floating base goes first whatever its
            name, [xyz, quaternion xyzw] and [linear, angular] in both libraries.
        ours: the robot.

    Raises:
        Declined: it has not the same joints.
    """
    base = 1 if ours.floating_base else 0
    mine = {joint.name: joint for joint in ours.joints[base:]}
    q, v = (list(range(7)), list(range(6))) if base else ([], [])
    theirs = list(names)
    if base and len(theirs) == len(mine) + 1 and theirs[0] not in mine:
        theirs.pop(0)
    if sorted(theirs) != sorted(mine):
        raise Declined(f"grid-rbd has other joints: {', '.join(theirs) or 'it names none'}")
    for name in theirs:
        joint = mine[name]
        if joint.q_start is None or joint.v_start is None or joint.nq != 1:
            raise Declined(f"no comparison with a joint such as {name!r}")
        q.append(joint.q_start)
        v.append(joint.v_start)
    return tuple(q), tuple(v)


def match_ends(names: Iterable[str], ours: RobotModel) -> tuple[int, ...]:
    """Return for each of Grid's end effectors, the joints that carry none, its place among its.

    Args:
        names: its joints in the order of its vectors, the order of its end effectors too.
        ours: the robot.
    """
    carrying = {joint.parent for joint in ours.joints}
    mine = [joint.name for joint in ours.joints if joint.id not in carrying]
    theirs = [name for name in names if name in mine]
    return tuple(theirs.index(name) for name in mine if name in theirs)


def prebuild(
    robots: Iterable[tuple[Robot, bool]],
    algorithms: Sequence[str],
    *,
    timeout_s: float,
    max_batch: int = MAX_BATCH,
) -> dict[str, str]:
    """Build robots side by side, each in a process of its own, into grid-rbd's cache.

    Args:
        robots: each with whether its base floats.
        algorithms: what to build.
        max_batch: the largest batch to build for.
        timeout_s: a build that takes longer is given up [s].

    Returns:
        What went wrong, by the robot's name.
    """
    end = time.monotonic() + timeout_s
    faults = {}
    with contextlib.ExitStack() as stack:
        running = {}
        for robot, floats in robots:
            if robot.path is not None:
                # A file, as a pipe that nobody reads yet would stop a compiler that says much.
                said = stack.enter_context(tempfile.TemporaryFile("w+", errors="replace"))
                base = "floating" if floats else "fixed"
                what = [str(robot.path), base, ",".join(algorithms), str(max_batch)]
                process = _start(what, said)
                stack.callback(_stop, process)
                running[robot.name] = (process, said)
        for name, (process, said) in running.items():
            try:
                code = process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                faults[name] = f"its build took over {timeout_s:.0f} s"
                continue
            if code:
                said.seek(0)
                faults[name] = (said.read().strip().splitlines() or [f"exit code {code}"])[-1]
    return faults


def _start(arguments: list[str], said: IO[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "grid_core.bench.grid_rbd_robot", *arguments]
    return subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.DEVNULL, stderr=said, text=True, start_new_session=True
    )


def _stop(process: subprocess.Popen[str]) -> None:
    """End a build that still runs, with the compilers that it started."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _build(
    module: Any, path: str, floating: bool, algorithms: Sequence[str], max_batch: int
) -> Any:
    return module.load_robot(
        path,
        backend="torch",
        floating_base=floating,
        enable_mujoco_kernels=False,
        max_batch_size=max_batch,
        algorithm_list=list(algorithms),
    )


if __name__ == "__main__":
    _path, _base, _algorithms, _batch = sys.argv[1:]
    _build(find_grid_rbd(), _path, _base == "floating", _algorithms.split(","), int(_batch))
