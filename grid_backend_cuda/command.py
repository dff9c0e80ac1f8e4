"""``grid kernel``: the kernel that a robot's operation becomes, without a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from grid_core.cli.options import (
    FilePath,
    base_option,
    dtype_option,
    grid_command,
    json_flag,
    robot_argument,
)

if TYPE_CHECKING:
    from pathlib import Path

    from grid_core.backend import Operation

__all__ = ["command"]


@grid_command(
    "kernel",
    "grid kernel forward_dynamics iiwa14 --arch sm_90",
    "grid kernel inverse_dynamics go2 --given qdd --sass -o inverse_dynamics.sass",
)
@click.argument("operation")
@robot_argument
@base_option
@dtype_option
@click.option("--arch", default="sm_90", show_default=True, help="Architecture: sm_80 and up.")
@click.option("--given", multiple=True, help="An optional input that is given, by name.")
@click.option("--stats", "show", flag_value="stats", default=True, help="Counts.  [default]")
@click.option("--source", "show", flag_value="source", help="CUDA C.")
@click.option("--ptx", "show", flag_value="ptx", help="PTX.")
@click.option("--sass", "show", flag_value="sass", help="Machine code, disassembled.")
@json_flag
@click.option(
    "-o",
    "--output",
    type=FilePath(dir_okay=False),
    help="Write it here in place of printing it.",
)
def command(operation: str, robot: str, **o: Any) -> None:
    """Show an operation's CUDA kernel: its figures or its code.

    Compiled for --arch by NVRTC, on any machine. Registers, spills and stack are the assembler's
    figures; instructions are counted in the machine code.
    """
    from grid_backend_cuda.build import compile_source, kernel_source  # noqa: PLC0415
    from grid_backend_cuda.compiler import compile_ptx, require_arch  # noqa: PLC0415
    from grid_backend_cuda.disassembly import disassemble  # noqa: PLC0415
    from grid_core.cli.states_file import check_folder  # noqa: PLC0415
    from grid_core.errors import OptionError  # noqa: PLC0415

    show = o["show"]
    if o["as_json"] and show != "stats":
        raise OptionError("--json goes with --stats")
    check_folder(o["output"])
    require_arch(o["arch"])
    source = kernel_source(_operation(operation, robot, o), o["arch"])
    if show == "source":
        _put(source.text, o["output"])
    elif show == "ptx":
        text = compile_ptx(source.text, source.kernel, o["arch"]).rstrip(b"\0").decode()
        _put(text, o["output"])
    elif show == "sass":
        _put(disassemble(compile_source(source, o["arch"]).code), o["output"])
    else:
        _put_stats(source, compile_source(source, o["arch"]), o)


def _operation(name: str, robot: str, o: dict[str, Any]) -> Operation:
    """Return what a handle of the robot would build.

    Raises:
        OptionError: an optional input that the operation does not have.
        OperationRefused: the robot cannot have the operation.
    """
    import numpy as np  # noqa: PLC0415

    from grid_core.backend import Operation  # noqa: PLC0415
    from grid_core.cli.find_robot import find_robot  # noqa: PLC0415
    from grid_core.errors import OperationRefused, OptionError  # noqa: PLC0415
    from grid_core.evaluation import refusal  # noqa: PLC0415
    from grid_core.plugins import plugin_manager  # noqa: PLC0415
    from grid_core.wording import listing, near  # noqa: PLC0415

    algorithm = plugin_manager().algorithms.take(name).value
    selection = plugin_manager().select([name])
    optional = [p.name for p in algorithm.inputs if p.optional]
    for given in o["given"]:
        if given not in optional:
            raise OptionError(
                f"{name} has no optional input {given!r}{near(given, optional)}; "
                f"there are {listing(optional)}"
            )
    handle = find_robot(robot, o["floating"]).load(backend="reference", dtype="float64")
    reason = refusal(algorithm, selection.available, handle.model, handle.options)
    if reason:
        raise OperationRefused(f"{name}: {handle.name!r} cannot have it: {reason}")
    return Operation(
        algorithm=algorithm,
        available=selection.available,
        model=handle.model,
        options=handle.options,
        dtype=np.dtype(o["dtype"] or "float32"),
        present=frozenset(o["given"]),
        providers=selection.providers,
    )


def _put_stats(source: Any, build: Any, o: dict[str, Any]) -> None:
    from grid_backend_cuda.statistics import describe, lines  # noqa: PLC0415
    from grid_core.cli.output import print_json  # noqa: PLC0415

    stats = describe(source, build)
    if o["as_json"] and o["output"] is None:
        print_json(stats)
    elif o["as_json"]:
        import json  # noqa: PLC0415

        _put(json.dumps(stats, indent=2), o["output"])
    else:
        _put("\n".join(lines(stats)), o["output"])


def _put(text: str, path: Path | None) -> None:
    from grid_core.errors import OptionError  # noqa: PLC0415

    if path is None:
        click.echo(text.rstrip("\n"))
        return
    try:
        path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror or error}") from error
    click.echo(f"written to {path}")
