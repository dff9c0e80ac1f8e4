"""What a kernel takes, as figures for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grid_backend_cuda.disassembly import count_instructions, disassemble
from grid_backend_cuda.split_mapping import SplitMapping
from grid_backend_cuda.staged import WARP
from grid_core.errors import BackendError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grid_backend_cuda.build import Source
    from grid_backend_cuda.launch_data import Build

__all__ = ["describe", "lines"]


def describe(source: Source, build: Build) -> dict[str, Any]:
    """Return the figures of a compiled kernel as plain data."""
    program, real = source.program, source.real
    batched = sum(p.size for p in program.inputs if not p.uniform)
    split = source.mapping.split if isinstance(source.mapping, SplitMapping) else None
    stats: dict[str, Any] = {
        "kernel": build.kernel,
        "arch": build.arch,
        "dtype": build.dtype,
        "inputs": {p.name: list(p.dims) for p in program.inputs},
        "outputs": {p.name: list(p.dims) for p in program.outputs},
        "operations": build.operations,
        "fused": build.fused,
        "live": build.live,
        "bytes_a_problem": real.bytes * (batched + sum(p.size for p in program.outputs)),
        "threads": build.threads,
        "problems": build.problems if split is None else WARP,
        "parts": build.parts,
        "phases": 1 if split is None else split.phases,
        "instructions_a_part": [] if split is None else split.loads(),
        "parts_alike": [] if split is None else [j.size for j in split.jobs if j.size > 1],
        "helpers": source.mapping.helpers if isinstance(source.mapping, SplitMapping) else 0,
        "registers": build.registers,
        "spill_bytes": build.spill_bytes,
        "stack_bytes": build.stack_bytes,
        "static_shared_bytes": build.static_shared_bytes,
        "dynamic_shared_bytes": build.shared_bytes,
        "code_bytes": len(build.code),
    }
    try:
        stats["instructions"] = count_instructions(disassemble(build.code))
    except BackendError as error:
        stats["instructions"] = None
        stats["note"] = f"instructions are not counted: {error}"
    return stats


def lines(stats: Mapping[str, Any]) -> Iterator[str]:
    """Write the figures down, one a line."""
    yield f"{stats['kernel']} for {stats['arch']}, {stats['dtype']}"
    yield (
        f"  program        {stats['operations']} operations, {stats['fused']} when fused, "
        f"{stats['live']} alive at once"
    )
    yield f"  floor          {stats['bytes_a_problem']} bytes a problem, in and out"
    threads = f"{stats['threads']} a block, for {stats['problems']} problems"
    if stats["parts"] > 1:
        loads = ", ".join(map(str, stats["instructions_a_part"]))
        alike = "".join(f", {size} alike" for size in stats["parts_alike"])
        writers = f", {stats['helpers']} warps that only write" if stats["helpers"] else ""
        yield (
            f"  threads        {threads}: {stats['parts']} parts of {loads} operations{alike}, "
            f"{stats['phases']} phases{writers}"
        )
    else:
        yield f"  threads        {threads}"
    yield f"  registers      {stats['registers']} a thread"
    yield f"  spills         {stats['spill_bytes']} bytes; stack {stats['stack_bytes']} bytes"
    yield (
        f"  shared memory  {stats['static_shared_bytes']} bytes static, "
        f"{stats['dynamic_shared_bytes']} dynamic"
    )
    counts = stats["instructions"]
    if counts is None:
        yield f"  {stats['note']}"
        return
    yield f"  instructions   {sum(counts.values())}"
    for kind, count in sorted(counts.items(), key=lambda item: -item[1]):
        yield f"    {kind:18} {count:6}"
