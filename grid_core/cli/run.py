"""``grid run``: one operation on a batch of states."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from attrs import frozen

from grid_core.bench.contender import Prepared
from grid_core.bench.timing import interleave
from grid_core.cli.find_robot import find_robot
from grid_core.cli.options import (
    COUNT,
    base_option,
    dtype_option,
    grid_command,
    robot_argument,
)
from grid_core.cli.states_file import (
    check_folder,
    check_npz,
    known_names,
    read_states,
    write_states,
)
from grid_core.errors import OptionError
from grid_core.plugins import plugin_manager
from grid_core.testing.inputs import random_inputs
from grid_core.uniform import UniformArray
from grid_core.wording import listing

if TYPE_CHECKING:
    from grid_core.algorithm import Algorithm
    from grid_core.handle import RobotHandle

__all__ = ["command"]

BATCH = 4096
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
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random states.")
@click.option(
    "--input",
    "source",
    type=click.Path(path_type=Path),
    help="An .npz with the operation's inputs by name, such as --output of another operation. "
    "Left out: random states.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
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
    inputs = _inputs(algorithm, handle, options)
    result = _Result.compute(handle, inputs)
    click.echo(f"{operation} of {handle.name!r} on {handle.backend}, {handle.dtype}")
    for mark, arrays in (("in ", inputs), ("out", result.outputs)):
        for name, array in arrays.items():
            click.echo(f"  {mark} {name:8} {np.shape(array) or array}")
    click.echo(f"loaded in {loaded:.3f} s")
    if result.problems:
        _print_time(result)
        _print_rows(result)
    if options["output"] is not None:
        write_states(options["output"], inputs, result.outputs)
        click.echo(f"written to {options['output']}")


def _load_options(options: dict[str, Any]) -> dict[str, Any]:
    wanted = {
        "backend": options["backend"],
        "dtype": options["dtype"],
        "num_threads": options["threads"],
    }
    # What is left out stays as the robot was registered.
    return {name: value for name, value in wanted.items() if value is not None}


def _inputs(algorithm: Algorithm, handle: RobotHandle, options: dict[str, Any]) -> dict[str, Any]:
    """Return the call's arguments: from the file, or random ones; and gravity."""
    if options["source"] is not None:
        if options["batch"] is not None:
            raise OptionError("--batch is for random states; the file of --input has its own batch")
        inputs = _from_file(options["source"], algorithm)
    else:
        present = algorithm.benchmarks[0].inputs if algorithm.benchmarks else ()
        drawn = random_inputs(
            algorithm,
            handle.model,
            handle.options,
            batch=options["batch"] or BATCH,
            present=present,
            seed=options["seed"],
        )
        inputs = {name: x for name, x in drawn.items() if isinstance(x, np.ndarray)}
        for port in algorithm.inputs:
            if port.uniform and port.shape:
                array = UniformArray.of(port, handle.model, handle.options)
                inputs[port.name] = array.gather(drawn)
    if options["gravity"] is not None:
        if not any(port.uniform and port.name == "gravity" for port in algorithm.inputs):
            raise OptionError(f"--gravity: {algorithm.name} does not depend on gravity")
        inputs["gravity"] = options["gravity"]
    return {name: _as_computed(value, handle) for name, value in inputs.items()}


def _from_file(path: Path, algorithm: Algorithm) -> dict[str, Any]:
    """Return the inputs in a file, which may hold what another operation wrote."""
    claims = plugin_manager().algorithms.claims.values()
    others = known_names(offer.value for offers in claims for offer in offers)
    inputs, left_out = read_states(path, algorithm, others)
    if left_out:
        verb = "is" if len(left_out) == 1 else "are"
        click.echo(
            f"note: {path}: {listing(left_out)} {verb} left out: no input of {algorithm.name}",
            err=True,
        )
    return inputs


def _as_computed(value: Any, handle: RobotHandle) -> Any:
    """Convert an array beforehand, so that the time is not the conversion's."""
    real = isinstance(value, np.ndarray) and value.dtype.kind in "fiu"
    return np.ascontiguousarray(value, handle.dtype) if real and value.ndim else value


@frozen
class _Result:
    """What came out, and how to compute it again."""

    outputs: dict[str, Any]
    batched: bool
    prepared: Prepared

    @classmethod
    def compute(cls, handle: RobotHandle, inputs: dict[str, Any]) -> _Result:
        """Run once, which checks the inputs."""
        (call,) = handle.calls()
        ports = call.algorithm.outputs
        result = call(**inputs)
        arrays = (result,) if len(ports) == 1 else tuple(result)
        batched = arrays[0].ndim > len(ports[0].shape)
        out = arrays[0] if len(ports) == 1 else arrays
        prepared = Prepared(
            run=lambda: call(**inputs, out=out),
            boundary="call",
            problems=len(arrays[0]) if batched else 1,
            outputs=lambda: arrays,
        )
        named = {port.name: array for port, array in zip(ports, arrays, strict=True)}
        return cls(named, batched, prepared)

    @property
    def problems(self) -> int:
        return self.prepared.problems


def _print_time(result: _Result) -> None:
    (samples,) = interleave([result.prepared], repeats=REPEATS, sample_s=0.01)
    each = statistics.median(samples)
    click.echo(
        f"{each * result.problems * 1e-6:.4g} ms a batch of {result.problems}, "
        f"{1e9 / each:,.0f} evaluations/s (median of {REPEATS})"
    )


def _print_rows(result: _Result) -> None:
    for name, array in result.outputs.items():
        # Of vectors a few problems, of matrices one; a large one with its middle left out.
        count = ROWS if array.ndim == 2 else 1
        rows = array[:count] if result.batched else array
        click.echo(f"{name}{f'[:{len(rows)}]' if result.batched else ''} =")
        click.echo(np.array2string(rows, precision=6, max_line_width=100, threshold=150))
