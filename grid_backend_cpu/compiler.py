"""LLVM: IR to object code for this processor, and object code to a callable address."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any

import llvmlite
import llvmlite.binding as llvm
from attrs import frozen

from grid_backend_cpu.layout import KERNEL
from grid_backend_cpu.vector import Lanes
from grid_core.errors import BackendError

if TYPE_CHECKING:
    from grid_core.program.program import Program

__all__ = ["Host", "LoadedCode", "compile_program", "host", "processor_features"]

_LOADING = threading.Lock()
"""LLVM's linkers share global state while they are made."""


@frozen
class Host:
    """The processor that is compiled for."""

    triple: str
    cpu: str
    features: str
    vector_bits: int

    def lanes(self, dtype: str) -> Lanes:
        """Lanes of one full register."""
        width = self.vector_bits // (32 if dtype == "float32" else 64)
        return Lanes(dtype, width, permutes=self.vector_bits == 512)

    def identity(self) -> dict[str, str]:
        """What compiled code depends on."""
        return {
            "triple": self.triple,
            "cpu": self.cpu,
            "features": self.features,
            "vector_bits": str(self.vector_bits),
            "llvm": ".".join(map(str, llvm.llvm_version_info)),
            "llvmlite": str(llvmlite.__version__),
        }


@functools.cache
def host() -> Host:
    """Detect this machine's processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    bits = 128
    if features.get("avx"):
        bits = 256
    if features.get("avx512f") and features.get("avx512dq") and features.get("avx512vl"):
        bits = 512
    return Host(
        triple=str(llvm.get_process_triple()),
        cpu=str(llvm.get_host_cpu_name()),
        features=str(features.flatten()),
        vector_bits=bits,
    )


def processor_features() -> tuple[str, ...]:
    """Return LLVM's names of what this processor and its system have, sorted."""
    found = llvm.get_host_cpu_features()
    return tuple(sorted(name for name, there in found.items() if there))


def _target_machine(machine: Host) -> Any:
    """Describe the processor; constants lie near the code, where instructions can name them."""
    target = llvm.Target.from_triple(machine.triple)
    return target.create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=3, reloc="pic", codemodel="small"
    )


def compile_program(program: Program, lanes: Lanes, machine: Host | None = None) -> bytes:
    """Compile a program to an object file, for this machine or the one given.

    No optimisation pass runs: folding, sharing and ordering are the tracer's work, and what is
    left is instruction selection and register allocation.

    Raises:
        BackendError: LLVM refused the code, which is a fault of Grid's.
    """
    from grid_backend_cpu.lower import lower  # noqa: PLC0415 - loading a kept build never needs it

    try:
        target = _target_machine(machine or host())
        module = llvm.parse_assembly(lower(program, lanes))
        module.verify()
        return bytes(target.emit_object(module))
    except RuntimeError as error:
        raise BackendError(
            f"{program.name}: LLVM {llvm.llvm_version_info[0]} refused the generated code: {error}"
        ) from error


class LoadedCode:
    """Object code in memory, executable for as long as this lives. Links, and compiles nothing."""

    def __init__(self, code: bytes) -> None:
        library = llvm.JITLibraryBuilder().add_object_img(code).export_symbol(KERNEL)
        try:
            with _LOADING:
                # This linker lays code and constants side by side, and checks that they are.
                self._linker = llvm.create_lljit_compiler(
                    _target_machine(host()), use_jit_link=True
                )
                self._tracker = library.link(self._linker, KERNEL)
        except RuntimeError as error:
            raise BackendError(f"the object code cannot be linked: {error}") from error
        self.address = int(self._tracker[KERNEL])
        if not self.address:
            raise BackendError("the compiled object holds no kernel")
