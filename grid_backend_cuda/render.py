"""From a program to the source text of its kernel."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import jinja2
from attrs import frozen

from grid_backend_cuda.emit import Chunk, Real, emit
from grid_backend_cuda.mapping import Mapping, SplitMapping, Staged
from grid_backend_cuda.parts import emit_parts
from grid_backend_cuda.trig import far_functions
from grid_core.program.program import Program, ProgramPort

__all__ = ["Argument", "kernel_name", "render"]

SHARED_TEMPLATE = "kernel.cu.j2"
SPLIT_TEMPLATE = "split.cu.j2"


@frozen
class Argument:
    """A port as a kernel argument."""

    port: ProgramPort
    symbol: str
    staged: Staged | None = None


def kernel_name(program: Program) -> str:
    """Name of the kernel in the module."""
    return f"grid_{program.name}"


def render(program: Program, real: Real, mapping: Mapping | SplitMapping, **options: Any) -> str:
    """Return the kernel's source.

    Args:
        program: the program.
        real: its precision.
        mapping: how it lies on the card.
        options: ``robot`` (name for the heading), ``min_blocks`` (in place of the mapping's),
            ``template`` (path of an algorithm's own template, or None).
    """
    inputs = [
        Argument(port, f"in_{port.name}", staged)
        for port, staged in zip(program.inputs, mapping.inputs, strict=True)
    ]
    outputs = [Argument(port, f"out_{port.name}") for port in program.outputs]
    wide = {"float32": ("float4", 4), "float64": ("double2", 2)}[real.dtype]
    if isinstance(mapping, SplitMapping):
        template = _template(None, SPLIT_TEMPLATE)
        code = _split_code(program, real, mapping, inputs, outputs)
    else:
        template = _template(options.get("template"), SHARED_TEMPLATE)
        code = {"body": _body(program, real, mapping, inputs, outputs)}
    return template.render(
        program=program,
        counts=program.counts,
        robot=_comment(str(options.get("robot", ""))),
        real=real,
        kernel=kernel_name(program),
        mapping=mapping,
        min_blocks=options.get("min_blocks", mapping.min_blocks),
        inputs=inputs,
        outputs=outputs,
        vector=wide[0],
        per_vector=wide[1],
        far_functions=far_functions(real),
        **code,
    )


def _comment(text: str) -> str:
    """Keep a robot's name inside a one-line comment."""
    return "".join(c if c.isprintable() and c != "\\" else "?" for c in text)


def _template(own: str | None, name: str) -> jinja2.Template:
    loaders: list[jinja2.BaseLoader] = [
        jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    ]
    if own is not None:
        loaders.insert(0, jinja2.FileSystemLoader(Path(own).parent))
        name = Path(own).name
    return _environment(tuple(loaders)).get_template(name)


@functools.cache
def _environment(loaders: tuple[jinja2.BaseLoader, ...]) -> jinja2.Environment:
    # CUDA C is no markup: there is nothing to escape.
    return jinja2.Environment(  # noqa: S701
        loader=jinja2.ChoiceLoader(list(loaders)),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _sources(inputs: list[Argument]) -> list[str]:
    """Expression of every input scalar."""
    sources: list[str] = []
    for argument in inputs:
        if argument.staged is None:
            sources += [argument.symbol] * argument.port.size
        else:
            s = argument.staged
            sources += [f"tile[{s.offset + k} + lane * {s.pitch}]" for k in range(s.size)]
    return sources


def _split_code(
    program: Program,
    real: Real,
    mapping: SplitMapping,
    inputs: list[Argument],
    outputs: list[Argument],
) -> dict[str, Any]:
    sources = _sources(inputs)
    targets = [
        f"result[{s.offset + k} + lane * {s.pitch}]" for s in mapping.outputs for k in range(s.size)
    ]
    parts = emit_parts(
        program, real, mapping.split, lambda v: sources[v], lambda position: targets[position]
    )
    stores = [
        Argument(a.port, a.symbol, s)
        for a, s in zip(outputs, mapping.outputs, strict=True)
        if a.port.size
    ]
    return {"parts": parts, "stores": stores}


def _body(
    program: Program,
    real: Real,
    mapping: Mapping,
    inputs: list[Argument],
    outputs: list[Argument],
) -> list[str]:
    sources = _sources(inputs)
    places = dict(zip(mapping.chunks, mapping.staged_chunks, strict=True))
    in_place = len(mapping.chunks) == 1

    def write(chunk: Chunk, values: list[str]) -> list[str]:
        s, width = places[chunk], outputs[chunk.port].port.size
        target = f"{outputs[chunk.port].symbol} + first * {width} + {chunk.first}"
        arguments = f"({target}, tile + {s.offset}, rows, lane, vectors);"
        lines = ["__syncwarp();"] if in_place or chunk is not mapping.chunks[0] else []
        lines += [f"tile[{s.offset + k} + lane * {s.pitch}] = {v};" for k, v in enumerate(values)]
        lines += [
            "__syncwarp();",
            f"grid_store<{s.size}, {s.pitch}, {width}>{arguments}",
        ]
        return lines

    return emit(program, real, lambda v: sources[v], mapping.chunks, write)
