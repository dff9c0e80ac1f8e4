"""Write ``_generated/algorithms.md`` from the installed plugins, so that the page stays true."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grid_core.loading import list_algorithms
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
    return [
        f"### `{algorithm.name}`",
        "",
        f"{algorithm.summary}{default}",
        "",
        "| | Name | Shape | Unit | Frame | What |",
        "|---|---|---|---|---|---|",
        *(_row("in", port) for port in algorithm.inputs),
        *(_row("out", port) for port in algorithm.outputs),
        "",
        f"Source: {algorithm.source}." + (f" Uses {needs}." if needs else ""),
        "",
    ]


def _row(side: str, port: Port) -> str:
    shape = "one number" if port.uniform else f"(B, {', '.join(map(str, port.shape))})"
    what = port.doc
    if port.uniform:
        what += f"; {port.default} if left out"
    elif port.optional:
        what += "; may be left out"
    return f"| {side} | `{port.name}` | {shape} | {port.unit} | {port.frame} | {what} |"


if __name__ == "__main__":
    main(Path(__file__).parent / "_generated")
