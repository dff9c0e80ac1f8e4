"""The backend ``cuda``: programs through NVRTC, one problem a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from grid_core.hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import click

    from grid_backend_cuda.edge import CudaEdge
    from grid_core.backend import (
        Backend,
        BuildSettings,
        Kernel,
        Operation,
        PreparedCode,
        SquaresKernel,
    )
    from grid_core.header import Header, HeaderWriter

__all__ = ["CudaBackend", "grid_backends", "grid_commands", "grid_headers"]


@frozen
class CudaBackend:
    """Compiles for the device it runs on with the compiler of the wheel; no toolkit is needed."""

    name: str = "cuda"
    summary: str = "NVRTC, one problem a thread, NVIDIA GPUs from sm_80 on"
    priority: int = 20
    dtypes: tuple[str, ...] = ("float32", "float64")
    prepared_abi: int = 2

    def unavailable(self) -> str | None:
        """Say whether the wheels, the driver or a device are missing."""
        from grid_backend_cuda.driver import unavailable  # noqa: PLC0415

        return unavailable()

    def build(self, operation: Operation, settings: BuildSettings) -> Kernel:
        """Compile an operation for the device, or read it from the cache."""
        from grid_backend_cuda.build import build_operation, kernel_source  # noqa: PLC0415
        from grid_backend_cuda.compiler import compile_ptx  # noqa: PLC0415
        from grid_backend_cuda.driver import card  # noqa: PLC0415
        from grid_backend_cuda.kernel import CudaKernel  # noqa: PLC0415

        on = card(settings.device or 0)
        build = build_operation(operation, on.arch, settings.cache_dir)

        def ptx() -> bytes:
            source = kernel_source(operation, on.arch)
            return compile_ptx(source.text, source.kernel, on.arch)

        return CudaKernel(operation, build, on, ptx)

    def squares(
        self, operation: Operation, segments: Sequence[int], settings: BuildSettings
    ) -> SquaresKernel:
        """Compile an operation whose squares are summed on the device."""
        from grid_backend_cuda.driver import card  # noqa: PLC0415
        from grid_backend_cuda.squares import make_squares  # noqa: PLC0415

        return make_squares(operation, segments, settings, card(settings.device or 0))

    def edge(self, settings: BuildSettings) -> CudaEdge:
        """Take arrays that lie on the handle's device."""
        from grid_backend_cuda.edge import CudaEdge  # noqa: PLC0415

        return CudaEdge(settings.device or 0)

    def prepared_targets(self, wanted: Sequence[str] | None) -> Mapping[str, Mapping[str, str]]:
        """Return architectures by name, such as ``sm_90``."""
        from grid_backend_cuda.prepared import targets  # noqa: PLC0415

        return targets(wanted)

    def prepare(
        self,
        operation: Operation,
        targets: Mapping[str, Mapping[str, str]],
        settings: BuildSettings,
    ) -> Sequence[PreparedCode]:
        """Compile an operation to machine code and PTX for each architecture."""
        from grid_backend_cuda.prepared import prepare  # noqa: PLC0415

        return prepare(operation, targets, settings)

    def prepared_target(
        self, targets: Mapping[str, Mapping[str, str]], settings: BuildSettings
    ) -> str:
        """Return the architecture whose code the device runs, or whose PTX its driver takes."""
        from grid_backend_cuda.prepared_loading import usable_target  # noqa: PLC0415

        return usable_target(targets, settings)

    def load_prepared(
        self,
        operation: Operation,
        codes: Sequence[PreparedCode],
        target: str,
        settings: BuildSettings,
    ) -> Kernel:
        """Load machine code onto the device; NVRTC is not needed."""
        from grid_backend_cuda.prepared_loading import load  # noqa: PLC0415

        return load(operation, codes, target, settings)


@hookimpl
def grid_backends() -> list[Backend]:
    """Offer the backend."""
    return [CudaBackend()]


@hookimpl
def grid_commands() -> list[click.Command]:
    """Offer ``grid kernel``."""
    from grid_backend_cuda.command import command  # noqa: PLC0415 - click is the command line's

    return [command]


@hookimpl
def grid_headers() -> list[HeaderWriter]:
    """Offer ``grid.cuh``."""
    from grid_core.header import HeaderWriter  # noqa: PLC0415 - listing plugins needs no NumPy

    return [
        HeaderWriter(
            name="cuda",
            summary="CUDA C++ for nvcc and NVRTC, and plain C++17 for one thread",
            file_name="grid.cuh",
            write=_write_header,
        )
    ]


def _write_header(header: Header) -> str:
    from grid_backend_cuda.header.writer import write_header  # noqa: PLC0415

    return write_header(header)
