"""compute-sanitizer finds nothing in one small batch of each kernel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("robot", ["iiwa14", "kinds", "go2", "humanoid"])
@pytest.mark.parametrize("tool", ["memcheck", "racecheck"])
def test_clean(tool: str, robot: str) -> None:
    program = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.access(program, os.X_OK):
        pytest.skip("compute-sanitizer is not here")
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [program, "--tool", tool, "--error-exitcode", "9", "--print-limit", "5"]
    if tool == "memcheck":
        # cuda-bindings asks an older driver for functions of a newer one, which is no fault.
        command += ["--report-api-errors", "no"]
    done = subprocess.run(
        [*command, sys.executable, str(ROOT / "tests/gpu/sanitize.py"), robot],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    said = f"{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
    assert "done with" in done.stdout, said
    assert done.returncode == 0, said
    assert "ERROR SUMMARY: 0 errors" in said or "0 hazards" in said, said
