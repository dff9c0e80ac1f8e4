"""Object code built ahead: for which processors, and which of them this one is.

An instruction set is a level of the x86-64 psABI, or ``native``: this very processor with all
that it has. Loading links an object file in memory; LLVM's code generator is not run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import asdict

from grid_backend_cpu.compiler import Host, compile_program, host, processor_features
from grid_backend_cpu.kernel import CpuKernel
from grid_backend_cpu.layout import SCRATCH_HEADER, Layout
from grid_backend_cpu.vector import Lanes
from grid_core.artifact import fetch_build
from grid_core.artifact.identity import source_digest
from grid_core.backend import PreparedCode
from grid_core.errors import BackendError, OptionError
from grid_core.program.trace import trace
from grid_core.wording import listing, near

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grid_core.backend import BuildSettings, Operation

__all__ = ["ABI", "instruction_sets", "load", "prepare", "targets", "usable_target"]

ABI = 2
"""Version of the function's signature, the scratch block and the launch record."""

_NATIVE = "native"
_V3 = "avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave sse4.2 popcnt cx16"
_V4 = f"{_V3} avx512f avx512bw avx512cd avx512dq avx512vl"
_LEVELS = {
    "x86_64": {"x86-64-v3": (256, _V3), "x86-64-v4": (512, _V4)},
    "aarch64": {"generic": (128, "")},  # NEON is part of the baseline
}
"""For each architecture: bits of a vector, and the features that a processor needs."""


def _architecture() -> str:
    """Return the first part of the triple, as ``_LEVELS`` spells it."""
    first = host().triple.partition("-")[0]
    return {"arm64": "aarch64", "amd64": "x86_64"}.get(first, first)


def instruction_sets() -> tuple[str, ...]:
    """Return what can be compiled for here: this architecture's levels, and ``native``."""
    return (*_LEVELS.get(_architecture(), {}), _NATIVE)


def targets(wanted: Sequence[str] | None) -> dict[str, dict[str, str]]:
    """Return what the code of each instruction set depends on.

    Raises:
        OptionError: one that there is not.
    """
    known = instruction_sets()
    names = wanted if wanted is not None else known[:-1] or known
    for name in names:
        if name not in known:
            raise OptionError(
                f"instruction_sets: {name!r} cannot be compiled for on {_architecture()}"
                f"{near(name, known)}; there are {listing(known)}"
            )
    return {
        name: {
            **_host(name).identity(),
            "features": _host(name).features or "as the name says",
            "needs": " ".join(sorted(_needs(name))),
            "lowering": source_digest("grid_backend_cpu") or "",
        }
        for name in names
    }


def _host(name: str) -> Host:
    if name == _NATIVE:
        return host()
    bits, _ = _LEVELS[_architecture()][name]
    return Host(triple=host().triple, cpu=name, features="", vector_bits=bits)


def _needs(name: str) -> frozenset[str]:
    if name == _NATIVE:
        return frozenset(processor_features())
    return frozenset(_LEVELS[_architecture()][name][1].split())


def prepare(
    operation: Operation, wanted: Mapping[str, Mapping[str, str]], settings: BuildSettings
) -> list[PreparedCode]:
    """Compile an operation for each instruction set; it is traced once."""
    traced: list[Any] = []
    codes = []
    for name, depends in wanted.items():
        machine = _host(name)
        lanes = machine.lanes(operation.dtype.name)

        def make(machine: Host = machine, lanes: Lanes = lanes) -> bytes:
            if not traced:
                traced.append(trace(operation))
            code = compile_program(traced[0], lanes, machine)
            return Layout.of(traced[0], lanes).pack(code)

        target = {"backend": "cpu", "prepared": str(ABI), **depends}
        shown = {"processor": name, "llvm": depends["llvm"]}
        payload = fetch_build(operation, settings.cache_dir, target, shown, make)
        layout, data = Layout.unpack(payload)
        launch = {**asdict(layout), "lanes": lanes.width, "dtype": lanes.dtype}
        codes.append(PreparedCode(target=name, suffix="o", launch=launch, data=data))
    return codes


def usable_target(available: Mapping[str, Mapping[str, str]]) -> str:
    """Return the widest instruction set that this processor has.

    Raises:
        BackendError: it has none of them.
    """
    have, triple = frozenset(processor_features()), host().triple
    lacking = []
    found: list[tuple[bool, int, str]] = []
    for name, depends in available.items():
        needs = frozenset(depends["needs"].split())
        if depends["triple"].split("-")[0] != triple.split("-")[0] or _system(
            depends["triple"]
        ) != _system(triple):
            lacking.append(f"{name} is for {depends['triple']}")
        elif not needs <= have:
            lacking.append(f"{name} needs {listing(sorted(needs - have))}")
        else:
            found.append((name == _NATIVE, int(depends["vector_bits"]), name))
    if not found:
        raise BackendError(
            f"this processor ({host().cpu}, {triple}) has none of the instruction sets that it "
            f"was built for: {'; '.join(lacking)}; build it again with instruction_sets='native' "
            "on such a processor"
        )
    return max(found)[2]


def _system(triple: str) -> str:
    """Return the operating system and object format of a triple, without the vendor's name."""
    return triple.split("-", 2)[2] if triple.count("-") >= 2 else triple


def load(operation: Operation, codes: Sequence[PreparedCode], settings: BuildSettings) -> CpuKernel:
    """Link an object file in memory."""
    (code,) = codes
    launch = dict(code.launch)
    lanes = Lanes(launch.pop("dtype"), launch.pop("lanes"))
    if lanes.dtype != operation.dtype.name:
        raise BackendError(
            f"{operation.algorithm.name}: the code is of {lanes.dtype}, and the artifact of "
            f"{operation.dtype.name}"
        )
    layout = Layout(**launch)
    _require_arrays(layout, lanes, operation)
    return CpuKernel(code.data, lanes, layout, settings.num_threads)


def _require_arrays(layout: Layout, lanes: Lanes, operation: Operation) -> None:
    """Refuse code whose arrays are not as wide as the operation's."""
    sizes = {
        port.name: port.size(operation.model, operation.options)
        for port in (*operation.algorithm.inputs, *operation.algorithm.outputs)
        if not port.uniform
    }
    batched = (*layout.inputs, *layout.outputs)
    known = all(name in sizes for name in batched)
    rows = lanes.bytes * sum(sizes[name] for name in batched) if known else -1
    if layout.scratch != SCRATCH_HEADER + rows + layout.kept:
        raise BackendError(
            f"{operation.algorithm.name}: its arrays, as they are declared, are not those that its "
            "code takes; build the artifact again"
        )
