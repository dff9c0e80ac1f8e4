"""From an operation to a stored build: trace, map, render, compile, keep the report."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from grid_backend_cuda.compiler import compile_cubin, compiler_version
from grid_backend_cuda.emit import Real
from grid_backend_cuda.launch_data import Build
from grid_backend_cuda.mapping import map_program
from grid_backend_cuda.render import kernel_name, render
from grid_backend_cuda.templating import TEMPLATES
from grid_backend_cuda.thread_mapping import map_threads
from grid_core.artifact import fetch_build
from grid_core.artifact.identity import source_digest
from grid_core.program.trace import trace

if TYPE_CHECKING:
    from grid_backend_cuda.compiler import Resources
    from grid_backend_cuda.split_mapping import SplitMapping
    from grid_backend_cuda.thread_mapping import Mapping
    from grid_core.backend import Operation
    from grid_core.program.program import Program

__all__ = [
    "Build",
    "Source",
    "build_operation",
    "compile_source",
    "kernel_source",
    "template_digest",
]

_CHAINS_FROM = 90
"""The first architecture on which a kernel can wait for those before it by itself."""


@frozen
class Source:
    """A rendered kernel."""

    program: Program
    real: Real
    mapping: Mapping | SplitMapping
    kernel: str
    text: str


def kernel_source(operation: Operation, arch: str, program: Program | None = None) -> Source:
    """Trace and render an operation.

    Args:
        operation: what to compute.
        arch: architecture such as ``sm_90``; how a large program lies on a card depends on the
            shared memory that it has.
        program: the operation's, if it has been traced.
    """
    program = program or trace(operation)
    real = Real(operation.dtype.name)
    # A template of the algorithm's own is about one problem a thread.
    own = operation.algorithm.template
    mapping: Mapping | SplitMapping
    if own:
        mapping = map_threads(program, real, arch)
    else:
        even = functools.partial(trace, operation, even_signs=True)
        program, mapping = map_program(program, real, arch, even)
    text = render(
        program,
        real,
        mapping,
        robot=operation.model.name,
        template=own,
    )
    return Source(program, real, mapping, kernel_name(program), text)


def compile_source(
    source: Source, arch: str, compiled: tuple[bytes, Resources] | None = None
) -> Build:
    """Compile a rendered kernel for an architecture, or take what was compiled of it."""
    code, used = compiled or compile_cubin(source.text, source.kernel, arch)
    counts = source.program.counts
    return Build(
        kernel=source.kernel,
        arch=arch,
        dtype=source.real.dtype,
        inputs=tuple(p.name for p in source.program.inputs),
        uniform=tuple(p.name for p in source.program.inputs if p.uniform),
        outputs=tuple(p.name for p in source.program.outputs),
        threads=source.mapping.threads,
        problems=source.mapping.problems,
        waves=source.mapping.waves,
        parts=source.mapping.parts,
        shared_bytes=source.mapping.shared_bytes(source.real),
        **used.as_dict(),
        operations=counts.operations,
        fused=counts.fused,
        live=counts.live,
        code=code,
        chained=int(arch[3:].rstrip("af")) >= _CHAINS_FROM and "grid_chain();" in source.text,
    )


def build_operation(operation: Operation, arch: str, cache_dir: Any) -> Build:
    """Return the build of an operation, from the store when it is there."""

    def make() -> bytes:
        return compile_source(kernel_source(operation, arch), arch).pack()

    target = {
        "backend": "cuda",
        "arch": arch,
        "nvrtc": compiler_version(),
        "lowering": source_digest("grid_backend_cuda") or "",
        "templates": template_digest(operation),
    }
    shown = {"arch": arch, "nvrtc": target["nvrtc"]}
    return Build.unpack(fetch_build(operation, cache_dir, target, shown, make))


def template_digest(operation: Operation) -> str:
    """SHA-256 of the shared templates, and of all that lie beside the algorithm's own."""
    files = sorted(TEMPLATES.glob("*.j2"))
    if operation.algorithm.template is not None:
        own = Path(operation.algorithm.template)
        files += sorted({own, *own.parent.glob("*.j2")})
    digest = hashlib.sha256()
    for file in files:
        data = file.read_bytes()
        digest.update(f"{file.name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()
