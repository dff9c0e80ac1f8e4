"""Write ``_generated/algorithms.md`` from the installed plugins, so that the page stays true."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING

from grid_core.loading import list_algorithms
from grid_core.operation_doc import signature
from grid_core.plugins import plugin_manager

if TYPE_CHECKING:
    from grid_core.algorithm import Algorithm, Port

__all__ = ["main"]


def main(folder: Path) -> None:
    """Write the page into a folder."""
    folder.mkdir(exist_ok=True)
    catalogue = plugin_manager().algorithms
    lines: list[str] = []
    family = ""
    for info in list_algorithms():
        if info.distribution != "grid-robotics":
            continue  # a plugin that happens to be installed where the pages are built
        if info.family != family:
            family = info.family
            lines += [f"## Family `{family}`", ""]
        lines += _algorithm(catalogue.take(info.name).value)
    (folder / "algorithms.md").write_text("\n".join(lines), encoding="utf-8")


def _algorithm(algorithm: Algorithm) -> list[str]:
    needs = ", ".join(f"`{name}`" for name in algorithm.needs)
    default = "" if algorithm.default else " Not in `all`: name it in `algorithm_list`."
    seen = _signature(algorithm)
    # A method of its own may make some of the program's inputs from other arguments.
    inputs = [port for port in algorithm.inputs if port.name in seen.parameters]
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in seen.parameters.values()]
    shown = seen.replace(parameters=bare, return_annotation=inspect.Signature.empty)
    return [
        f"### `{algorithm.name}`",
        "",
        f"{algorithm.summary}{default}",
        "",
        "```python",
        f"{algorithm.name}{shown}",
        "```",
        "",
        *_own_help(algorithm),
        "| | Name | Shape | Unit | Frame | What |",
        "|---|---|---|---|---|---|",
        *(_row("in", port) for port in inputs),
        *(_row("out", port) for port in algorithm.outputs),
        "",
        f"Source: {algorithm.source}." + (f" Uses {needs}." if needs else ""),
        "",
    ]


def _signature(algorithm: Algorithm) -> inspect.Signature:
    """What users call: the generated method, or the plugin's own without its first argument."""
    if algorithm.method is None:
        return signature(algorithm)
    seen = inspect.signature(algorithm.method)
    return seen.replace(parameters=list(seen.parameters.values())[1:])


def _own_help(algorithm: Algorithm) -> list[str]:
    """Return the help of a method that the plugin wrote, without its first argument."""
    if algorithm.method is None:
        return []
    lines = (inspect.getdoc(algorithm.method) or "").splitlines()
    return ["```text", *(x for x in lines if not x.lstrip().startswith("call:")), "```", ""]


def _row(side: str, port: Port) -> str:
    widths = ", ".join(str(width).replace("*", " ") for width in port.shape)
    shape = f"({widths})" if port.uniform and port.shape else f"(B, {widths})"
    if port.uniform and not port.shape:
        shape = "one number"
    what = port.doc
    if port.uniform:
        what += f"; {port.default} if left out"
    elif port.optional:
        what += "; may be left out"
    return f"| {side} | `{port.name}` | {shape} | {port.unit} | {port.frame} | {what} |"


if __name__ == "__main__":
    main(Path(__file__).parent / "_generated")
