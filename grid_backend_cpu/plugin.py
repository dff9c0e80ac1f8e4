"""The backend ``cpu``: programs through LLVM, one SIMD lane a problem, threads over the batch."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.artifact import fetch_build
from grid_core.artifact.identity import source_digest
from grid_core.errors import BackendUnavailable
from grid_core.hookspecs import hookimpl
from grid_core.program.trace import trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grid_backend_cpu.vector import Lanes
    from grid_core.backend import Backend, BuildSettings, Kernel, Operation, PreparedCode, ShortCall
    from grid_core.operation_call import OperationCall

__all__ = ["CpuBackend", "grid_backends"]


@frozen
class CpuBackend:
    """Compiles for the processor it runs on; nothing but llvmlite is needed."""

    name: str = "cpu"
    summary: str = "LLVM, one SIMD lane a problem, threads over the batch"
    priority: int = 10
    dtypes: tuple[str, ...] = ("float32", "float64")
    prepared_abi: int = 2

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

    def short(self, call: OperationCall) -> Mapping[type, ShortCall]:
        """Return the short way of a call with NumPy arrays."""
        import numpy as np  # noqa: PLC0415 - keeps the plugin light

        from grid_backend_cpu.express import HostExpress  # noqa: PLC0415

        return {np.ndarray: HostExpress(call).__call__}

    def prepared_targets(self, wanted: Sequence[str] | None) -> Mapping[str, Mapping[str, str]]:
        """Return instruction sets by name: ``x86-64-v3``, ``x86-64-v4``, ``native``."""
        self._require_available()
        from grid_backend_cpu.prepared import targets  # noqa: PLC0415

        return targets(wanted)

    def prepare(
        self,
        operation: Operation,
        targets: Mapping[str, Mapping[str, str]],
        settings: BuildSettings,
    ) -> Sequence[PreparedCode]:
        """Compile an operation to an object file for each instruction set."""
        from grid_backend_cpu.prepared import prepare  # noqa: PLC0415

        return prepare(operation, targets, settings)

    def prepared_target(
        self, targets: Mapping[str, Mapping[str, str]], settings: BuildSettings
    ) -> str:
        """Return the widest instruction set that this processor has."""
        del settings
        self._require_available()
        from grid_backend_cpu.prepared import usable_target  # noqa: PLC0415

        return usable_target(targets)

    def load_prepared(
        self,
        operation: Operation,
        codes: Sequence[PreparedCode],
        target: str,
        settings: BuildSettings,
    ) -> Kernel:
        """Link an object file in memory; nothing is compiled."""
        del target
        from grid_backend_cpu.prepared import load  # noqa: PLC0415

        return load(operation, codes, settings)

    def _require_available(self) -> None:
        reason = self.unavailable()
        if reason is not None:
            raise BackendUnavailable(f"the backend {self.name!r} cannot run here: {reason}")


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
