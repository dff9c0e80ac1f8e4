"""NVRTC: source to machine code for an architecture, with what the assembler reports.

Needs no GPU and no driver. Compilation runs outside the GIL, so kernels build in parallel.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from attrs import asdict, frozen

from grid_core.errors import BackendError, BackendUnavailable, OptionError
from grid_core.wording import listing, near

__all__ = [
    "Resources",
    "compile_both",
    "compile_cubin",
    "compile_ptx",
    "compiler_version",
    "require_arch",
    "supported_archs",
]

OLDEST_ARCH = 80
"""Copies from device to shared memory beside arithmetic begin there."""


@frozen
class Resources:
    """What one kernel takes, as ptxas reports it."""

    registers: int
    """Registers of a thread."""
    spill_bytes: int
    """Bytes of registers spilled to local memory, stores only."""
    stack_bytes: int
    """Local memory of a thread."""
    static_shared_bytes: int = 0
    """Shared memory that the source declares with a size."""

    def as_dict(self) -> dict[str, int]:
        """Plain data."""
        return asdict(self)


@functools.cache
def _nvrtc() -> Any:
    """The bindings' compiler module.

    Raises:
        BackendUnavailable: the bindings or the compiler's library are not installed.
    """
    try:
        from cuda.bindings import nvrtc  # noqa: PLC0415 - only a build needs the compiler

        nvrtc.nvrtcVersion()
    except Exception as error:
        raise BackendUnavailable(
            f"the compiler NVRTC was not found ({type(error).__name__}); pip install '.[cuda]'"
        ) from error
    return nvrtc


def compiler_version() -> str:
    """Version of NVRTC, ``13.0``."""
    nvrtc = _nvrtc()
    status, major, minor = nvrtc.nvrtcVersion()
    _check(nvrtc, status, "asking NVRTC for its version")
    return f"{major}.{minor}"


def supported_archs() -> tuple[int, ...]:
    """Architectures NVRTC compiles for, as 80, 90, 120."""
    nvrtc = _nvrtc()
    status, archs = nvrtc.nvrtcGetSupportedArchs()
    _check(nvrtc, status, "asking NVRTC for its architectures")
    return tuple(archs)


def require_arch(arch: str) -> None:
    """Raise `OptionError` where NVRTC does not compile for an architecture.

    Raises:
        OptionError: it is not spelt ``sm_90``, too old or unknown; says which there are.
    """
    known = [f"sm_{number}" for number in supported_archs() if number >= OLDEST_ARCH]
    if arch.rstrip("af") not in known:
        raise OptionError(
            f"there is no architecture {arch!r} for NVRTC {compiler_version()}"
            f"{near(arch, known)}; there are {listing(known)}"
        )


def compile_cubin(source: str, kernel: str, arch: str) -> tuple[bytes, Resources]:
    """Compile to machine code.

    Args:
        source: CUDA C++.
        kernel: name of the kernel that the report is read for.
        arch: ``sm_90``.

    Raises:
        BackendError: NVRTC refused the source, which is a fault of Grid's or of a template.
    """
    options = [f"--gpu-architecture={arch}", "--ptxas-options=-v"]
    (code,), log = _compile(source, kernel, options, ("CUBIN",))
    return code, _resources(log, kernel)


def compile_both(source: str, kernel: str, arch: str) -> tuple[bytes, bytes, Resources]:
    """Compile to machine code and PTX at once, for shipping; as `compile_cubin`."""
    options = [f"--gpu-architecture={arch}", "--ptxas-options=-v"]
    (cubin, ptx), log = _compile(source, kernel, options, ("CUBIN", "PTX"))
    return cubin, ptx.rstrip(b"\0"), _resources(log, kernel)


def compile_ptx(source: str, kernel: str, arch: str) -> bytes:
    """Compile to PTX, which a driver finishes: for drivers that refuse the machine code."""
    virtual = arch.replace("sm_", "compute_")
    return _compile(source, kernel, [f"--gpu-architecture={virtual}"], ("PTX",))[0][0]


def _compile(
    source: str, kernel: str, options: list[str], kinds: tuple[str, ...]
) -> tuple[list[bytes], str]:
    """Compile, and return the results of the kinds wanted (CUBIN, PTX), and the log."""
    nvrtc = _nvrtc()
    # Division by Newton's step on the reciprocal, 2 ulp; IEEE's takes a call.
    options = [*options, "--std=c++17", "--prec-div=false"]
    # NVRTC's own cache would leave the log, and with it the report, empty.
    options.append("--no-cache")
    status, program = nvrtc.nvrtcCreateProgram(source.encode(), f"{kernel}.cu".encode(), 0, [], [])
    _check(nvrtc, status, f"{kernel}: starting NVRTC")
    try:
        encoded = [option.encode() for option in options]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        log = _text(nvrtc, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise BackendError(f"{kernel}: NVRTC refused the generated code:\n{log.strip()}")
        sizes = [
            (getattr(nvrtc, f"nvrtcGet{kind}Size"), getattr(nvrtc, f"nvrtcGet{kind}"))
            for kind in kinds
        ]
        return [_blob(nvrtc, *size, program) for size in sizes], log
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _blob(nvrtc: Any, size: Any, read: Any, program: Any) -> bytes:
    status, length = size(program)
    _check(nvrtc, status, "reading NVRTC's result")
    # NVRTC writes into the object. Bytes of one character are Python's own, shared by everyone.
    data = bytes(int(length) + 16)
    (status,) = read(program, data)
    _check(nvrtc, status, "reading NVRTC's result")
    return data[: int(length)]


def _text(nvrtc: Any, size: Any, read: Any, program: Any) -> str:
    return _blob(nvrtc, size, read, program).rstrip(b"\0 ").decode(errors="replace")


def _check(nvrtc: Any, status: Any, what: str) -> None:
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise BackendError(f"{what} failed: {status.name}")


def _resources(log: str, kernel: str) -> Resources:
    """Read ptxas's report: the block that follows the kernel's name."""
    start = log.find(f"'{kernel}'")
    part = log[start:] if start >= 0 else log
    end = part.find("Compiling entry function", 1)
    part = part[: end if end > 0 else None]

    def number(pattern: str) -> int:
        found = re.search(pattern, part)
        return int(found.group(1)) if found else 0

    return Resources(
        registers=number(r"Used (\d+) registers"),
        spill_bytes=number(r"(\d+) bytes spill stores"),
        stack_bytes=number(r"(\d+) bytes stack frame"),
        static_shared_bytes=number(r"(\d+) bytes smem"),
    )
