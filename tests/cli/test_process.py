"""The command line as a shell runs it: pipes, signals, encodings, terminals."""

from __future__ import annotations

import os
import pty
import shlex
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


@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", "go2"),
        ("inspect", "go2", "--json"),
        ("algorithms",),
        ("plugins", "list"),
        ("robots", "list"),
        ("describe", "iiwa14"),
        ("describe", "iiwa14", "--output", "/dev/stdout"),
        ("run", "crba", "iiwa14", "--backend", "reference", "--batch", "2"),
        ("--help",),
        ("run", "--help"),
        ("--version",),
    ],
    ids=" ".join,
)
def test_a_closed_pipe_is_quiet(arguments: tuple[str, ...]) -> None:
    """Closed before the first byte."""
    reader, writer = os.pipe()
    os.close(reader)
    done = grid(*arguments, capture_output=False, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_closed_pipe_for_errors_is_quiet() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = grid("inspect", "none", capture_output=False, stdout=subprocess.PIPE, stderr=writer)
    os.close(writer)
    assert (done.returncode, done.stdout) == (141, "")


def test_a_reader_that_stops_early_is_no_fault() -> None:
    command = f"{shlex.join(GRID)} describe go2 | head -c 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, cwd=ROOT, timeout=60
    )
    assert (done.stdout, done.stderr) in {("{141\n", ""), ("{0\n", "")}  # 0: a pipe's buffer


def test_no_standard_output_at_all() -> None:
    command = f"{shlex.join(GRID)} inspect go2 >&-"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, cwd=ROOT, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_an_error_without_traceback() -> None:
    with Path("/dev/full").open("w") as full:
        done = grid("inspect", "go2", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "No space left on device" in line


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


SLOW_IMPORT = """
import importlib.abc, os, sys, time
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {name!r}:
            os.write(1, b"x")
            time.sleep(20)
sys.meta_path.insert(0, Finder())
from grid_core.cli.main import main
main()
"""


@pytest.mark.parametrize(
    "name", ["click", "numpy", "grid_core.errors", "grid_core.cli.run", "grid_core.handle"]
)
def test_ctrl_c_during_an_import(name: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_IMPORT.format(name=name), "run", "crba", "iiwa14"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.read(1) == "x"
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr.strip()) == (130, "interrupted")


def test_the_entry_point_imports_next_to_nothing() -> None:
    code = "import sys, grid_core.cli.main; print({'numpy', 'click'} & {*sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.stdout == "set()\n"


def test_a_module_of_the_package_needs_no_import() -> None:
    code = "import grid_core; print(grid_core.errors.GridError.__name__, grid_core.load_robot)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.stdout.startswith("GridError <function load_robot"), done.stderr


def test_the_installed_script_is_the_same() -> None:
    script = Path(sys.executable).with_name("grid")
    if not script.exists():
        pytest.skip("the project is not installed as a package")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("grid ")
