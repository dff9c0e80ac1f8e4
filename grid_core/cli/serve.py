"""``grid serve``: a compiled machine over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grid_core.cli.options import FilePath, grid_command
from grid_core.errors import GridError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@grid_command("serve", "grid serve compiled --port 8080")
@click.argument("directory", metavar="DIR", type=FilePath())
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8080, show_default=True, type=click.IntRange(0, 65535))
def command(directory: Path, host: str, port: int) -> None:
    """Serve a compiled machine over HTTP.

    DIR is what `grid machine compile` wrote. There are /v1/describe and /v1/resources/SHA256;
    whoever reaches the address may read. It needs the extra `serve`.
    """
    try:
        import uvicorn  # noqa: PLC0415 - an extra

        from grid_core.description.serve import application  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise GridError("serving needs the extra: pip install '.[serve]'") from error
    from grid_core.description import CompiledCell  # noqa: PLC0415 - not for --help

    cell = CompiledCell(directory)
    cell.describe()  # what is damaged is said now
    uvicorn.run(application(cell), host=host, port=port, ws="none", server_header=False)
