"""A compiled cell over HTTP: what it is, and its files by their hashes. Needs the extra ``serve``.

``GET /v1/describe`` answers afresh each time. ``GET /v1/resources/<64 hex digits>`` answers with
bytes of exactly that SHA-256, or with an error. Nothing is authenticated: it listens on the
loopback unless told otherwise.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from attrs import asdict
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from grid_core.description.compiled import CompiledCell, reply
from grid_core.errors import DescriptionError

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["application"]

log = logging.getLogger("grid.serve")


def application(cell: CompiledCell) -> Starlette:
    """Return the ASGI application of a cell."""

    # Plain functions: each runs in a thread, so a slow disk holds up nobody else.
    def describe(_request: Request) -> Response:
        try:
            sent = reply(cell.describe())
        except DescriptionError as error:
            return _failed(error)
        values = asdict(sent, filter=lambda _, value: value is not None)
        return JSONResponse(values, headers={"Cache-Control": "no-store"})

    def resource(request: Request) -> Response:
        name = request.path_params["sha256"]
        try:
            content = cell.resource(name)
        except DescriptionError as error:
            return _failed(error)
        if content is None:
            return JSONResponse({"error": "no such resource"}, status_code=404)
        headers = {
            "Accept-Ranges": "none",  # a part of a file could not be checked by its hash
            "Cache-Control": "public, max-age=31536000, immutable",
            "ETag": f'"{name}"',
        }
        return Response(content, media_type="application/octet-stream", headers=headers)

    return Starlette(
        routes=[
            Route("/v1/describe", describe, methods=["GET"]),
            Route("/v1/resources/{sha256}", resource, methods=["GET"]),
        ]
    )


def _failed(error: DescriptionError) -> Response:
    """Log what is wrong on this machine, and tell the other nothing of its paths."""
    log.error("%s", error)
    return JSONResponse({"error": "the cell's files are damaged"}, status_code=500)
