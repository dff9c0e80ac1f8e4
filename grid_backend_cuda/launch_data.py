"""A build of an operation: machine code, and what a launch must know; no compiler is imported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import asdict, frozen

from grid_core.uniform import UniformArray

if TYPE_CHECKING:
    from grid_core.backend import Operation

__all__ = ["Build", "kernel_arguments"]


@frozen
class Build:
    """Machine code, and what a launch must know."""

    kernel: str
    arch: str
    dtype: str
    inputs: tuple[str, ...]
    """Batched and uniform inputs in argument order."""
    uniform: tuple[str, ...]
    outputs: tuple[str, ...]
    threads: int
    """Threads of a block."""
    shared_bytes: int
    """Dynamic shared memory of a block."""
    problems: int
    """Problems a block works on at a time."""
    waves: int
    """Blocks for each resident one; 0: as many as the batch needs."""
    parts: int
    """Warps that share one problem; 1: one problem a thread."""
    registers: int
    spill_bytes: int
    stack_bytes: int
    static_shared_bytes: int
    operations: int
    fused: int
    live: int
    code: bytes
    chained: bool = False
    """Whether it waits, before it touches memory, for the kernels launched before it: it may then
    come to the card while the last of them runs."""

    def pack(self) -> bytes:
        """A line of JSON, then the code."""
        head = asdict(self)
        code = head.pop("code")
        return json.dumps(head).encode() + b"\n" + bytes(code)

    @classmethod
    def unpack(cls, payload: bytes) -> Build:
        """Read what `pack` wrote."""
        head, _, code = payload.partition(b"\n")
        fields: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in json.loads(head).items()
        }
        return cls(**fields, code=code)


def kernel_arguments(build: Build, operation: Operation) -> list[list[str]]:
    """Return each kernel argument in order: name, what it is, and its width or default."""
    model, options = operation.model, operation.options
    widths, defaults = {}, {}
    for port in (*operation.algorithm.inputs, *operation.algorithm.outputs):
        if port.uniform:
            names = UniformArray.of(port, model, options).names
            defaults.update(dict.fromkeys(names, float(port.default or 0.0)))
        else:
            widths[port.name] = port.size(model, options)
    found = [["batch", "int64", "-"], ["aligned", "int32", "-"]]
    for name in build.inputs:
        if name in build.uniform:
            found.append([name, "uniform", repr(defaults[name])])
        else:
            found.append([name, "input", str(widths[name])])
    return [*found, *([name, "output", str(widths[name])] for name in build.outputs)]
