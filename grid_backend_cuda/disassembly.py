"""Machine code as text, by NVIDIA's disassembler where there is one, and what it is made of."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from grid_core.errors import BackendError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["count_instructions", "disassemble", "disassembler"]

_TOOLS = {"nvdisasm": ["-c"], "cuobjdump": ["-sass"]}
"""Programs that can, and how they are asked to."""
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+\s+)?([A-Z][A-Z0-9]*)")
_KINDS = {
    "float32": ("FFMA", "FADD", "FMUL", "FSEL", "FSETP", "FMNMX", "FCHK", "FSET"),
    "float64": ("DFMA", "DADD", "DMUL", "DSETP", "DMNMX"),
    "special functions": ("MUFU",),
    "device memory": ("LDG", "STG", "LDGSTS", "LDGDEPBAR", "ATOMG", "REDG"),
    "shared memory": ("LDS", "STS", "LDSM", "STSM"),
    "local memory": ("LDL", "STL"),
    "constants": ("LDC", "ULDC", "LDCU"),
    "barriers": ("BAR", "WARPSYNC", "BSSY", "BSYNC", "DEPBAR", "NANOSLEEP", "MEMBAR"),
    "branches": ("BRA", "CALL", "RET", "EXIT", "BRX", "JMP", "BREAK", "BMOV"),
    "moves": ("MOV", "IMAD", "UMOV", "SEL", "PRMT", "R2UR", "S2R", "S2UR", "CS2R", "HFMA2"),
    "nothing": ("NOP",),
}
"""Opcodes by what they work on; IMAD and HFMA2 are moves more often than arithmetic here."""


def disassembler() -> Path | None:
    """Return NVIDIA's disassembler: one from a wheel, or one on the path."""
    for name in _TOOLS:
        for folder in _wheel_folders():
            if os.access(folder / name, os.X_OK):
                return folder / name
        found = shutil.which(name)
        if found is not None:
            return Path(found)
    return None


def disassemble(code: bytes) -> str:
    """Return machine code as assembly.

    Raises:
        BackendError: there is no disassembler, or it failed.
    """
    tool = disassembler()
    if tool is None:
        raise BackendError(
            "machine code is shown by NVIDIA's disassembler, which is not here: pip install "
            "'nvidia-cuda-nvdisasm==13.*', or put the toolkit's nvdisasm on the PATH"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(code)
        command = [os.fspath(tool), *_TOOLS[tool.name], os.fspath(path)]
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - ours
    if done.returncode:
        raise BackendError(f"{tool} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="replace")


def count_instructions(assembly: str) -> dict[str, int]:
    """Count instructions by kind; those of no kind count as integer and other."""
    kind_of = {opcode: kind for kind, opcodes in _KINDS.items() for opcode in opcodes}
    counts = dict.fromkeys([*_KINDS, "integer and other"], 0)
    for opcode in _INSTRUCTION.findall(assembly):
        counts[kind_of.get(opcode, "integer and other")] += 1
    return {kind: count for kind, count in counts.items() if count}


def _wheel_folders() -> Iterator[Path]:
    """Folders of programs in NVIDIA's wheels."""
    spec = importlib.util.find_spec("nvidia")
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        yield from sorted(Path(place).glob("*/bin"))
