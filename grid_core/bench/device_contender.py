"""Grid on a GPU: tensors that lie there, or host arrays that go there and come back."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from grid_core.bench.contender import Declined, Prepared
from grid_core.bench.device_boundaries import Steps
from grid_core.errors import OperationRefused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grid_core.bench.case import Case
    from grid_core.bench.device import Device
    from grid_core.model.types import Array
    from grid_core.operation_call import OperationCall

__all__ = ["DeviceContender", "HostContender", "moved_bytes"]

MOST_BYTES = 4 << 30
"""Inputs and outputs of a batch are at most so large."""


@frozen
class DeviceContender:
    """One backend in one precision, by one boundary, with PyTorch's tensors.

    Where these lie is one of `grid_core.bench.results.STATES`.
    """

    name: str
    """Name of the backend."""
    dtype: str
    boundary: str
    states: str
    device: Device
    handles: dict[tuple[str, bool, str, str], OperationCall] = field(factory=dict, repr=False)
    """What is loaded; contenders may share it."""
    peer: bool = field(default=False, init=False)

    def prepare(self, case: Case) -> Prepared:
        """Load the operation; put states on the device."""
        moved = moved_bytes(case, self.dtype)
        call = _load(self.name, self.dtype, case, self.handles)
        # A compilation within the warm-up of a capture would break it.
        kernel: Any = call.kernel(_variant(call, case))
        build = getattr(kernel, "build", None)
        sets = self.device.sets(
            list(case.inputs.values()),
            batch=case.batch,
            dtype=self.dtype,
            moved=moved,
            states=self.states,
        )
        places = _places(call, case)
        calls = [
            functools.partial(
                call,
                *(None if k is None else states[k] for k in places),
                **case.shared,
                **self._out(call, case),
            )
            for states in sets
        ]
        return Steps(
            device=self.device,
            who=f"{self.name} {case.algorithm.name}",
            calls=calls,
            states=self.states,
            batch=case.batch,
            drawn=case.drawn,
            details={"bytes": moved, **_report(build)},
            floor=self.device.floor(
                batch=case.batch,
                dtype=self.dtype,
                moved=moved,
                fused=getattr(build, "fused", 0),
                states=self.states,
            ),
        ).prepare(self.boundary)

    def _out(self, call: OperationCall, case: Case) -> dict[str, Any]:
        """Return results to write to for a graph; an eager call makes its own."""
        if self.boundary != "graph":
            return {}
        out = [self.device.empty((case.batch, *port.dims), self.dtype) for port in call.outputs]
        return {"out": out[0] if len(out) == 1 else tuple(out)}


@frozen
class HostContender:
    """One backend in one precision: NumPy in, NumPy out, by way of the device."""

    name: str
    """Name of the backend."""
    dtype: str
    handles: dict[tuple[str, bool, str, str], OperationCall] = field(factory=dict, repr=False)
    peer: bool = field(default=False, init=False)

    def prepare(self, case: Case) -> Prepared:
        """Load the operation; have states for the whole batch."""
        moved = moved_bytes(case, self.dtype)
        call = _load(self.name, self.dtype, case, self.handles)
        states = [
            np.resize(np.asarray(x, self.dtype), (case.batch, *x.shape[1:]))
            for x in case.inputs.values()
        ]
        run = functools.partial(
            call, *(None if k is None else states[k] for k in _places(call, case)), **case.shared
        )

        def outputs() -> Sequence[Array]:
            results = run()
            results = results if isinstance(results, tuple) else (results,)
            return [np.array(result, np.float64) for result in results]

        return Prepared(
            run=run,
            boundary="host",
            problems=case.batch,
            outputs=outputs,
            details={"bytes": moved},
        )


def moved_bytes(case: Case, dtype: str) -> int:
    """Return the bytes of one problem's inputs and outputs.

    Raises:
        Declined: the whole batch is too large.
    """
    model, options = case.model, case.options
    ports = [p for p in case.algorithm.inputs if p.name in case.inputs]
    width = sum(math.prod(p.dims(model, options)) for p in (*ports, *case.algorithm.outputs))
    moved = width * np.dtype(dtype).itemsize
    if moved * case.batch > MOST_BYTES:
        raise Declined(
            f"{case.benchmark.label} in {dtype} at batch {case.batch} would move "
            f"{moved * case.batch / 2**30:.1f} GiB, more than {MOST_BYTES >> 30}"
        )
    return moved


def _load(
    backend: str, dtype: str, case: Case, handles: dict[tuple[str, bool, str, str], OperationCall]
) -> OperationCall:
    name = case.algorithm.name
    key = (case.robot.name, case.model.floating_base, name, f"{backend} {dtype}")
    if key not in handles:
        handle = case.robot.load(algorithm_list=[name], backend=backend, dtype=dtype)
        (handles[key],) = handle.calls()
    try:
        handles[key].require_possible()
    except OperationRefused as error:
        raise Declined(str(error)) from error
    return handles[key]


def _variant(call: OperationCall, case: Case) -> int:
    return sum(slot.bit for slot in call.slots if slot.name in case.inputs)


def _places(call: OperationCall, case: Case) -> list[int | None]:
    """Say for each positional argument which of the case's inputs it is; None: left out."""
    given = list(case.inputs)
    names = [slot.name for slot in call.slots if slot.port is not None]
    places = [given.index(name) if name in given else None for name in names]
    while places and places[-1] is None:
        places.pop()
    return places


def _report(build: Any) -> dict[str, Any]:
    """Return what a build says of itself, where it does."""
    names = ("arch", "operations", "fused", "registers", "spill_bytes", "threads", "parts")
    return {name: getattr(build, name) for name in names if hasattr(build, name)}
