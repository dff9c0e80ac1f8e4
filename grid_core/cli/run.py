"""``grid run``: one operation on a batch of states."""

from __future__ import annotations

import inspect
import statistics
import time
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from attrs import frozen

from grid_core.bench.contender import Prepared
from grid_core.bench.timing import interleave
from grid_core.cli.find_robot import find_robot
from grid_core.cli.options import (
    COUNT,
    SEED,
    FilePath,
    base_option,
    dtype_option,
    grid_command,
    robot_argument,
)
from grid_core.cli.output import say
from grid_core.cli.run_inputs import BATCH, gather_inputs, to_call
from grid_core.cli.states_file import check_folder, check_npz, write_states
from grid_core.plugins import plugin_manager
from grid_core.wording import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from grid_core.algorithm import Port

__all__ = ["command"]

REPEATS = 7
ROWS = 3
"""Problems whose results are shown, if those are vectors."""


@grid_command(
    "run",
    "grid run forward_dynamics iiwa14 --batch 100000 --dtype float64",
    "grid run inverse_dynamics go2 --input states.npz --output torques.npz",
)
@click.argument("operation")
@robot_argument
@click.option("--batch", type=COUNT, help=f"Problems at once.  [default: {BATCH}]")
@base_option
@click.option("--backend", help="Name of a backend. Left out: the best that runs here.")
@dtype_option
@click.option("--threads", type=COUNT, help="Left out: the physical cores.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the random states.")
@click.option(
    "--input",
    "source",
    type=FilePath(),
    help="An .npz with the operation's inputs by name, such as --output of another operation; "
    "text for names, as frame or ee_joint_names.  Left out: random states.",
)
@click.option(
    "--output",
    type=FilePath(dir_okay=False),
    help="An .npz to write inputs and outputs to, by name.",
)
@click.option("--gravity", type=float, help="Along the world's z axis [m/s²].  [default: -9.81]")
def command(operation: str, robot: str, floating: bool | None, **options: Any) -> None:
    """Compute an operation on a batch of states.

    Random configurations are within the joints' limits, velocities and forces normal with
    variance 1. The time is that of the call from Python with its outputs allocated before.
    """
    algorithm = plugin_manager().algorithms.take(operation).value
    check_npz(options["output"])
    check_folder(options["output"])
    start = time.perf_counter()
    handle = find_robot(robot, floating).load(algorithm_list=[operation], **_load_options(options))
    loaded = time.perf_counter() - start
    inputs = gather_inputs(algorithm, handle, options)
    function = to_call(handle, algorithm, inputs)
    result = _Result.compute(function, algorithm.outputs, inputs)
    say(f"{operation} of {handle.name!r} on {handle.backend}, {handle.dtype}")
    for mark, arrays in (("in ", inputs), ("out", result.outputs)):
        for name, array in arrays.items():
            say(f"  {mark} {name:8} {np.shape(array) or printable(str(array))}")
    say(f"loaded in {loaded:.3f} s")
    if result.problems:
        _print_time(result)
        _print_rows(result)
    if options["output"] is not None:
        write_states(options["output"], inputs, result.outputs)
        say(f"written to {options['output']}")


def _load_options(options: dict[str, Any]) -> dict[str, Any]:
    wanted = {
        "backend": options["backend"],
        "dtype": options["dtype"],
        "num_threads": options["threads"],
    }
    # What is left out stays as the robot was registered.
    return {name: value for name, value in wanted.items() if value is not None}


@frozen
class _Result:
    """What came out, and how to compute it again."""

    outputs: dict[str, Any]
    batched: bool
    prepared: Prepared

    @classmethod
    def compute(
        cls, function: Callable[..., Any], ports: tuple[Port, ...], inputs: dict[str, Any]
    ) -> _Result:
        """Run once, which checks the inputs."""
        result = function(**inputs)
        arrays = result if isinstance(result, tuple) else (result,)
        # A method may return more than the operation's own outputs, by name.
        names = getattr(result, "_fields", None) or [port.name for port in ports]
        batched = arrays[0].ndim > len(ports[0].shape)
        # Nor need one that a plugin writes take arrays to write into.
        takes_out = "out" in inspect.signature(function).parameters
        out = {"out": result if len(arrays) > 1 else arrays[0]} if takes_out else {}
        prepared = Prepared(
            run=lambda: function(**inputs, **out),
            boundary="call",
            problems=len(arrays[0]) if batched else 1,
            outputs=lambda: arrays,
        )
        return cls(dict(zip(names, arrays, strict=True)), batched, prepared)

    @property
    def problems(self) -> int:
        return self.prepared.problems


def _print_time(result: _Result) -> None:
    (samples,) = interleave([result.prepared], repeats=REPEATS, sample_s=0.01)
    each = statistics.median(samples)
    say(
        f"{each * result.problems * 1e-6:.4g} ms a batch of {result.problems}, "
        f"{1e9 / each:,.0f} evaluations/s (median of {REPEATS})"
    )


def _print_rows(result: _Result) -> None:
    for name, array in result.outputs.items():
        # Of vectors a few problems, of matrices one; a large one with its middle left out.
        count = ROWS if array.ndim == 2 else 1
        rows = array[:count] if result.batched else array
        say(f"{name}{f'[:{len(rows)}]' if result.batched else ''} =")
        say(np.array2string(rows, precision=6, max_line_width=100, threshold=150))
