"""Kernels built ahead: machine code and PTX for each architecture. Needs no GPU and no driver.

How problems lie on a card depends on its shared memory too, so each architecture has a source and
a shape of launch of its own.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import asdict, evolve

from grid_backend_cuda.build import Source, compile_source, kernel_source, template_digest
from grid_backend_cuda.compiler import compile_both, compiler_version, require_arch
from grid_backend_cuda.launch_data import Build, kernel_arguments
from grid_core.artifact import fetch_build
from grid_core.artifact.identity import source_digest
from grid_core.backend import PreparedCode
from grid_core.program import trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grid_core.backend import BuildSettings, Operation
    from grid_core.program.program import Program

__all__ = ["prepare", "targets"]

_USUAL = ("sm_80", "sm_90", "sm_120")


def targets(wanted: Sequence[str] | None) -> dict[str, dict[str, str]]:
    """Return what the code of each architecture depends on.

    Raises:
        OptionError: an architecture that NVRTC does not know, or older than Grid's kernels take.
        BackendUnavailable: NVRTC is not installed.
    """
    names = _USUAL if wanted is None else wanted
    for name in names:
        require_arch(name)
    depends = {"nvrtc": compiler_version(), "lowering": source_digest("grid_backend_cuda") or ""}
    return {name: {"arch": name, **depends} for name in names}


def prepare(
    operation: Operation, wanted: Mapping[str, Mapping[str, str]], settings: BuildSettings
) -> list[PreparedCode]:
    """Compile an operation for each architecture; it is traced once."""
    traced: list[Program] = []
    codes = []
    for arch, depends in wanted.items():

        def make(arch: str = arch) -> bytes:
            if not traced:
                traced.append(trace(operation))
            return _pack(kernel_source(operation, arch, traced[0]), arch)

        target = {
            "backend": "cuda",
            "prepared": "1",
            "templates": template_digest(operation),
            **depends,
        }
        shown = {"arch": arch, "nvrtc": depends["nvrtc"]}
        payload = fetch_build(operation, settings.cache_dir, target, shown, make)
        build, ptx = _unpack(payload)
        launch = launch_of(build, operation)
        codes.append(PreparedCode(target=arch, suffix="cubin", launch=launch, data=build.code))
        codes.append(PreparedCode(target=arch, suffix="ptx", launch=launch, data=ptx))
    return codes


def _pack(source: Source, arch: str) -> bytes:
    """A line with the length of the packed build, then that, then the PTX."""
    cubin, ptx, used = compile_both(source.text, source.kernel, arch)
    build = compile_source(source, arch, (cubin, used)).pack()
    return json.dumps({"build": len(build)}).encode() + b"\n" + build + ptx


def _unpack(payload: bytes) -> tuple[Build, bytes]:
    head, _, rest = payload.partition(b"\n")
    size = json.loads(head)["build"]
    return Build.unpack(rest[:size]), rest[size:]


def launch_of(build: Build, operation: Operation) -> dict[str, Any]:
    """Return all that a launch must know, as plain data; `build_of` reads it."""
    data = asdict(evolve(build, code=b""))
    del data["code"]
    data["block_threads"] = data.pop("threads")
    data["block_problems"] = data.pop("problems")
    data["arguments"] = kernel_arguments(build, operation)
    plain: dict[str, Any] = json.loads(json.dumps(data))
    return plain
