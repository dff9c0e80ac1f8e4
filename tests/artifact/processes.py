"""Run Python in a process of its own, beside others."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["finish", "python", "start"]


def start(
    code: str, *arguments: object, path: Path | None = None, **env: str
) -> subprocess.Popen[str]:
    """Start a process on this code; `path` goes before the module search path."""
    environment = {**os.environ, **env}
    if path is not None:
        rest = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([str(path), *([rest] if rest else [])])
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def finish(process: subprocess.Popen[str]) -> str:
    """Wait for its output; a failed process is an error that shows what it said."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip()


def python(code: str, *arguments: object, path: Path | None = None, **env: str) -> str:
    """Run code in a process and return what it printed."""
    return finish(start(code, *arguments, path=path, **env))
