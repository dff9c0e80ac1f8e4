"""A cell served over real HTTP on the loopback, by uvicorn in a thread."""

from __future__ import annotations

import contextlib
import http.client
import threading
import time
from typing import TYPE_CHECKING

import uvicorn

from grid_core.description import CompiledCell
from grid_core.description.serve import application

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["ask", "served"]


@contextlib.contextmanager
def served(directory: Path) -> Iterator[int]:
    """Yield the port."""
    config = uvicorn.Config(
        application(CompiledCell(directory)),
        host="127.0.0.1",
        port=0,
        ws="none",
        log_level="warning",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 10
    while not server.started:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(10)


def ask(
    port: int, path: str, method: str = "GET", headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Ask for exactly this path, with nothing tidied away; return status, headers and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        for key, value in (headers or {}).items():
            connection.putheader(key, value)
        connection.endheaders()
        answer = connection.getresponse()
        found = {key.lower(): value for key, value in answer.getheaders()}
        return answer.status, found, answer.read()
    finally:
        connection.close()
