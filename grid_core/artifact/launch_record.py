"""``launch.txt``: what a program without a JSON reader must know to launch the kernels.

One fact a line, words apart by one blank; no word has a blank in it. docs/artifacts.md says what
each line means. It is written from ``artifact.json`` and says nothing that that does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grid_core.artifact.prepared_manifest import (
        CodeRecord,
        Manifest,
        OperationRecord,
        VariantRecord,
    )

__all__ = ["LAUNCH_FORMAT", "launch_text", "shared_inputs"]

LAUNCH_FORMAT = "grid.launch 2"


def launch_text(manifest: Manifest) -> str:
    """Return the record of every kernel whose launch has grids and blocks."""
    lines = [
        LAUNCH_FORMAT,
        f"descriptor_id {manifest.descriptor_id}",
        f"content_id {manifest.content_id}",
        f"dtype {manifest.dtype}",
    ]
    for operation in manifest.operations:
        lines += _operation(operation)
    return "\n".join([*lines, "end", ""])


def _operation(operation: OperationRecord) -> Iterator[str]:
    for number, variant in enumerate(operation.variants):
        codes = [code for code in variant.codes if "block_threads" in code.launch]
        if not codes:
            continue
        launch = codes[0].launch
        once = (f"{name}*" for name in shared_inputs(operation, variant))
        present = ",".join([*sorted(variant.present), *once]) or "-"
        yield f"operation {operation.name} {number} {present}"
        yield f"kernel {launch['kernel']}"
        for argument in launch["arguments"]:
            yield " ".join(["argument", *(str(word) for word in argument)])
        yield from map(_code, codes)


def shared_inputs(operation: OperationRecord, variant: VariantRecord) -> list[str]:
    """Return the inputs that the batch shares in a variant though it need not."""
    declared = {port.name for port in operation.inputs if port.uniform}
    return [name for name in variant.uniform if name not in declared]


def _code(code: CodeRecord) -> str:
    launch: Any = code.launch
    numbers = ("block_threads", "shared_bytes", "block_problems", "waves", "registers")
    words = [str(launch[name]) for name in numbers]
    return " ".join(["code", code.backend, code.target, code.suffix, *words, code.file])
