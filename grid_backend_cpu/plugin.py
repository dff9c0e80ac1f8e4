"""The backend ``cpu``: programs through LLVM, one SIMD lane a problem, threads over the batch."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.artifact import fetch_build
from grid_core.artifact.identity import source_digest
from grid_core.hookspecs import hookimpl
from grid_core.program.trace import trace

if TYPE_CHECKING:
    from grid_backend_cpu.vector import Lanes
    from grid_core.backend import Backend, BuildSettings, Kernel, Operation

__all__ = ["CpuBackend", "grid_backends"]


@frozen
class CpuBackend:
    """Compiles for the processor it runs on; nothing but llvmlite is needed."""

    name: str = "cpu"
    summary: str = "LLVM, one SIMD lane a problem, threads over the batch"
    priority: int = 10
    dtypes: tuple[str, ...] = ("float32", "float64")

    def unavailable(self) -> str | None:
        """Say whether llvmlite is missing."""
        if importlib.util.find_spec("llvmlite") is None:
            return "llvmlite is not installed; pip install llvmlite"
        return None

    def build(self, operation: Operation, settings: BuildSettings) -> Kernel:
        """Compile an operation, or read its object code from the cache."""
        # LLVM is loaded with the first build, not with the plugin.
        from grid_backend_cpu.compiler import host  # noqa: PLC0415
        from grid_backend_cpu.kernel import CpuKernel  # noqa: PLC0415
        from grid_backend_cpu.layout import Layout  # noqa: PLC0415

        machine = host()
        lanes = machine.lanes(operation.dtype.name)
        target = {
            "backend": "cpu",
            **machine.identity(),
            "lowering": source_digest("grid_backend_cpu") or "",
        }
        shown = {"processor": target["cpu"], "llvm": target["llvm"]}
        payload = fetch_build(
            operation, settings.cache_dir, target, shown, lambda: _compile(operation, lanes)
        )
        layout, code = Layout.unpack(payload)
        return CpuKernel(code, lanes, layout, settings.num_threads)


def _compile(operation: Operation, lanes: Lanes) -> bytes:
    """Trace and compile: what `Layout.pack` makes of it."""
    from grid_backend_cpu.compiler import compile_program  # noqa: PLC0415
    from grid_backend_cpu.layout import Layout  # noqa: PLC0415

    program = trace(operation)
    return Layout.of(program, lanes).pack(compile_program(program, lanes))


@hookimpl
def grid_backends() -> list[Backend]:
    """Offer the backend."""
    return [CpuBackend()]
