"""Timing loads: cold with an empty build cache, then warm, each in a process of its own."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from grid_core.errors import BackendError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.bench.robot import Robot

__all__ = ["LoadTimes", "time_loads"]


@frozen(kw_only=True)
class LoadTimes:
    """Loads of one robot on one backend in one precision."""

    robot: str
    floating: bool
    backend: str
    dtype: str
    threads: int
    operations: tuple[str, ...] = field(repr=False)
    """What was compiled."""
    imports: tuple[float, ...]
    """``from grid_core import load_robot`` [s]."""
    cold: tuple[float, ...]
    """``load_robot`` after the import, with an empty build cache [s]."""
    warm: tuple[float, ...]
    """The same with the cache that the cold load left [s]."""

    def document(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "robot": self.robot,
            "floating": self.floating,
            "backend": self.backend,
            "dtype": self.dtype,
            "threads": self.threads,
            "operations": list(self.operations),
            "import_s": list(self.imports),
            "cold_s": list(self.cold),
            "warm_s": list(self.warm),
            "median_s": {
                "import": statistics.median(self.imports),
                "cold": statistics.median(self.cold),
                "warm": statistics.median(self.warm),
            },
        }


def time_loads(
    robot: Robot,
    *,
    backend: str,
    dtype: str,
    operations: Sequence[str] | None,
    threads: int,
    repeats: int,
) -> LoadTimes:
    """Load a robot `repeats` times cold and as often warm.

    Raises:
        BackendError: a load failed; what the process said is in the message.
    """
    floating = robot.load(backend="reference", dtype="float64").floating_base
    options = {
        **robot.options,
        "algorithm_list": list(operations or ("all",)),
        "backend": backend,
        "dtype": dtype,
        "num_threads": threads,
    }
    cold: list[dict[str, Any]] = []
    warm: list[dict[str, Any]] = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(prefix="grid-bench-") as folder:
            for kept in (cold, warm):
                kept.append(_load(robot, {**options, "cache_dir": folder}))
    return LoadTimes(
        robot=robot.name,
        floating=floating,
        backend=backend,
        dtype=dtype,
        threads=threads,
        operations=tuple(cold[0]["operations"]),
        imports=tuple(times["import_s"] for times in (*cold, *warm)),
        cold=tuple(times["load_s"] for times in cold),
        warm=tuple(times["load_s"] for times in warm),
    )


def _load(robot: Robot, options: dict[str, Any]) -> dict[str, Any]:
    path = None if robot.path is None else str(robot.path.absolute())
    task = json.dumps({"path": path, "name": robot.name, "options": options})
    # As text, not as a module of the package, whose import would then be over before its start.
    script = Path(__file__).with_name("load_once.py").read_text(encoding="utf-8")
    command = [sys.executable, "-W", "ignore", "-c", script, task]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        said = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise BackendError(f"loading {robot.name!r} in a fresh process failed: {said[0]}")
    times: dict[str, Any] = json.loads(done.stdout)
    return times
