"""The header's host entries with the real runtime, and the example, on a GPU."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grid_backend_cuda.driver import card
from tests.header.entries import BATCH, MAIN, RUN, require_right, text_of, write_inputs

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]

EXAMPLE = Path(__file__).parents[2] / "examples" / "cuda" / "fused.py"


@pytest.mark.parametrize("robot", ["iiwa14", "go2", "spherical"])
def test_host_entries(robot: str, tmp_path: Path) -> None:
    """A6, A7, A10, A15, K8: both entries of every operation, built by nvcc."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc here; the kernels are run through NVRTC by the other tests")
    (tmp_path / "grid.cuh").write_text(text_of(robot), encoding="utf-8")
    (tmp_path / "main.cu").write_text(MAIN, encoding="utf-8")
    command = [nvcc, "-std=c++17", f"-arch={card(0).arch}", f"-DBATCH={BATCH}", "main.cu"]
    done = subprocess.run(
        [*command, "-o", "main"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    write_inputs(robot, tmp_path)
    done = subprocess.run(
        [tmp_path / "main"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for name in RUN:
        require_right(robot, name, tmp_path)


@pytest.mark.parametrize("arguments", [("iiwa14",), ("go2", "--floating")])
def test_the_example(arguments: tuple[str, ...]) -> None:
    """A5, K8: fused.cu through NVRTC agrees with a handle."""
    command = [sys.executable, EXAMPLE, *arguments, "--problems", "5000"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"5,000 problems, worst relative difference: \d\.\de-\d\d\n", done.stdout)
