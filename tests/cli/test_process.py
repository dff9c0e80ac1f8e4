"""The command line as a shell runs it: pipes, signals, encodings, terminals."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

GRID = (sys.executable, "-m", "grid_core.cli.main")
CASES = Path(__file__).parents[1] / "cases"
ROOT = Path(__file__).parents[2]


def grid(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [*GRID, *(str(a) for a in arguments)]
    options = {"capture_output": True, "text": True, "timeout": 60, "cwd": ROOT, **options}
    return subprocess.run(command, check=False, **options)


def test_an_error_goes_to_stderr() -> None:
    done = grid("inspect", CASES / "11a_cycle.urdf")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")


def test_a_warning_is_no_python_warning_even_if_those_are_errors() -> None:
    done = grid(
        "run", "crba", CASES / "30_triangle_violation.urdf", "--backend", "reference",
        "--batch", 2, env={**os.environ, "PYTHONWARNINGS": "error"},
    )  # fmt: skip
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("warning: ")


def test_a_closed_pipe_is_quiet() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = grid("inspect", "go2", capture_output=False, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_an_encoding_without_the_letters_is_no_error() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = grid("algorithms", env=environment, encoding="latin-1")
    assert done.returncode == 0
    assert "\\u207b" in done.stdout


def test_a_narrow_pipe_loses_nothing() -> None:
    done = grid("algorithms", env={**os.environ, "COLUMNS": "40", "TERM": "dumb"})
    assert "Joint forces that produce an acceleration: τ = M(q) q̈ + h(q, q̇)." in done.stdout
    assert all(line == line.rstrip() for line in done.stdout.splitlines())


def test_a_narrow_terminal_folds() -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "60", "TERM": "xterm"}
    with subprocess.Popen([*GRID, "plugins", "list"], stdout=theirs, env=environment) as process:
        os.close(theirs)
        text = b""
        while chunk := _read(ours):
            text += chunk
    os.close(ours)
    assert process.returncode == 0
    assert b"\x1b[1m" in text
    squeezed = text.decode().replace("\r\n", "")
    assert "generalized_gravity" in "".join(squeezed.split())


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # the other end was closed
        return b""


def test_ctrl_c(tmp_path: Path) -> None:
    fifo = tmp_path / "robot.urdf"
    os.mkfifo(fifo)  # reading it waits, so the signal finds the command at work
    with (
        subprocess.Popen(
            [*GRID, "inspect", str(fifo)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process,
        fifo.open("w"),
    ):
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stderr.strip() == "interrupted"


def test_the_installed_script_is_the_same() -> None:
    script = Path(sys.executable).with_name("grid")
    if not script.exists():
        pytest.skip("the project is not installed as a package")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("grid ")
