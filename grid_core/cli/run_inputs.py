"""What ``grid run`` calls, and with what: from a file or random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from grid_core.cli.output import say
from grid_core.cli.states_file import known_names, method_arguments, read_states
from grid_core.errors import InputError, OptionError
from grid_core.plugins import plugin_manager
from grid_core.testing.inputs import random_inputs
from grid_core.uniform import UniformArray
from grid_core.wording import listing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grid_core.algorithm import Algorithm, Port
    from grid_core.handle import RobotHandle
    from grid_core.operation_call import OperationCall

__all__ = ["gather_inputs", "to_call"]

BATCH = 4096


def gather_inputs(
    algorithm: Algorithm, handle: RobotHandle, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the call's arguments by name: from the file, or random ones; and gravity.

    Args:
        algorithm: the operation.
        handle: of the robot.
        options: of the command line: ``source``, ``batch``, ``seed`` and ``gravity``.

    Raises:
        OptionError: options that do not go together, or with the operation.
        InputError: the file is not what the operation takes.
    """
    if options["source"] is not None:
        if options["batch"] is not None:
            raise OptionError("--batch is for random states; the file of --input has its own batch")
        inputs = _from_file(options["source"], algorithm)
    else:
        inputs = _drawn(algorithm, handle, options["batch"] or BATCH, options["seed"])
    if options["gravity"] is not None:
        if not any(port.uniform and port.name == "gravity" for port in algorithm.inputs):
            raise OptionError(f"--gravity: {algorithm.name} does not depend on gravity")
        inputs["gravity"] = options["gravity"]
    batched = {port.name for port in algorithm.inputs if not port.uniform}
    return {
        name: _as_computed(value, handle) if name in batched else value
        for name, value in inputs.items()
    }


def to_call(
    handle: RobotHandle, algorithm: Algorithm, inputs: dict[str, Any]
) -> Callable[..., Any]:
    """Return what computes the operation: the handle's method, or the call that it is made around.

    The latter where the inputs have arrays that the method makes from arguments of its own, such
    as the bodies and placements of targets; it is compiled for as many targets as these have.

    Raises:
        InputError: arrays and arguments of the method together, or a body that is none.
    """
    wide = [p for p in algorithm.inputs if p.uniform and p.shape and p.name in inputs]
    if not wide:
        method: Callable[..., Any] = getattr(handle, algorithm.name)
        return method
    arrays = listing(port.name for port in wide)
    own = [name for name in method_arguments(algorithm) if name in inputs]
    if own:
        raise InputError(
            f"{algorithm.name}: {listing(own)} would make what {arrays} already say; give only one"
        )
    for port in wide:
        if port.unit == "body ID":
            _require_bodies(handle, algorithm, port, inputs[port.name])
    (call,) = handle.calls()
    return _for_as_many_targets(call, wide, inputs)


def _from_file(path: Path, algorithm: Algorithm) -> dict[str, Any]:
    """Return the inputs in a file, which may hold what another operation wrote."""
    claims = plugin_manager().algorithms.claims.values()
    others = known_names(offer.value for offers in claims for offer in offers)
    inputs, left_out = read_states(path, algorithm, others)
    if left_out:
        verb = "is" if len(left_out) == 1 else "are"
        say(
            f"note: {path}: {listing(left_out)} {verb} left out: no input of {algorithm.name}",
            err=True,
        )
    return inputs


def _drawn(algorithm: Algorithm, handle: RobotHandle, batch: int, seed: int) -> dict[str, Any]:
    """Draw states, and what the whole batch shares as a benchmark of the operation does."""
    model, options = handle.model, handle.options
    case = algorithm.benchmarks[0] if algorithm.benchmarks else None
    drawn = random_inputs(
        algorithm,
        model,
        options,
        batch=batch,
        present=() if case is None else case.inputs,
        seed=seed,
    )
    inputs = {name: x for name, x in drawn.items() if isinstance(x, np.ndarray)}
    if case is not None and case.shared is not None:
        return {**inputs, **case.shared(model, options, np.random.default_rng(seed))}
    for port in algorithm.inputs:
        if port.uniform and port.shape:
            inputs[port.name] = np.asarray(UniformArray.of(port, model, options).gather(drawn))
    return inputs


def _as_computed(value: Any, handle: RobotHandle) -> Any:
    """Convert an array beforehand, so that the time is not the conversion's."""
    real = isinstance(value, np.ndarray) and value.dtype.kind in "fiu"
    return np.ascontiguousarray(value, handle.dtype) if real and value.ndim else value


def _require_bodies(handle: RobotHandle, algorithm: Algorithm, port: Port, value: Any) -> None:
    """Raise `InputError` for the ID of a body that the robot does not have."""
    array, last = np.asarray(value), handle.nb - 1
    if array.dtype.kind not in "fiu":
        raise InputError(f"{algorithm.name}: {port.name} must hold numbers of bodies")
    wrong = array[~((array >= -1) & (array <= last) & (array == np.round(array)))]
    if wrong.size:
        raise InputError(
            f"{algorithm.name}: {port.name} holds {wrong.flat[0]:g}; the bodies of "
            f"{handle.name!r} are 0 to {last}, and -1 is its root"
        )


def _for_as_many_targets(
    call: OperationCall, ports: list[Port], inputs: dict[str, Any]
) -> OperationCall:
    """Return the call under as many targets as the first array has rows; the call checks it."""
    shapes = [(port.shape, np.shape(inputs[port.name])) for port in ports if "nee" in port.shape]
    counts = [own[dims.index("nee")] for dims, own in shapes if len(own) == len(dims)]
    if not counts or counts[0] == len(call.options.targets):
        return call
    # Which they are is data; only their number is compiled in.
    return call.specialised(counts[0], lambda o: evolve(o, targets=(0,) * counts[0]))
